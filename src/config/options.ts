/** The table of options: each option's place in the file, flag, environment variable, default, and check. */
import { didYouMean } from "../collection/nearest.ts";
import type { CollectionDeclaration } from "../collection/schema.ts";
import { StartError } from "../errors.ts";
import { defaultLimits } from "../http/settings.ts";
import { defaultHistory, type History } from "../store/history.ts";

/** One option. `read` gives the checked value, or throws an Error whose message says what would be right. */
export interface Option<Value> {
  /** As `--help` shows it, with the value that it takes: `-p, --port <number>`. */
  flag?: `${string}--${string} <${string}>`;
  env?: string;
  /** As the reference shows it. */
  shownDefault: string;
  fallback: Value;
  about: string;
  read: (value: unknown) => Value;
}

const text = (value: unknown): string => {
  if (typeof value === "string" && value !== "") return value;
  throw new Error("must be a text");
};

const truth = (value: unknown): boolean => {
  if (typeof value === "boolean") return value;
  throw new Error("must be true or false");
};

const texts = (value: unknown): readonly string[] => {
  if (Array.isArray(value) && value.every((item) => typeof item === "string" && item !== "")) return value;
  throw new Error("must be a list of texts");
};

/** A whole number; from flags and the environment it comes as text. */
const wholeNumber =
  (least: number, most: number) =>
  (value: unknown): number => {
    const number = typeof value === "string" && /^[0-9]+$/.test(value) ? Number(value) : value;
    if (typeof number === "number" && Number.isInteger(number) && number >= least && number <= most)
      return number;
    throw new Error(`must be a whole number from ${least} to ${most}`);
  };

const byteUnits: Record<string, number> = { "": 1, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

const bytes = (value: unknown): number => {
  const match = /^([0-9]+(?:\.[0-9]+)?) *([kmg]?b|)$/i.exec(String(value));
  const size = Math.floor(Number(match?.[1]) * (byteUnits[(match?.[2] ?? "").toLowerCase()] ?? Number.NaN));
  if (match !== null && size >= 1 && size <= 256 * 1024 ** 2) return size;
  throw new Error('must be a size up to 256mb, such as 65536 or "1mb"');
};

/** What the service answers itself at the root, now or in a later release: nothing else may live there. */
const rootNames = [
  "livez",
  "readyz",
  "healthz",
  "problems",
  "metrics",
  "openapi.json",
  "openapi-3.2.json",
  "asyncapi.json",
  ".well-known",
];

/** Throws StartError for a collection whose path would be one of the service's own. */
export function requireOwnPath(collection: string, prefix: string): void {
  if (prefix !== "" || !rootNames.includes(collection)) return;
  throw new StartError(
    `collections.${collection}: /${collection} is the service's own: choose another name, or another prefix than "/".`,
  );
}

const prefix = (value: unknown): string => {
  const path = text(value).replace(/\/$/, "");
  const [, first = ""] = path.split("/");
  if (rootNames.includes(first)) throw new Error(`must not begin with /${first}, which is the service's own`);
  const isPlain = /^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)+$/.test(path); // clients take dot segments out
  if (path === "" || isPlain) return path;
  throw new Error('must be a path of plain segments, such as "/api/v1", or "/"');
};

