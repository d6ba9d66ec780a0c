/** Values of unique attributes that were seen. They wait on the disk, so memory stays flat. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Attributes } from "../collection/resource.ts";
import { type Unique, uniqueValue } from "../collection/unique.ts";
import type { Violation } from "../errors.ts";
import { toFragment } from "../json/pointer.ts";
import { openScratch } from "../store/scratch.ts";

/** Tells of each value whether it was there before. Close it, and nothing of it is left. */
export class SeenValues {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #find: StatementSync;

  constructor() {
    this.#database = openScratch(
      "create table seen (attribute integer, value text, id text, primary key (attribute, value)) without rowid",
    );
    this.#insert = this.#database.prepare("insert into seen values (?, ?, ?) on conflict do nothing");
    this.#find = this.#database.prepare("select id from seen where attribute = ? and value = ?");
  }

  /** What is wrong with a resource's value in a unique attribute: nothing, or one thing. */
  collision(
    attribute: number,
    unique: Unique,
    resource: { id: string; attributes: Attributes },
  ): Violation[] {
    const value = uniqueValue(resource.attributes, unique);
    if (value === undefined) return [];
    if (this.#insert.run(attribute, value, resource.id).changes === 1) return [];
    const other = String(this.#find.get(attribute, value)?.id);
    const detail = `repeats the value of ${JSON.stringify(other)}`;
    return [{ in: "body", pointer: toFragment(unique.path), code: "unique", detail }];
  }

  close(): void {
    this.#database.close();
  }
}
