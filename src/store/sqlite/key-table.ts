/** The table of API keys on one connection. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ApiKey, KeyEnd } from "../keys.ts";
import { keysTable } from "./file/tables.ts";

/** A change of one API key. */
export type KeyChange =
  | { kind: "add"; key: ApiKey }
  | { kind: "end"; prefix: string; end: KeyEnd }
  | { kind: "use"; prefix: string; at: number };

/** Adds the table to a file of an older version. */
export function addKeysTable(database: DatabaseSync): void {
  database.exec(keysTable);
}

/** Whether the file has the table. A read-only connection cannot add it. */
export function hasKeysTable(database: DatabaseSync): boolean {
  return database.prepare("select 1 from sqlite_schema where name = 'keys'").get() !== undefined;
}

/** Reads and changes API keys. The caller decides on transactions. */
export class KeyTable {
  readonly #database: DatabaseSync;
  readonly #find: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#find = database.prepare("select * from keys where prefix = ?");
  }

  find(prefix: string): ApiKey | undefined {
    const row = this.#find.get(prefix);
    return row === undefined ? undefined : toKey(row);
  }

  all(): ApiKey[] {
    return this.#database.prepare("select * from keys order by created_at, prefix").all().map(toKey);
  }

  /** Returns whether the change had an effect. */
  change(change: KeyChange): boolean {
    switch (change.kind) {
      case "add":
        return this.#add(change.key);
      case "end":
        return "revokedAt" in change.end
          ? this.#setIfEarlier("revoked_at", change.prefix, change.end.revokedAt)
          : this.#setIfEarlier("expires_at", change.prefix, change.end.expiresAt);
      case "use":
        return this.#run(
          "update keys set last_used_at = ?1 where prefix = ?2 and coalesce(last_used_at, ?1 - 1) < ?1",
          [change.at, change.prefix],
        );
    }
  }

  #add(key: ApiKey): boolean {
    const { prefix, hash, name, subject, roles, scopes } = key;
    return this.#run("insert into keys values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing", [
      prefix,
      hash,
      name,
      subject,
      JSON.stringify(roles),
      scopes === undefined ? null : JSON.stringify(scopes),
      key.createdAt,
      key.expiresAt ?? null,
      key.revokedAt ?? null,
      key.lastUsedAt ?? null,
    ]);
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

function toKey(row: Record<string, unknown>): ApiKey {
  return {
    prefix: String(row.prefix),
    hash: String(row.hash),
    name: String(row.name),
    subject: String(row.subject),
    roles: JSON.parse(String(row.roles)) as readonly string[],
    scopes: row.scopes === null ? undefined : (JSON.parse(String(row.scopes)) as readonly string[]),
    createdAt: Number(row.created_at),
    expiresAt: timeOf(row.expires_at),
    revokedAt: timeOf(row.revoked_at),
    lastUsedAt: timeOf(row.last_used_at),
  };
}

function timeOf(value: unknown): number | undefined {
  return value === null ? undefined : Number(value);
}
