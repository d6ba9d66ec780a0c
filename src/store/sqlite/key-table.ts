/** The table of API keys on one connection. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type ApiKey, type KeyInvalidation, keyColumns, keyValues, toKey } from "../port/keys.ts";

/** A change of one API key. */
export type KeyChange =
  | { kind: "add"; key: ApiKey }
  | { kind: "invalidate"; prefix: string; how: KeyInvalidation }
  | { kind: "use"; prefix: string; at: number };

/** Reads and changes API keys. The caller decides on transactions. */
export class KeyTable {
  readonly #database: DatabaseSync;
  readonly #find: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#find = database.prepare(`select ${keyColumns} from keys where prefix = ?`);
  }

  find(prefix: string): ApiKey | undefined {
    const row = this.#find.get(prefix);
    return row === undefined ? undefined : toKey(Object.values(row));
  }

  all(): ApiKey[] {
    const rows = this.#database.prepare(`select ${keyColumns} from keys order by created_at, prefix`).all();
    return rows.map((row) => toKey(Object.values(row)));
  }

  /** Returns whether the change had an effect. */
  change(change: KeyChange): boolean {
    switch (change.kind) {
      case "add":
        return this.#add(change.key);
      case "invalidate":
        return "revokedAt" in change.how
          ? this.#setIfEarlier("revoked_at", change.prefix, change.how.revokedAt)
          : this.#setIfEarlier("expires_at", change.prefix, change.how.expiresAt);
      case "use":
        return this.#run(
          "update keys set last_used_at = ?1 where prefix = ?2 and coalesce(last_used_at, ?1 - 1) < ?1",
          [change.at, change.prefix],
        );
    }
  }

  #add(key: ApiKey): boolean {
    return this.#run(
      `insert into keys (${keyColumns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
      keyValues(key),
    );
  }

  #setIfEarlier(column: "revoked_at" | "expires_at", prefix: string, at: number): boolean {
    return this.#run(
      `update keys set ${column} = ?1 where prefix = ?2 and coalesce(${column}, ?1 + 1) > ?1`,
      [at, prefix],
    );
  }

  #run(sql: string, values: (string | number | null)[]): boolean {
    return Number(this.#database.prepare(sql).run(...values).changes) > 0;
  }
}
