/** The API keys of a service, for administrators. */
import type { CallOptions, Send } from "./transport.ts";

/** What the service knows about an API key. */
export interface ApiKey {
  /** The public part of the key, which identifies it. */
  readonly prefix: string;
  readonly name: string;
  /** The caller that the key identifies. */
  readonly subject: string;
  readonly roles: readonly string[];
  /** The scopes that limit the key; `null` without a limit. */
  readonly scopes: readonly string[] | null;
  /** Whether the key is neither revoked nor expired. */
  readonly valid: boolean;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  /** The last use, to the hour. */
  readonly lastUsedAt: string | null;
}

/** A new API key. Only this result contains the key itself. */
export interface NewApiKey extends ApiKey {
  readonly key: string;
}

/** The properties of a new API key. */
export interface ApiKeyInput {
  readonly name: string;
  /** @default the name */
  readonly subject?: string;
  /** Only roles that the configuration allows. @default none */
  readonly roles?: readonly string[];
  /** @default no limit */
  readonly scopes?: readonly string[] | null;
  /** @default never */
  readonly expiresAt?: string | null;
}

/** How an API key is replaced. */
export interface ApiKeyRotation {
  /** How long the old key keeps working, in seconds. @default 3600 */
  readonly overlapSeconds?: number;
  /** `null`: never. @default the lifetime of the old key */
  readonly expiresAt?: string | null;
}

/** The client of the API keys. */
export class ApiKeysClient {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** All keys, also expired and revoked ones, the oldest first. */
  async list(options: CallOptions = {}): Promise<readonly ApiKey[]> {
    const all: ApiKey[] = [];
    for (let query: string | undefined = "?limit=max"; query !== undefined; ) {
      const page = (await this.#call("GET", query, options)) as { keys: ApiKey[]; next?: string };
      all.push(...page.keys);
      query = page.next?.slice(page.next.indexOf("?"));
    }
    return all;
  }

  /** A key by its prefix. Throws NotFoundError. */
  async get(prefix: string, options: CallOptions = {}): Promise<ApiKey> {
    return (await this.#call("GET", pathOf(prefix), options)) as ApiKey;
  }

  /** Creates a key. If the response is lost, revoke the key with this name and create another one. */
  async create(properties: ApiKeyInput, options: CallOptions = {}): Promise<NewApiKey> {
    return (await this.#call("POST", "", { ...options, content: properties })) as NewApiKey;
  }

  /** Replaces a key by a new one. The old key keeps working for a while. Throws NotFoundError. */
  async rotate(
    prefix: string,
    { signal, timeoutMs, ...rotation }: ApiKeyRotation & CallOptions = {},
  ): Promise<NewApiKey> {
    const options = { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
    const call = { ...options, content: rotation };
    return (await this.#call("POST", `${pathOf(prefix)}/_rotate`, call)) as NewApiKey;
  }

  /** Revokes a key. The service refuses it within a second. Throws NotFoundError. */
  async revoke(prefix: string, options: CallOptions = {}): Promise<ApiKey> {
    const call = { ...options, isRepeatable: true };
    return (await this.#call("POST", `${pathOf(prefix)}/_revoke`, call)) as ApiKey;
  }

  /** A POST that creates a key is sent again only if the service refused it. */
  async #call(
    method: "GET" | "POST",
    path: string,
    options: CallOptions & { readonly content?: unknown; readonly isRepeatable?: boolean },
  ): Promise<unknown> {
    const call = { isRepeatable: method === "GET", ...options, method, path: `/_keys${path}` };
    return (await this.#send(call)).body;
  }
}

function pathOf(prefix: string): string {
  return `/${encodeURIComponent(prefix)}`;
}
