/** The settings of the HTTP interface, as the configuration gives them. */

/** What the configuration can say about the wire. */
export interface HttpSettings {
  /** The path that the collections live under: begins with `/` and does not end with one, or is `""`. @default "/api/v1" */
  prefix: string;
  /** Host names that the service answers to beside the loopback ones (lower case, no port). @default [] */
  hosts: readonly string[];
  /** Origins that browsers may call from: exact origins, `"*"`, or `"loopback"` for any port of this machine. @default ["loopback"] */
  corsOrigins: readonly string[];
  /** The files of what it encrypts with; `undefined` where it does not. @default undefined */
  tls: TlsFiles | undefined;
  /** Addresses and networks of proxies whose X-Forwarded-For and -Proto are believed. @default [] */
  trustProxy: readonly string[];
  /** Whether a request that came without encryption, to us or to a trusted proxy, is refused. @default false */
  requireTls: boolean;
  /** How many requests one caller may make; `undefined` for any number. @default undefined */
  rate: Rate | undefined;
  /** Whether everyone who may read a resource sees who made its changes. @default false */
  showPrincipal: boolean;
  /** Whether the service describes itself. @default true */
  docs: boolean;
  /** Whether answers are compressed for clients that accept this. @default true */
  compression: boolean;
  /** How the service names itself in its description. @default the program's own name and version */
  info: Info;
  limits: Limits;
}

/** The two files of a certificate, both PEM. */
export interface TlsFiles {
  /** The certificate, followed by those that lead to the root. */
  cert: string;
  /** The private key of the certificate. */
  key: string;
}

/** How many requests one caller can send in how many seconds. */
export interface Rate {
  requests: number;
  perSeconds: number;
}

/** The service's name and version for readers of its description, as in OpenAPI's `info`. */
export interface Info {
  /** @default "Holdfast" */
  title: string;
  /** @default the version of Holdfast */
  version: string;
  /** What the service is for, as Markdown. @default none */
  description?: string | undefined;
}

/** How much one request may ask for. */
export interface Limits {
  /** Request content, in bytes. @default 1048576 */
  bodyBytes: number;
  /** Request target, in octets. @default 8000 */
  targetBytes: number;
  /** Header section, in bytes. @default 32768 */
  headerBytes: number;
  /** Nesting of JSON content. @default 64 */
  jsonDepth: number;
  /** Members of one JSON object. @default 10000 */
  jsonMembers: number;
  /** Operations of one JSON Patch. @default 1000 */
  patchOperations: number;
  /** Operations of one batch. @default 100 */
  batch: number;
  /** Resources of one page; a larger `limit` is lowered to it. @default 1000 */
  page: number;
  /** Until a list that no index serves must be there, in milliseconds. @default 2000 */
  queryMs: number;
  /** Collections that open mode may create. @default 1000 */
  collections: number;
  /** Until the headers of a request must be there, in milliseconds. @default 10000 */
  headersTimeoutMs: number;
  /** Until the whole request must be there, in milliseconds. @default 30000 */
  requestTimeoutMs: number;
  /** Until the store must have written a change, in milliseconds. @default 10000 */
  handlerTimeoutMs: number;
  /** Until an idle connection is closed, in milliseconds. @default 65000 */
  keepAliveTimeoutMs: number;
}

/** The limits where the configuration is silent. */
export const defaultLimits: Limits = {
  bodyBytes: 1_048_576,
  targetBytes: 8_000,
  headerBytes: 32_768,
  jsonDepth: 64,
  jsonMembers: 10_000,
  patchOperations: 1_000,
  batch: 100,
  page: 1_000,
  queryMs: 2_000,
  collections: 1_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  handlerTimeoutMs: 10_000,
  keepAliveTimeoutMs: 65_000,
};
