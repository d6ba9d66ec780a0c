/** The part of the port that API keys are kept by. The store knows what a key is found by, and not what it lets its holder do. */

/** An API key as it is kept: its hash, never the key itself. */
export interface ApiKey {
  /** Names the key in public. */
  prefix: string;
  /** SHA-256 of the whole key, in base64url. */
  hash: string;
  /** What its maker calls it; several keys may have one name. */
  name: string;
  subject: string;
  roles: readonly string[];
  /** What the key is narrowed to; `undefined` where it is not narrowed. */
  scopes: readonly string[] | undefined;
  /** Unix time in milliseconds, like all times here. */
  createdAt: number;
  /** From then on the key is no longer valid; `undefined` where it is for ever. */
  expiresAt: number | undefined;
  revokedAt: number | undefined;
  /** Roughly when it was last used. */
  lastUsedAt: number | undefined;
}

/** How a key comes to its end: at once, whatever clocks say, or at a time. */
export type KeyEnd = { revokedAt: number } | { expiresAt: number };

/** API keys in a store. Truth is what the store has: other processes write to it too. */
export interface Keys {
  /** The key of this prefix, ended or not. Sees every change that any process was told has happened before the call. */
  find(prefix: string): Promise<ApiKey | undefined>;

  /** All keys, ended ones too, the oldest first. */
  all(): Promise<readonly ApiKey[]>;

  /** Adds a key. Gives false, and changes nothing, where there is one of its prefix. */
  add(key: ApiKey): Promise<boolean>;

  /** Ends the key of this prefix, where there is one. An end only comes nearer: a revoked key stays so, and none lives longer. */
  end(prefix: string, end: KeyEnd): Promise<void>;

  /** Notes that a key was used; an earlier time than is noted already changes nothing. */
  noteUse(prefix: string, at: number): Promise<void>;
}

/** The API keys of a store, opened while a service can have the store open. */
export interface OpenKeys extends Keys {
  close(): Promise<void>;
}
