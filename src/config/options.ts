/** The table of options: the place of each option in the file, its flag, environment variable, default and check. */
import { about as program } from "../about.ts";
import { type AdministratorRule, readAdministrators } from "../access/roles.ts";
import { optionsOfCapabilities } from "../capabilities/all.ts";
import { defaultLimits } from "../http/settings.ts";
import { type MetricsPlace, readMetricsPlace } from "../observe/place.ts";
import { type Option, option, optional, type Reader } from "../option.ts";
import * as read from "../readers.ts";
import { shownAddress } from "../store/address.ts";
import { defaultHistory } from "../store/port/options.ts";

type GivenMetrics = "administrators" | number | `${string}:${number}`;

type LimitName = keyof typeof defaultLimits;

/** `most`: the largest value. `defaultLimits` has the default. */
function limit(name: LimitName, most: number, about: string): Option<number> {
  return option({ fallback: defaultLimits[name], about, read: read.wholeNumber(1, most) });
}

const hourMs = 3_600_000;

function timeout(fallback: number, about: string): Option<number> {
  return option({ fallback, about, read: read.wholeNumber(1, hourMs) });
}

const all = {
  store: option({
    flag: "-s, --store <address>",
    env: "HOLDFAST_STORE",
    fallback: "sqlite:holdfast.db",
    about:
      "where resources are kept: `sqlite:<file>`, relative to the working directory, or `postgres://user@host/database`",
    isPrivate: true,
    show: (_, { store }) => shownAddress(store),
    read: read.text,
  }),
  host: option({
    flag: "-H, --host <address>",
    env: "HOLDFAST_HOST",
    fallback: "127.0.0.1",
    about: "the address to listen on",
    read: read.text,
  }),
  port: option({
    flag: "-p, --port <number>",
    env: "HOLDFAST_PORT",
    fallback: 3000,
    about: "the port to listen on; 0 picks a free port",
    read: read.wholeNumber(0, 65_535),
  }),
  threads: option({
    flag: "--threads <number>",
    env: "HOLDFAST_THREADS",
    fallback: "auto",
    about:
      "how many threads answer requests: a number, or `auto` for one on two processors or fewer, else one fewer than processors",
    read: read.threads,
  }),
  publicUrl: option({
    flag: "--public-url <url>",
    env: "HOLDFAST_PUBLIC_URL",
    shownDefault: "none; on this machine `http://localhost:<port>`",
    fallback: undefined,
    about:
      "the address of the service for its users, such as `https://shop.example`: links in mails and cookies use it",
    isPrivate: true,
    show: (url) => url,
    read: read.publicUrl as Reader<string | undefined, string>,
  }),
  prefix: option({
    flag: "--prefix <path>",
    env: "HOLDFAST_PREFIX",
    fallback: "/api/v1",
    about: "the start of the path of every collection",
    read: read.prefix,
  }),
  log: option({
    flag: "--log <what>",
    env: "HOLDFAST_LOG",
    fallback: "problems",
    about: "what to log: `problems`, or `requests` for a line about every request (always on in a terminal)",
    read: read.logged,
  }),
  metrics: option({
    flag: "--metrics <where>",
    env: "HOLDFAST_METRICS",
    shownDefault: "none",
    fallback: undefined,
    about:
      "where to serve metrics for Prometheus: `administrators` (at `/metrics`, for administrators), or a separate port or `host:port`, without authentication",
    read: readMetricsPlace as Reader<MetricsPlace | undefined, GivenMetrics>,
  }),
  openCollections: optional({
    shownDefault: "true without `collections`, else false",
    about: "whether clients can create collections that are not declared",
    show: (_, { openCollections }) => openCollections,
    read: read.truth,
  }),
  console: option({
    flag: "--console <true|false>",
    env: "HOLDFAST_CONSOLE",
    fallback: true,
    about: "whether browsers get the console at `/`",
    read: read.truthOrText,
  }),
  docs: option({
    fallback: true,
    about: "whether to serve the OpenAPI document (`/openapi.json`) and a page to try requests on (`/docs`)",
    read: read.truth,
  }),
  compression: option({
    fallback: true,
    about:
      "whether responses above 1 kB to GET, HEAD and QUERY are compressed with `br` or `gzip`, for clients that accept it",
    read: read.truth,
  }),
  "info.title": option({
    fallback: "Holdfast",
    about: "the title of the OpenAPI documents and of the pages at `/` and `/docs`",
    read: read.text,
  }),
  "info.version": option({
    shownDefault: "Holdfast's version",
    fallback: program.version,
    about: "the version of your interface, in the OpenAPI documents and at `/docs`",
    read: read.text,
  }),
  "info.description": optional({
    about: "what your service is for, as Markdown, in the OpenAPI documents and at `/docs`",
    read: read.text,
  }),
  readOnly: option({
    fallback: false,
    about: "whether to refuse every write with 503 `UNAVAILABLE`; the flag `--read-only` does the same",
    show: (_, { readOnly }) => readOnly,
    read: read.truth,
  }),
  history: option({
    shownDefault: "`{ keepDays: 30, keepChanges: 1_000_000 }`",
    fallback: { keep: defaultHistory, showPrincipal: false },
    about:
      "how long changes are kept: an object such as the default, `forever` or `none`; `keepBytes` limits the size of the history of a collection; `showPrincipal: true` shows all readers who made each change",
    read: read.history,
  }),
  "auth.keys": option({
    fallback: false,
    about: "whether to accept API keys, which `holdfast keys` creates",
    isPrivate: true,
    show: (value) => value,
    read: read.truth,
  }),
  "auth.administrators": optional({
    about:
      'who administers the service over HTTP: `{ role: "ops" }`, `{ subject: "deploy" }` or a list of these',
    read: readAdministrators as Reader<
      readonly AdministratorRule[],
      AdministratorRule | readonly AdministratorRule[]
    >,
  }),
  "auth.keyRoles": optional({
    shownDefault: "the roles in rules of collections, except those of administrators",
    about: "the roles that administrators can give to the API keys that they create over HTTP",
    show: (_, { keyRoles }) => keyRoles,
    read: read.roleNames,
  }),
  ...optionsOfCapabilities,
  hosts: option({
    fallback: [],
    about: "host names that requests can use without `auth`, in addition to the loopback names",
    read: read.hostNames,
  }),
  "cors.origins": optional({
    shownDefault: '`["loopback"]`; none with `auth`',
    about:
      "origins whose web pages can call the service: exact origins, `*`, or `loopback` for any port of this machine",
    show: (_, { corsOrigins }) => corsOrigins,
    read: read.origins,
  }),
  tls: optional({
    about: 'certificate and key files in PEM format, for HTTPS: `{ cert: "server.pem", key: "server.key" }`',
    isPrivate: true,
    show: (paths) => paths,
    read: read.tlsFiles,
  }),
  requireTls: option({
    fallback: false,
    about: "whether to refuse requests that came to a trusted proxy without encryption",
    read: read.truth,
  }),
  hsts: option({
    fallback: { includeSubDomains: false },
    shownDefault: "`{ includeSubDomains: false }`",
    about:
      "whether browsers that have seen the service encrypted use https for all subdomains of its host too: `{ includeSubDomains: true }`",
    read: read.hsts,
  }),
  trustProxy: option({
    fallback: [],
    about:
      "IP addresses and networks of the proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers to trust",
    read: read.proxies,
  }),
  "limits.body": option({
    shownDefault: "`1mb`",
    fallback: defaultLimits.bodyBytes,
    about: "size of a request body: a number of bytes, or a text such as `512kb` or `1mb`",
    read: read.bytes,
  }),
  "limits.import": option({
    shownDefault: "`64mb`",
    fallback: defaultLimits.importBytes,
    about: "size of the body of an import over HTTP",
    read: read.bytes,
  }),
  "limits.rewind": option({
    shownDefault: "`4mb`",
    fallback: defaultLimits.rewindBytes,
    about: "size of the resources that a rewind in one commit changes, each before or after it",
    read: read.bytes,
  }),
  "limits.target": limit("targetBytes", 65_536, "length of the request target (path and query), in bytes"),
  "limits.headers": limit("headerBytes", 1_048_576, "size of all headers with the request target, in bytes"),
  "limits.jsonDepth": limit("jsonDepth", 256, "nesting depth of a JSON body"),
  "limits.jsonMembers": limit("jsonMembers", 1_000_000, "members of one JSON object"),
  "limits.patchOperations": limit(
    "patchOperations",
    100_000,
    "operations in one JSON Patch, and attributes in one update",
  ),
  "limits.batch": limit("batch", 1_000, "operations in one batch"),
  "limits.page": limit("page", 10_000, "resources on one page; a larger `limit` is refused"),
  "limits.queryMs": timeout(
    defaultLimits.queryMs,
    "how long the service works on a list that cannot use an index",
  ),
  "limits.collections": limit("collections", 100_000, "collections that clients can create in open mode"),
  "limits.streams": limit(
    "streams",
    100_000,
    "event streams, and pages of events that wait, at the same time",
  ),
  "limits.streamsPerCaller": limit(
    "streamsPerCaller",
    100_000,
    "the same for one caller, or for one IP address without a credential",
  ),
  "limits.headersTimeoutMs": timeout(
    defaultLimits.headersTimeoutMs,
    "how long a client can take to send the headers",
  ),
  "limits.requestTimeoutMs": timeout(
    defaultLimits.requestTimeoutMs,
    "how long a client can take to send the whole request",
  ),
  "limits.handlerTimeoutMs": timeout(
    defaultLimits.handlerTimeoutMs,
    "how long a write, or a large request body, can wait before it starts",
  ),
  "limits.keepAliveTimeoutMs": timeout(
    defaultLimits.keepAliveTimeoutMs,
    "how long an idle connection stays open",
  ),
  "limits.rate": optional({
    about:
      "requests of one caller, or of one IP address without a credential: `{ requests: 600, perSeconds: 60 }`",
    read: read.rate,
  }),
  drainDelayMs: option({
    fallback: 500,
    about: "time between turning readiness off and closing the listener, when the service stops",
    read: read.wholeNumber(0, hourMs),
  }),
  stopTimeoutMs: timeout(10_000, "how long a graceful stop can take before the service exits anyway"),
} as const satisfies Record<string, Option<unknown>>;

