/** API keys in a store. A store keeps and finds them. The room `access/` decides what a key allows. */

/** An API key as the store keeps it: its hash, never the key itself. */
export interface ApiKey {
  /** The first part of the key, which is not secret and identifies it. */
  prefix: string;
  /** SHA-256 of the whole key, in base64url. */
  hash: string;
  /** The name that its creator chose. Several keys can have the same name. */
  name: string;
  subject: string;
  roles: readonly string[];
  /** The scopes that limit the key. `undefined` if the key has no limit. */
  scopes: readonly string[] | undefined;
  /** Unix time in milliseconds, like all times here. */
  createdAt: number;
  /** When the key expires. `undefined` if it never expires. */
  expiresAt: number | undefined;
  revokedAt: number | undefined;
  /** The approximate time of the last use. */
  lastUsedAt: number | undefined;
}

/** How a key becomes invalid: at once and independent of clocks (`revokedAt`), or at a time (`expiresAt`). */
export type KeyInvalidation = { revokedAt: number } | { expiresAt: number };

/** The API keys of a store. Several processes can change them, so nothing is cached here. */
export interface Keys {
  /** The key with this prefix, valid or not. Sees every change that was confirmed to any process before the call. */
  find(prefix: string): Promise<ApiKey | undefined>;

  /** All keys, valid or not, oldest first. */
  all(): Promise<readonly ApiKey[]>;

  /** Adds a key. Returns false, and changes nothing, if a key with this prefix exists. */
  add(key: ApiKey): Promise<boolean>;

  /** Revokes the key with this prefix, or makes it expire, if it exists. A later time than the recorded one changes nothing. */
  invalidate(prefix: string, how: KeyInvalidation): Promise<void>;

  /** Records that a key was used. An earlier time than the recorded one changes nothing. */
  noteUse(prefix: string, at: number): Promise<void>;
}

/** The API keys of a store. A service can have the store open at the same time. */
export interface OpenKeys extends Keys {
  /** Whether a resource of a collection has an id, or ever had it. An unknown collection has none. */
  hadEver(collection: string, id: string): Promise<boolean>;
  close(): Promise<void>;
}