const origins = (value: unknown): readonly string[] => {
  const isOrigin = (item: string) =>
    item === "*" || item === "loopback" || /^https?:\/\/[^/?#\s]+$/.test(item);
  const list = texts(value);
  if (list.every(isOrigin)) return list;
  throw new Error('must be a list of origins such as "https://app.example.org" (no path), "*" or "loopback"');
};

const hostNames = (value: unknown): readonly string[] => {
  const list = texts(value);
  if (list.every((item) => /^[a-z0-9._-]+$/i.test(item) || /^[0-9a-f:]+$/i.test(item))) return list;
  throw new Error('must be a list of host names such as "api.example.org", without scheme and port');
};

const logged = (value: unknown): string => {
  if (value === "requests" || value === "problems") return value;
  throw new Error('must be "requests", or "problems" (only what goes wrong)');
};

const history = (value: unknown): History => {
  if (value === "forever" || value === "none") return value;
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const isKnown = members.every(
    ([name, number]) =>
      (name === "keepDays" || name === "keepChanges") && Number.isSafeInteger(number) && number >= 0,
  );
  if (members.length > 0 && isKnown) return { keepDays: 0, keepChanges: 0, ...Object.fromEntries(members) };
  throw new Error(
    'must be "forever", "none", or whole numbers such as { keepDays: 30, keepChanges: 1000000 }, of which one may be left out',
  );
};

const hour = 3_600_000;

const timeout = (fallback: number, about: string): Option<number> => ({
  shownDefault: String(fallback),
  fallback,
  about,
  read: wholeNumber(1, hour),
});

const limit = (fallback: number, most: number, about: string): Option<number> => ({
  shownDefault: String(fallback),
  fallback,
  about,
  read: wholeNumber(1, most),
});

/** Every option, by its place in the configuration file. */
export const options = {
  store: {
    flag: "-s, --store <address>",
    env: "HOLDFAST_STORE",
    shownDefault: "`sqlite:holdfast.db`",
    fallback: "sqlite:holdfast.db",
    about: "where the resources are kept: `sqlite:<file>`, from the working directory",
    read: text,
  },
  host: {
    flag: "-H, --host <address>",
    env: "HOLDFAST_HOST",
    shownDefault: "`127.0.0.1`",
    fallback: "127.0.0.1",
    about: "the address to listen on",
    read: text,
  },
  port: {
    flag: "-p, --port <number>",
    env: "HOLDFAST_PORT",
    shownDefault: "3000",
    fallback: 3000,
    about: "the port to listen on; 0 takes a free one",
    read: wholeNumber(0, 65_535),
  },
  prefix: {
    flag: "--prefix <path>",
    env: "HOLDFAST_PREFIX",
    shownDefault: "`/api/v1`",
    fallback: "/api/v1",
    about: "the path that the collections live under",
    read: prefix,
  },
  log: {
    flag: "--log <what>",
    env: "HOLDFAST_LOG",
    shownDefault: "`problems`",
    fallback: "problems",
    about: "`requests` writes a line for each request; a terminal has them anyway",
    read: logged,
  },
  openCollections: {
    shownDefault: "true without `collections`, else false",
    fallback: undefined,
    about: "whether collections that nobody declared spring into being",
    read: truth as (value: unknown) => boolean | undefined,
  },
  history: {
    shownDefault: "`{ keepDays: 30, keepChanges: 1_000_000 }`",
    fallback: defaultHistory,
    about: "how long changes are kept; also `forever` and `none`",
    read: history,
  },
  hosts: {
    shownDefault: "none",
    fallback: [],
    about: "names that the service answers to, beside the loopback ones",
    read: hostNames,
  },
  "cors.origins": {
    shownDefault: '`["loopback"]`',
    fallback: ["loopback"],
    about: "origins whose pages may call: exact ones, `*`, or `loopback` for any port of this machine",
    read: origins,
  },
  "limits.body": {
    shownDefault: "`1mb`",
    fallback: defaultLimits.bodyBytes,
    about: "request content, in bytes or as `512kb`, `1mb`",
    read: bytes,
  },
  "limits.target": limit(defaultLimits.targetBytes, 65_536, "request target, in octets"),
  "limits.headers": limit(defaultLimits.headerBytes, 1_048_576, "header section with the target, in bytes"),
  "limits.jsonDepth": limit(defaultLimits.jsonDepth, 256, "nesting of JSON content"),
  "limits.jsonMembers": limit(defaultLimits.jsonMembers, 1_000_000, "members of one JSON object"),
  "limits.patchOperations": limit(defaultLimits.patchOperations, 100_000, "operations of one JSON Patch"),
  "limits.batch": limit(defaultLimits.batch, 1_000, "operations of one batch"),
  "limits.page": limit(
    defaultLimits.page,
    10_000,
    "resources of one page; a larger `limit` is lowered to it",
  ),
  "limits.queryMs": timeout(defaultLimits.queryMs, "until a list that no index serves must be there"),
  "limits.collections": limit(defaultLimits.collections, 100_000, "collections that open mode may create"),
  "limits.headersTimeoutMs": timeout(
    defaultLimits.headersTimeoutMs,
    "until a request's headers must be there",
  ),
  "limits.requestTimeoutMs": timeout(defaultLimits.requestTimeoutMs, "until the whole request must be there"),
  "limits.handlerTimeoutMs": timeout(defaultLimits.handlerTimeoutMs, "until a write must have had its turn"),
  "limits.keepAliveTimeoutMs": timeout(
    defaultLimits.keepAliveTimeoutMs,
    "until an idle connection is closed",
  ),
  drainDelayMs: {
    shownDefault: "500",
    fallback: 500,
    about: "between turning readiness off and closing the listener, when the service stops",
    read: wholeNumber(0, hour),
  },
  stopTimeoutMs: timeout(10_000, "until an orderly stop is forced"),
} as const satisfies Record<string, Option<unknown>>;

/** The place of an option in the file, with dots. */
export type OptionName = keyof typeof options;

/** The long name of an option's flag, such as `--port`; `undefined` without one. */
export function longFlagOf(option: Pick<Option<unknown>, "about" | "flag">): string | undefined {
  return /--[a-z-]+/.exec(option.flag ?? "")?.[0];
}

/** The checked value of an option. */
export type OptionValue<Name extends OptionName> = ReturnType<(typeof options)[Name]["read"]>;

/** Options that are known by name, and that this release does not have: ignoring `access` would open a door. */
const laterOptions = {
  top: ["auth", "tls", "trustProxy", "limits.rate"],
  collection: ["access", "timestamps", "readOnly", "writeOnly"],
} as const;

const knownOptions = {
  top: [...Object.keys(options), "collections"],
  collection: [
    "id",
    "schema",
    "indexes",
    "search",
    "unique",
    "references",
    "requirePreconditions",
    "defaults",
  ],
} as const satisfies { top: readonly string[]; collection: readonly (keyof CollectionDeclaration)[] };

/** Throws StartError for a member of the file that no option has, naming its place and the nearest known option. */
export function requireOptionNames(
  given: Readonly<Record<string, unknown>>,
  at: string,
  level: keyof typeof knownOptions,
): void {
  const group = at === "" || level === "collection" ? "" : `${at}.`;
  const known: readonly string[] = knownOptions[level];
  const later: readonly string[] = laterOptions[level];
  for (const name of Object.keys(given)) {
    const path = `${group}${name}`;
    const shown = at === "" ? name : `${at}.${name}`;
    if (known.includes(path) || known.some((each) => each.startsWith(`${path}.`))) continue;
    if (later.includes(path)) {
      throw new StartError(
        `${shown} is not supported yet: this release would ignore it. Take it out to start.`,
      );
    }
    throw new StartError(`${shown} is not an option. ${whatInstead(name, path, level)}`);
  }
}

function whatInstead(name: string, path: string, level: keyof typeof knownOptions): string {
  const [elsewhere, place] =
    level === "collection"
      ? (["top", "stands at the top of the file"] as const)
      : (["collection", "belongs to a collection"] as const);
  if ((knownOptions[elsewhere] as readonly string[]).includes(name)) return `"${name}" ${place}.`;
  if ((laterOptions[elsewhere] as readonly string[]).includes(name))
    return `"${name}" ${place}, and is not supported yet: take it out to start.`;
  const known: readonly string[] = knownOptions[level];
  const misplaced = known.find((each) => each.endsWith(`.${name}`));
  if (misplaced !== undefined) return `It stands at ${misplaced}.`;
  const groups = known.map((each) => each.split(".")[0] as string);
  return nearestOr(path, [...new Set([...known, ...groups])], known);
}

/** What was meant, or else what there is. */
function nearestOr(name: string, candidates: readonly string[], known = candidates): string {
  return didYouMean(name, candidates).trimStart() || `Known are ${known.join(", ")}.`;
}

const variables = [
  ...Object.values(options).flatMap((option) => ("env" in option ? [option.env] : [])),
  "HOLDFAST_CONFIG",
];

/** Variables that our own tests read. */
const testVariables = [
  "HOLDFAST_SUITES",
  "HOLDFAST_KILLS",
  "HOLDFAST_SEED",
  "HOLDFAST_QUERY_RUNS",
  "HOLDFAST_ROUNDS",
];

/** Throws StartError for a variable of the environment that is meant for Holdfast and that it does not know. */
export function requireKnownVariables(env: Readonly<Record<string, string | undefined>>): void {
  const unknown = Object.keys(env).find(
    (name) => name.startsWith("HOLDFAST_") && !variables.includes(name) && !testVariables.includes(name),
  );
  if (unknown === undefined) return;
  throw new StartError(
    `${unknown} is not a variable that Holdfast reads from the environment. ${nearestOr(unknown, variables)}`,
  );
}
