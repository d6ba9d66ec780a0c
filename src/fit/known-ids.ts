/** Ids that are there. They wait on the disk, so memory stays flat. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { openScratch } from "../store/scratch.ts";

/** Tells whether a collection has an id. Close it, and nothing of it is left. */
export class KnownIds {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #find: StatementSync;

  constructor() {
    this.#database = openScratch(
      "create table known (collection text, id text, primary key (collection, id)) without rowid",
    );
    this.#insert = this.#database.prepare("insert into known values (?, ?)");
    this.#find = this.#database.prepare("select 1 from known where collection = ? and id = ?");
  }

  add(collection: string, id: string): void {
    this.#insert.run(collection, id);
  }

  has(collection: string, id: string): boolean {
    return this.#find.get(collection, id) !== undefined;
  }

  close(): void {
    this.#database.close();
  }
}
