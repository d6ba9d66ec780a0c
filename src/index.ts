/** The public interface of the package: the types of a configuration file, and the plugin for Fastify. */

import type { GuardedDeclaration } from "./access/access-declaration.ts";
import type { Algorithm } from "./access/jwt/key-set.ts";
import type { AdministratorRule } from "./access/roles.ts";
import type { App } from "./http/wire/mount.ts";
import type { applicationLimits, applicationOptions } from "./server/plugin.ts";

export type {
  AccessDeclaration,
  GuardedDeclaration as CollectionDeclaration,
  Rule,
  Where,
} from "./access/access-declaration.ts";
export { owner } from "./access/access-declaration.ts";
export type { AdministratorRule } from "./access/roles.ts";
export type { AttributesDeclaration } from "./collection/attribute-rules.ts";

/** An issuer whose JSON Web Tokens the service accepts, and the claims that it reads. */
export interface JwtOptions {
  /** The required value of `iss`. */
  issuer: string;
  /** The required value of `aud`: one of these, if there are several. */
  audience: string | readonly string[];
  /** The issuer's public keys: an https URL (http on this machine), a file, or a JSON Web Key Set itself. */
  jwks: string | { readonly keys: readonly object[] };
  /** The accepted signature algorithms. @default all of these */
  algorithms?: readonly Algorithm[];
  /** Whether to accept only tokens of the type `at+jwt` (RFC 9068). @default false */
  onlyAccessTokens?: boolean;
  /** The claim with the subject. @default "sub" */
  subjectClaim?: string;
  /** The claim with the roles: a list, or a text with spaces between the roles. @default "roles" */
  rolesClaim?: string;
  /** The claim that rules refer to as `$claims.tenant`. @default "tenant" */
  tenantClaim?: string;
  /** The claim with the scopes, which limit every token. @default "scope", if it has scopes of this service */
  scopeClaim?: string;
}

