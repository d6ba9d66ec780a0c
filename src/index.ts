/** The public interface: what a configuration file may use, and the service as a part of another program. */
import type { GuardedDeclaration } from "./access/declaration.ts";
import type { Algorithm } from "./access/jwt/algorithms.ts";
import type { App } from "./http/wire/app.ts";

export type {
  AccessDeclaration,
  GuardedDeclaration as CollectionDeclaration,
  Rule,
  Where,
} from "./access/declaration.ts";
export { owner } from "./access/declaration.ts";
export type { AttributesDeclaration } from "./collection/attribute-rules.ts";

/** Whose JSON Web Tokens are taken, and what is read of them. */
export interface JwtOptions {
  /** What `iss` must be. */
  issuer: string;
  /** What `aud` must be, or hold one of. */
  audience: string | readonly string[];
  /** The issuer's public keys: an https URL (http on this machine), a file, or a JSON Web Key Set itself. */
  jwks: string | { readonly keys: readonly object[] };
  /** The signatures that are taken. @default all of these */
  algorithms?: readonly Algorithm[];
  /** Whether only tokens are taken that say `at+jwt` of themselves (RFC 9068). @default false */
  onlyAccessTokens?: boolean;
  /** The claim that says whose the token is. @default "sub" */
  subjectClaim?: string;
  /** The claim with the roles: a list, or one text with spaces between. @default "roles" */
  rolesClaim?: string;
  /** The claim that rules know as `$claims.tenant`. @default "tenant" */
  tenantClaim?: string;
  /** The claim with the scopes that every token is narrowed to. @default "scope", where it has scopes of this service */
  scopeClaim?: string;
}

/** What a configuration file may say. */
export interface HoldfastConfig {
  /** Where the resources are kept: `sqlite:<file>` or `postgres://user@host/database`. @default "sqlite:holdfast.db" */
  store?: string;
  /** The collections that there are, by name. @default none: any collection springs into being */
  collections?: Readonly<Record<string, GuardedDeclaration>>;
  /** Whether collections that nobody declared spring into being. @default true without `collections`, else false */
  openCollections?: boolean;
  /** The address to listen on. @default "127.0.0.1" */
  host?: string;
  /** The port to listen on; 0 takes a free one. @default 3000 */
  port?: number;
  /** The path that the collections live under. @default "/api/v1" */
  prefix?: string;
  /** `"requests"` writes a line for each request. @default "problems" */
  log?: "requests" | "problems";
  /** Whether the service describes itself: `/openapi.json`, and the page at `/docs` to try requests on. @default true */
  docs?: boolean;
  /** Whether responses above 1 kB to GET, HEAD and QUERY are compressed, for clients that accept it. @default true */
  compression?: boolean;
  /** The title, version and description of the OpenAPI documents and of the page at `/docs`. */
  info?: {
    /** @default "Holdfast" */
    title?: string;
    /** The version of your interface. @default the version of Holdfast */
    version?: string;
    /** What your service is for, as Markdown. @default none */
    description?: string;
  };
  /** Whether nothing is written: every write is 503 `UNAVAILABLE`. @default false */
  readOnly?: boolean;
  /**
   * How long changes are kept: as long as one of the two numbers says, `"forever"` or not at all.
   * @default { keepDays: 30, keepChanges: 1_000_000 }
   */
  history?:
    | { keepDays?: number; keepChanges?: number; showPrincipal?: boolean }
    | { keep: "forever"; showPrincipal?: boolean }
    | "forever"
    | "none";
  /** Where credentials come from: at least one of the two. @default nobody is asked who they are */
  auth?: {
    /** Whether API keys are taken, which `holdfast keys` makes. @default false */
    keys?: boolean;
    /** Whose JSON Web Tokens are taken. @default none */
    jwt?: JwtOptions;
  };
  /** Names that the service answers to without `auth`, beside the loopback ones. @default none */
  hosts?: readonly string[];
  cors?: {
    /** Origins whose pages may call: exact ones, `"*"`, or `"loopback"`. @default ["loopback"], and none with `auth` */
    origins?: readonly string[];
  };
  /** Files to encrypt with, in PEM form. @default none */
  tls?: { cert: string; key: string };
  /** Whether a request that reached a trusted proxy without encryption is refused. @default false */
  requireTls?: boolean;
  /** Addresses and networks of proxies that are believed in X-Forwarded-For and X-Forwarded-Proto. @default none */
  trustProxy?: readonly string[];
  limits?: {
    /** Request content, in bytes or as `"1mb"`. @default "1mb" */
    body?: number | string;
    /** Request target, in octets. @default 8000 */
    target?: number;
    /** Header section with the target, in bytes. @default 32768 */
    headers?: number;
    /** Nesting of JSON content. @default 64 */
    jsonDepth?: number;
    /** Members of one JSON object. @default 10000 */
    jsonMembers?: number;
    /** Operations of one JSON Patch. @default 1000 */
    patchOperations?: number;
    /** Operations of one batch. @default 100 */
    batch?: number;
    /** Resources of one page. @default 1000 */
    page?: number;
    /** Until a list that no index serves must be there. @default 2000 */
    queryMs?: number;
    /** Collections that open mode may create. @default 1000 */
    collections?: number;
    /** Until a request's headers must be there. @default 10000 */
    headersTimeoutMs?: number;
    /** Until the whole request must be there. @default 30000 */
    requestTimeoutMs?: number;
    /** Until a write must have had its turn. @default 10000 */
    handlerTimeoutMs?: number;
    /** Until an idle connection is closed. @default 65000 */
    keepAliveTimeoutMs?: number;
    /** Requests of one principal, or else one address, in so many seconds. @default none */
    rate?: { requests: number; perSeconds: number };
  };
  /** Between turning readiness off and closing the listener, when the service stops. @default 500 */
  drainDelayMs?: number;
  /** Until an orderly stop is forced. @default 10000 */
  stopTimeoutMs?: number;
}

/** Gives the configuration back, with its type: the client knows by it what the collections hold. */
export function defineConfig<const C extends Collections = Collections>(
  config: Omit<HoldfastConfig, "collections"> & { readonly collections?: C & Known<C> },
): Omit<HoldfastConfig, "collections"> & { readonly collections: C } {
  return config as typeof config & { readonly collections: C };
}

type Collections = NonNullable<HoldfastConfig["collections"]>;

/** A declaration's members are those that there are; by itself, a type that is inferred would take any. */
type Known<C> = {
  readonly [Name in keyof C]: {
    readonly [Member in Exclude<keyof C[Name], keyof GuardedDeclaration>]: never;
  };
};

/** A configuration without what is the application's own affair. */
export interface EmbeddedConfig
  extends Omit<
    HoldfastConfig,
    | "host"
    | "port"
    | "log"
    | "tls"
    | "requireTls"
    | "trustProxy"
    | "docs"
    | "drainDelayMs"
    | "stopTimeoutMs"
    | "limits"
  > {
  limits?: Omit<
    NonNullable<HoldfastConfig["limits"]>,
    "headers" | "headersTimeoutMs" | "requestTimeoutMs" | "keepAliveTimeoutMs"
  >;
}

/**
 * A plugin for Fastify: `app.register(holdfast, config)` serves the collections below the prefix, as a part of the
 * application, whose hooks come first. The store is opened before the application is ready, and closed with it.
 */
export async function holdfast(app: App, config: EmbeddedConfig): Promise<void> {
  const { embed } = await import("./server/embed.ts"); // a configuration file needs none of it
  await embed(app, { ...config });
}