/** Every option, by its place in the configuration file. Options of one group are together. */
export const options = grouped(all);

function grouped<Rows extends object>(rows: Rows): Rows {
  const groups = Map.groupBy(Object.entries(rows), ([name]) => name.split(".")[0]);
  return Object.fromEntries([...groups.values()].flat()) as Rows;
}

/** The place of an option in the file, with dots. */
export type OptionName = keyof typeof options;

/** The checked value of an option. */
export type OptionValue<Name extends OptionName> = ReturnType<(typeof options)[Name]["read"]>;

/** What a configuration file can contain as the value of an option. */
export type Given<Name extends OptionName> = NonNullable<(typeof options)[Name]["read"]["given"]>;

type GroupName = OptionName extends infer Name
  ? Name extends `${infer Group}.${string}`
    ? Group
    : never
  : never;

/** The options of a configuration file. An option with a dot in its name is a member of a group. */
export type GivenOptions = {
  [Name in OptionName as Name extends `${string}.${string}` ? never : Name]?: Given<Name>;
} & {
  [Group in GroupName]?: {
    [Name in OptionName as Name extends `${Group}.${infer Member}` ? Member : never]?: Given<Name>;
  };
};

/** The long name of an option's flag, such as `--port`; `undefined` without one. */
export function longFlagOf(option: Pick<Option<unknown>, "about" | "flag">): string | undefined {
  return /--[a-z-]+/.exec(option.flag ?? "")?.[0];
}