/** The content of a configuration file. */
export interface HoldfastConfig {
  /** The address of the store: `sqlite:<file>` or `postgres://user@host/database`. @default "sqlite:holdfast.db" */
  store?: string;
  /** The declared collections, by name. @default none: clients create collections by using them */
  collections?: Readonly<Record<string, GuardedDeclaration>>;
  /** Whether clients can create collections that are not declared. @default true without `collections`, else false */
  openCollections?: boolean;
  /** The address to listen on. @default "127.0.0.1" */
  host?: string;
  /** The port to listen on; 0 picks a free port. @default 3000 */
  port?: number;
  /**
   * How many threads answer requests: 1 to 16, or `"auto"` for one on two processors or fewer, else one fewer than processors.
   * @default "auto"
   */
  threads?: number | "auto";
  /** The start of the path of every collection. @default "/api/v1" */
  prefix?: string;
  /** What to log: `"requests"` also logs a line about every request. @default "problems" */
  log?: "requests" | "problems";
  /**
   * Where to serve metrics for Prometheus: `"administrators"` (at `/metrics` of the service, for administrators), or a separate
   * port or `"host:port"`, without authentication. @default nowhere
   */
  metrics?: "administrators" | number | `${string}:${number}`;
  /** Whether browsers get the console at `/`. @default true */
  console?: boolean;
  /** Whether to serve the OpenAPI document (`/openapi.json`) and a page to try requests on (`/docs`). @default true */
  docs?: boolean;
  /** Whether to compress responses above 1 kB to GET, HEAD and QUERY, for clients that accept this. @default true */
  compression?: boolean;
  /** The title, version and description of your interface, in the OpenAPI documents and at `/docs`. */
  info?: {
    /** Also the title of the page at `/`. @default "Holdfast" */
    title?: string;
    /** The version of your interface. @default the version of Holdfast */
    version?: string;
    /** What your service is for, as Markdown. @default none */
    description?: string;
  };
  /** Whether to refuse every write with 503 `UNAVAILABLE`. @default false */
  readOnly?: boolean;
  /**
   * How long the history keeps changes: while `keepDays` or `keepChanges` allows it, but at most `keepBytes` of each collection.
   * `"forever"` keeps all changes, and `"none"` keeps no changes.
   * @default { keepDays: 30, keepChanges: 1_000_000 }
   */
  history?:
    | { keepDays?: number; keepChanges?: number; keepBytes?: number; showPrincipal?: boolean }
    | { keep: "forever"; showPrincipal?: boolean }
    | "forever"
    | "none";
  /** The credentials that the service accepts: at least one of the two. @default no credentials; anyone can read and write */
  auth?: {
    /** Whether to accept API keys, which `holdfast keys` creates. @default false */
    keys?: boolean;
    /** The issuer whose JSON Web Tokens to accept. @default none */
    jwt?: JwtOptions;
    /** Who administers the service over HTTP: webhooks, imports and metrics. A credential with scopes never does. @default no caller */
    administrators?: AdministratorRule | readonly AdministratorRule[];
    /** The roles that administrators can give to the keys that they create over HTTP. @default the roles in rules of collections, except those of administrators */
    keyRoles?: readonly string[];
  };
  /** The receivers that webhooks can have although they are not public: names, addresses and networks. */
  webhooks?: { allow?: readonly string[] };
  /** Host names that requests can use without `auth`, in addition to the loopback names. @default none */
  hosts?: readonly string[];
  cors?: {
    /** Origins whose web pages can call the service: exact origins, `"*"`, or `"loopback"`. @default ["loopback"]; none with `auth` */
    origins?: readonly string[];
  };
  /** Certificate and key files in PEM format, for HTTPS. @default none */
  tls?: { cert: string; key: string };
  /** Whether to refuse requests that came to a trusted proxy without encryption. @default false */
  requireTls?: boolean;
  /** IP addresses and networks of the proxies whose X-Forwarded-For and X-Forwarded-Proto headers to trust. @default none */
  trustProxy?: readonly string[];
  limits?: {
    /** Size of a request body, in bytes or as `"1mb"`. @default "1mb" */
    body?: number | string;
    /** Size of the body of an import over HTTP, in bytes or as `"64mb"`. @default "64mb" */
    import?: number | string;
    /** Size of the resources that a rewind changes, in bytes or as `"64mb"`. @default "64mb" */
    rewind?: number | string;
    /** Length of the request target (path and query), in bytes. @default 8000 */
    target?: number;
    /** Size of all headers with the request target, in bytes. @default 32768 */
    headers?: number;
    /** Nesting depth of a JSON body. @default 64 */
    jsonDepth?: number;
    /** Members of one JSON object. @default 10000 */
    jsonMembers?: number;
    /** Operations in one JSON Patch. @default 1000 */
    patchOperations?: number;
    /** Operations in one batch. @default 100 */
    batch?: number;
    /** Resources on one page. @default 1000 */
    page?: number;
    /** How long the service works on a list that cannot use an index, in milliseconds. @default 2000 */
    queryMs?: number;
    /** Collections that clients can create in open mode. @default 1000 */
    collections?: number;
    /** Event streams, and pages of events that wait, at the same time. @default 5000 */
    streams?: number;
    /** Event streams, and pages of events that wait, for one caller, or for one IP address without a credential. @default 100 */
    streamsPerCaller?: number;
    /** How long a client can take to send the headers, in milliseconds. @default 10000 */
    headersTimeoutMs?: number;
    /** How long a client can take to send the whole request, in milliseconds. @default 30000 */
    requestTimeoutMs?: number;
    /** How long a write can wait before it starts, in milliseconds. @default 10000 */
    handlerTimeoutMs?: number;
    /** How long an idle connection stays open, in milliseconds. @default 65000 */
    keepAliveTimeoutMs?: number;
    /** Requests of one caller, or of one IP address without a credential, in this many seconds. @default none */
    rate?: { requests: number; perSeconds: number };
  };
  /** Time between turning readiness off and closing the listener, when the service stops, in milliseconds. @default 500 */
  drainDelayMs?: number;
  /** How long a graceful stop can take before the service exits anyway, in milliseconds. @default 10000 */
  stopTimeoutMs?: number;
}

/** Returns the configuration with its exact type, from which the typed client takes the types of resources. */
export function defineConfig<const C extends Collections = Collections>(
  config: Omit<HoldfastConfig, "collections"> & { readonly collections?: C & Known<C> },
): Omit<HoldfastConfig, "collections"> & { readonly collections: C } {
  return config as typeof config & { readonly collections: C };
}

type Collections = NonNullable<HoldfastConfig["collections"]>;

/** Refuses unknown members of a declaration. Without it, the inferred type would accept any member. */
type Known<C> = {
  readonly [Name in keyof C]: {
    readonly [Member in Exclude<keyof C[Name], keyof GuardedDeclaration>]: never;
  };
};

/** A configuration without the options that belong to the application. */
export interface EmbeddedConfig extends Omit<HoldfastConfig, (typeof applicationOptions)[number] | "limits"> {
  limits?: Omit<NonNullable<HoldfastConfig["limits"]>, (typeof applicationLimits)[number]>;
}

/**
 * A plugin for Fastify: `app.register(holdfast, config)` serves the collections below the prefix. The hooks of the
 * application run first. The store opens before the application is ready, and closes with it.
 */
export function holdfast(app: App, config: EmbeddedConfig): void {
  // A configuration file does not need this code.
  const opening = import("./server/plugin.ts").then(({ openFor }) => openFor(app, { ...config }));
  const opened = opening.catch(() => undefined); // Fastify reports the error
  app.addHook("onClose", async () => (await opened)?.close());
  // `pluginTimeout` of the application limits a plugin, but not the promise of one. A store can take longer to open.
  app.register(opening.then(({ serve }) => ({ default: serve })));
}
