/** API keys in the table of a store. */
import { Problem } from "../../errors.ts";
import type { ApiKey, KeyInvalidation, Keys } from "../port/keys.ts";
import { isStorable } from "../port/stored.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Plan } from "../sql/plans.ts";
import {
  allOf,
  keys as columns,
  command,
  firstOf,
  query,
  type RowOf,
  type Selection,
  select,
} from "../sql/table.ts";
import { checksumOfKey, damageOf, nameOfKey } from "./checksums.ts";

/** A change of one API key. */
export type KeyChange =
  | { kind: "add"; key: ApiKey }
  | { kind: "invalidate"; prefix: string; how: KeyInvalidation }
  | { kind: "use"; prefix: string; at: number };

/** Reads and changes API keys. */
export class KeyPlans {
  readonly #dialect: Dialect;
  readonly #sql: ReturnType<typeof makeTexts>;

  /** Notes uses of keys only if the condition `mayNoteUse` holds. */
  constructor(dialect: Dialect, mayNoteUse: string) {
    this.#dialect = dialect;
    this.#sql = makeTexts(dialect, mayNoteUse);
  }

  find(prefix: string): Plan<ApiKey | undefined> {
    return this.#sql.find(prefix);
  }

  /** All keys, the oldest first. */
  all(): Plan<ApiKey[]> {
    return this.#sql.all();
  }

  /** Changes a key. Returns false if a key to add exists already. */
  *change(change: KeyChange): Plan<boolean> {
    switch (change.kind) {
      case "add":
        return (yield* this.#dialect.insertNew(this.#sql.table, columns, [toRow(change.key)])) > 0;
      case "invalidate":
        yield* this.#invalidate(change.prefix, change.how);
        return true;
      case "use":
        yield* this.#sql.noteUse(change.prefix, change.at);
        return true;
    }
  }

  /** Another instance can change the key at the same time. Then it reads the key again. */
  *#invalidate(prefix: string, how: KeyInvalidation): Plan<void> {
    const earlier = (now = Number.POSITIVE_INFINITY, then = Number.POSITIVE_INFINITY) => Math.min(now, then);
    for (;;) {
      const row = yield* this.#sql.findRow(prefix);
      if (row === undefined) return;
      toKey(row); // it must be intact
      const [name, at] =
        "revokedAt" in how
          ? (["revoked_at", how.revokedAt] as const)
          : (["expires_at", how.expiresAt] as const);
      const next = { ...row, [name]: earlier(row[name], at) };
      const { expires_at: expiresAt = null, revoked_at: revokedAt = null } = next;
      if ((yield* this.#sql.replaceEnd(prefix, expiresAt, revokedAt, checksumOfKey(next), row.checksum)) > 0)
        return;
    }
  }
}

function makeTexts({ tablePrefix }: Dialect, mayNoteUse: string) {
  const table = `${tablePrefix}keys`;
  const row = select(columns, ...(Object.keys(columns) as (keyof typeof columns)[]));
  const key: Selection<ApiKey> = { sql: row.sql, read: (values) => toKey(row.read(values)) };
  return {
    table,
    find: query<[string], ApiKey | undefined>(
      `select ${key.sql} from ${table} where prefix = $1::text`,
      firstOf(key),
    ),
    findRow: query<[string], RowOf<typeof columns> | undefined>(
      `select ${row.sql} from ${table} where prefix = $1::text`,
      firstOf(row),
    ),
    all: query<[], ApiKey[]>(`select ${key.sql} from ${table} order by created_at, prefix`, allOf(key)),
    replaceEnd: query<[string, number | null, number | null, number, number], number>(
      `update ${table} set expires_at = $2::bigint, revoked_at = $3::bigint, checksum = $4::integer
        where prefix = $1::text and checksum = $5::integer returning prefix`,
      ({ length }) => length,
    ),
    noteUse: command<[string, number]>(
      `update ${table} set last_used_at = $2::bigint
        where prefix = $1::text and (last_used_at is null or last_used_at < $2::bigint) and ${mayNoteUse}`,
    ),
  };
}

function toRow({ roles, scopes, ...key }: ApiKey): RowOf<typeof columns> {
  const row = {
    prefix: key.prefix,
    hash: key.hash,
    name: key.name,
    subject: key.subject,
    roles: JSON.stringify(roles),
    scopes: scopes && JSON.stringify(scopes),
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    last_used_at: key.lastUsedAt,
  };
  return { ...row, checksum: checksumOfKey(row) };
}

/** Throws DATA_DAMAGED. */
function toKey({ checksum, ...whole }: RowOf<typeof columns>): ApiKey {
  if (checksumOfKey(whole) !== checksum) throw new Problem("DATA_DAMAGED", damageOf(nameOfKey(whole)));
  const { roles, scopes, ...row } = whole;
  return {
    prefix: row.prefix,
    hash: row.hash,
    name: row.name,
    subject: row.subject,
    roles: JSON.parse(roles),
    scopes: scopes === undefined ? undefined : JSON.parse(scopes),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}

/** Access to the table of API keys. */
export interface KeyAccess {
  read<T>(plan: Plan<T>): Promise<T>;
  /** Makes a change, as `KeyPlans.change` does. */
  write(change: KeyChange): Promise<boolean>;
}

/** The API keys of a store. */
export class StoredKeys implements Keys {
  readonly #plans: KeyPlans;
  readonly #access: KeyAccess;

  constructor(plans: KeyPlans, access: KeyAccess) {
    this.#plans = plans;
    this.#access = access;
  }

  async find(prefix: string): Promise<ApiKey | undefined> {
    return isStorable(prefix) ? this.#access.read(this.#plans.find(prefix)) : undefined;
  }

  all(): Promise<readonly ApiKey[]> {
    return this.#access.read(this.#plans.all());
  }

  add(key: ApiKey): Promise<boolean> {
    return this.#access.write({ kind: "add", key });
  }

  async invalidate(prefix: string, how: KeyInvalidation): Promise<void> {
    await this.#access.write({ kind: "invalidate", prefix, how });
  }

  async noteUse(prefix: string, at: number): Promise<void> {
    await this.#access.write({ kind: "use", prefix, at });
  }
}
