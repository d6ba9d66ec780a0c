/** Groups: the numbers that tell in the change log which changes were made together. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { WireChange } from "../protocol.ts";
import { changesTable } from "../tables.ts";
import type { ChangeLog } from "./change-log.ts";

/** Gives groups their numbers, inside a transaction that the caller holds open to write. */
export class Groups {
  readonly #database: DatabaseSync;
  readonly #log: ChangeLog;
  readonly #next: StatementSync;
  /** That of the commit which was begun last. */
  #current: number | null = null;

  constructor(database: DatabaseSync, log: ChangeLog) {
    this.#database = database;
    this.#log = log;
    this.#next = database.prepare("update meta set value = value + 1 where name = 'groups' returning value");
  }

  /** A number that no group of changes has had. */
  next(): number {
    return Number(this.#next.get()?.value);
  }

  /** The group of a commit of so many changes; one alone has none. */
  begin(changes: number): number | null {
    this.#current = changes > 1 ? this.next() : null;
    return this.#current;
  }

  /** The group of the commit that was begun last, for more changes: its first one gets it too where it was alone. */
  extend({ collection }: WireChange, sequence: number): number {
    if (this.#current !== null) return this.#current;
    this.#current = this.next();
    if (this.#log.isKept) {
      this.#database
        .prepare(`update ${changesTable(collection)} set "group" = ? where sequence = ?`)
        .run(this.#current, sequence);
    }
    return this.#current;
  }
}
