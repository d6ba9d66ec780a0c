/**
 * The ids of all resources, and the values of attributes that may refer to them, in a temporary database on disk: it can have millions of
 * them, and memory stays flat.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";

/** Values that no resource has as its id. */
export interface Unresolved {
  count: number;
  /** One of them as JSON, and the resource that has it. */
  value: string;
  holder: string;
}

/** Keeps ids and values. SQLite removes the file of an unnamed database when it is closed, also if the process is killed. */
export class IdTable {
  readonly #database = new DatabaseSync("");
  readonly #addId: StatementSync;
  readonly #addValue: StatementSync;
  readonly #total: StatementSync;
  readonly #unresolved: StatementSync;

  constructor() {
    this.#database.exec(`
      pragma journal_mode = off;
      create table ids (collection text, id text, primary key (collection, id)) without rowid;
      create table vals (
        collection text, attribute text, value text, id text, n integer, holder text,
        primary key (collection, attribute, value)
      ) without rowid;
      begin`);
    this.#addId = this.#database.prepare("insert or ignore into ids values (?, ?)");
    this.#addValue = this.#database.prepare(
      "insert into vals values (?, ?, ?, ?, 1, ?) on conflict do update set n = n + 1",
    );
    const ofAttribute = "from vals where collection = ?1 and attribute = ?2";
    this.#total = this.#database.prepare(`select coalesce(sum(n), 0) as total ${ofAttribute}`);
    // SQLite takes `value` from the row with the first holder.
    this.#unresolved = this.#database.prepare(`
      select coalesce(sum(n), 0) as count, value, min(holder) as holder ${ofAttribute}
        and (id is null or not exists (select 1 from ids where ids.collection = ?3 and ids.id = vals.id))`);
  }

  addId(collection: string, id: string): void {
    this.#addId.run(collection, id);
  }

  /** Adds a value of an attribute. `holder`: the resource that has it, for messages. */
  addValue(collection: string, attribute: string, value: unknown, holder: string): void {
    const isId = typeof value === "string" || Number.isSafeInteger(value);
    const id = isId ? String(value) : null;
    this.#addValue.run(collection, attribute, JSON.stringify(value), id, holder);
  }

  /** The number of values of an attribute, and which of them are no ids of a collection. */
  valuesOf(
    collection: string,
    attribute: string,
    target: string,
  ): { total: number; unresolved: Unresolved | undefined } {
    const { total } = this.#total.get(collection, attribute) as { total: number };
    const found = this.#unresolved.get(collection, attribute, target) as unknown as Unresolved;
    return { total, unresolved: found.count === 0 ? undefined : found };
  }

  close(): void {
    this.#database.close();
  }
}
