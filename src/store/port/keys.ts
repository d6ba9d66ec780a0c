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
  close(): Promise<void>;
}

/** The columns of a table of keys. */
export const keyColumns =
  "prefix, hash, name, subject, roles, scopes, created_at, expires_at, revoked_at, last_used_at";

/** The values of `keyColumns` for a key. */
export function keyValues(key: ApiKey): (string | number | null)[] {
  return [
    key.prefix,
    key.hash,
    key.name,
    key.subject,
    JSON.stringify(key.roles),
    key.scopes === undefined ? null : JSON.stringify(key.scopes),
    key.createdAt,
    key.expiresAt ?? null,
    key.revokedAt ?? null,
    key.lastUsedAt ?? null,
  ];
}

/** The key in a row of `keyColumns`. */
export function toKey(row: readonly unknown[]): ApiKey {
  const [prefix, hash, name, subject, roles, scopes, createdAt, expiresAt, revokedAt, lastUsedAt] = row;
  return {
    prefix: String(prefix),
    hash: String(hash),
    name: String(name),
    subject: String(subject),
    roles: JSON.parse(String(roles)),
    scopes: scopes === null ? undefined : JSON.parse(String(scopes)),
    createdAt: Number(createdAt),
    expiresAt: timeOf(expiresAt),
    revokedAt: timeOf(revokedAt),
    lastUsedAt: timeOf(lastUsedAt),
  };
}

function timeOf(value: unknown): number | undefined {
  return value === null ? undefined : Number(value);
}
