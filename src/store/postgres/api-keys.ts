/** API keys in the database. */
import { type ApiKey, type KeyInvalidation, type Keys, keyColumns, keyValues, toKey } from "../port/keys.ts";
import { isStorable } from "../port/stored.ts";
import type { Statement, StatementResult } from "./connection/connections.ts";
import { retryOnce } from "./connection/retry.ts";
import { findCopyingTable } from "./tables/tables.ts";

/** The keys in the database. Each change is its own statement, and it is on disk when its promise resolves. */
export class PostgresKeys implements Keys {
  readonly #run: (statement: Statement) => Promise<StatementResult>;

  constructor(run: (statement: Statement) => Promise<StatementResult>) {
    this.#run = run;
  }

  async find(prefix: string): Promise<ApiKey | undefined> {
    if (!isStorable(prefix)) return undefined;
    const { rows } = await retryOnce(() => this.#run(selectKey(prefix)));
    return rows[0] === undefined ? undefined : toKey(rows[0]);
  }

  async all(): Promise<readonly ApiKey[]> {
    const { rows } = await retryOnce(() => this.#run(selectAllKeys));
    return rows.map(toKey);
  }

  async add(key: ApiKey): Promise<boolean> {
    const { rows } = await this.#run(insertKey(key));
    return rows.length > 0;
  }

  async invalidate(prefix: string, how: KeyInvalidation): Promise<void> {
    await this.#run(invalidateKeyEarlier(prefix, how));
  }

  async noteUse(prefix: string, at: number): Promise<void> {
    await this.#run(noteKeyUse(prefix, at));
  }
}

/** The key with a prefix. */
function selectKey(prefix: string): Statement {
  return { sql: `select ${keyColumns} from holdfast_keys where prefix = $1::text`, values: [prefix] };
}

/** All keys, the oldest first. */
const selectAllKeys: Statement = {
  sql: `select ${keyColumns} from holdfast_keys order by created_at, prefix`,
};

/** Adds a key, unless a key with its prefix exists. Returns the prefix of an added key. */
function insertKey(key: ApiKey): Statement {
  return {
    sql: `insert into holdfast_keys (${keyColumns})
      values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::bigint, $8::bigint, $9::bigint, $10::bigint)
      on conflict do nothing returning prefix`,
    values: keyValues(key),
  };
}

/** Sets when a key expires or was revoked, unless an earlier time is set. */
function invalidateKeyEarlier(prefix: string, how: KeyInvalidation): Statement {
  const [column, at] = "revokedAt" in how ? ["revoked_at", how.revokedAt] : ["expires_at", how.expiresAt];
  return {
    sql: `update holdfast_keys set ${column} = $2::bigint where prefix = $1::text and (${column} is null or ${column} > $2::bigint)`,
    values: [prefix, at],
  };
}

/** Records the last use of a key, unless a copy into the database is incomplete. */
function noteKeyUse(prefix: string, at: number): Statement {
  return {
    sql: `update holdfast_keys set last_used_at = $2::bigint
      where prefix = $1::text and (last_used_at is null or last_used_at < $2::bigint) and ${findCopyingTable} is null`,
    values: [prefix, at],
  };
}
