/** The types of the settings of the HTTP interface, and the default limits. `config/` reads and checks the settings. */

/** The settings of the HTTP interface. */
export interface HttpSettings {
  /** The path of the collections. It starts with `/` and does not end with `/`, or is `""`. @default "/api/v1" */
  prefix: string;
  /**
   * In an application, the path below which the service has its pages and descriptions: the prefix. `undefined`: they are at the root.
   * @default undefined
   */
  pagesBelow: string | undefined;
  /** Host names of the service, in addition to the loopback names (lower case, no port). @default [] */
  hosts: readonly string[];
  /** Origins that browsers can call from: exact origins, `"*"`, or `"loopback"` for any port of this machine. @default ["loopback"] */
  corsOrigins: readonly string[];
  /** The certificate of the service; `undefined` if it does not encrypt. @default undefined */
  tls: TlsFiles | undefined;
  /** Addresses and networks of proxies whose X-Forwarded-For and X-Forwarded-Proto the service trusts. @default [] */
  trustProxy: readonly string[];
  /** Whether to refuse requests that came unencrypted, to the service or to a trusted proxy. @default false */
  requireTls: boolean;
  /** Whether browsers use https for the subdomains of the host too, once they have seen it. @default false */
  hstsIncludesSubDomains: boolean;
  /** The rate limit of each caller; `undefined` for none. @default undefined */
  rate: Rate | undefined;
  /** Whether every caller who can read a resource sees who made its changes. @default false */
  showPrincipal: boolean;
  /** Whether clients can follow changes. Without a history there are none to follow. @default true */
  hasFeed: boolean;
  /** Whether administrators can manage API keys. @default false */
  hasKeys: boolean;
  /** The other origins whose pages can send the cookie of a session; `undefined` if no cookie counts. @default undefined */
  cookieOrigins: readonly string[] | undefined;
  /** The collection whose resources are the profiles of people. Their deletes can be refused. @default undefined */
  profiles: string | undefined;
  /** The collections whose writes functions of the operator can refuse, or complete. @default none */
  hooked: ReadonlySet<string>;
  /** Further facts for the console, by the names of tags in its page. @default none */
  consoleTags: Readonly<Record<string, string>>;
  /** The settings of each capability, by its name, for its own endpoints. */
  ofCapabilities: Readonly<Record<string, unknown>>;
  /** Whether browsers get the console at `/`. @default true */
  console: boolean;
  /** Whether the service serves its descriptions: OpenAPI and the API reference. @default true */
  docs: boolean;
  /** Whether administrators can read the metrics of the service at `/metrics`. @default false */
  metrics: boolean;
  /** Whether to compress responses for clients that accept this. @default true */
  compression: boolean;
  /** The name and version in the OpenAPI document. @default those of Holdfast */
  info: Info;
  limits: Limits;
}

/** The two files of a certificate, both PEM. */
export interface TlsFiles {
  /** The certificate, followed by its chain to the root certificate. */
  cert: string;
  /** The private key of the certificate. */
  key: string;
}

/** How many requests one caller can send in how many seconds. */
export interface Rate {
  requests: number;
  perSeconds: number;
}

/** The name and version of the service, as in `info` of OpenAPI. */
export interface Info {
  /** @default "Holdfast" */
  title: string;
  /** @default the version of Holdfast */
  version: string;
  /** The purpose of the service, as Markdown. @default none */
  description?: string | undefined;
}

/** The limits of one request. Sizes are in bytes and times in milliseconds. */
export interface Limits {
  /** The body of a request. @default 1048576 */
  bodyBytes: number;
  /** The body of an import. @default 67108864 */
  importBytes: number;
  /** The resources that a rewind in one commit changes, each before or after it. @default 4194304 */
  rewindBytes: number;
  /** The request target: path and query string. @default 8000 */
  targetBytes: number;
  /** All headers. @default 32768 */
  headerBytes: number;
  /** Nesting levels of JSON. @default 64 */
  jsonDepth: number;
  /** Members of one JSON object. @default 10000 */
  jsonMembers: number;
  /** Operations of one JSON Patch, and attributes of one update. @default 1000 */
  patchOperations: number;
  /** Operations of one batch. @default 100 */
  batch: number;
  /** Resources of one page. A larger `limit` is refused. @default 1000 */
  page: number;
  /** The time to read a list that no index serves. @default 2000 */
  queryMs: number;
  /** Collections that open mode can create. @default 1000 */
  collections: number;
  /** Event streams, and pages of events that wait. @default 5000 */
  streams: number;
  /** Event streams, and pages of events that wait, for each caller. @default 100 */
  streamsPerCaller: number;
  /** The time until the headers of a request have arrived. @default 10000 */
  headersTimeoutMs: number;
  /** The time until the whole request has arrived. @default 30000 */
  requestTimeoutMs: number;
  /** The time that the store has to write a change, and that a large body waits for its turn. @default 10000 */
  handlerTimeoutMs: number;
  /** The time until an idle connection is closed. @default 65000 */
  keepAliveTimeoutMs: number;
}

/** The limits without a configuration. */
export const defaultLimits: Limits = {
  bodyBytes: 1_048_576,
  importBytes: 67_108_864,
  rewindBytes: 4_194_304,
  targetBytes: 8_000,
  headerBytes: 32_768,
  jsonDepth: 64,
  jsonMembers: 10_000,
  patchOperations: 1_000,
  batch: 100,
  page: 1_000,
  queryMs: 2_000,
  collections: 1_000,
  streams: 5_000,
  streamsPerCaller: 100,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  handlerTimeoutMs: 10_000,
  keepAliveTimeoutMs: 65_000,
};
