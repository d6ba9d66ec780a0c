/** The receipts of idempotent writes, on the connection that writes. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Receipt } from "../store.ts";

/** What one call of `trim` removes at most, but for a single larger one: nobody else writes meanwhile. */
const slice = { receipts: 200, textLength: 256 * 1024 };

/** All receipts, whatever their writes were about. */
export class Receipts {
  readonly #find: StatementSync;
  readonly #keep: StatementSync;
  readonly #expired: StatementSync;
  readonly #remove: StatementSync;
  readonly #erase: StatementSync;

  constructor(database: DatabaseSync) {
    this.#find = database.prepare("select 1 from receipts where key = ? and expires_at > ?");
    this.#keep = database.prepare("insert or replace into receipts values (?, ?, ?, ?)");
    this.#expired = database.prepare(
      `select key, octet_length(answer) as length from receipts
       where expires_at <= ? order by expires_at limit ?`,
    );
    this.#remove = database.prepare("delete from receipts where key = ?");
    this.#erase = database.prepare(
      "delete from receipts where exists (select 1 from json_each(?) where instr(answer, value))",
    );
  }

  /** Whether there is one with this key that is valid at `now`. */
  has(key: string, now: number): boolean {
    return this.#find.get(key, now) !== undefined;
  }

  /** Keeps a receipt, in the place of one that has expired. */
  keep({ key, fingerprint, answer, expiresAt }: Receipt): void {
    this.#keep.run(key, fingerprint, answer, expiresAt);
  }

  /** Whether there is one that has expired. */
  isDue(now: number): boolean {
    return this.#expired.get(now, 1) !== undefined;
  }

  /** Removes some of those that have expired, the oldest first. */
  trim(now: number): void {
    let length = 0;
    for (const expired of this.#expired.all(now, slice.receipts)) {
      if (length > slice.textLength) return;
      this.#remove.run(String(expired.key));
      length += Number(expired.length);
    }
  }

  /** Removes those whose answers hold a resource of this id, or its address; a few others may go with them. */
  erase(id: string): void {
    const inContent = [`"id":${JSON.stringify(id)}`, `"id":${id}`].map((text) => asString(text));
    const address = `/${encodeURIComponent(id)}`;
    this.#erase.run(JSON.stringify([...inContent, `${address}"`, `${address}\\"`]));
  }
}

/** As it appears within a JSON string. */
function asString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
