/** Notes up to which sequence the change log of a collection can lack changes. */
import type { DatabaseSync, StatementSync } from "node:sqlite";

/** The notes of one file. */
export class Gaps {
  readonly #select: StatementSync;
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#select = database.prepare("select value from meta where name = ?");
  }

  /** The sequence for a collection; 0 if nothing was noted. */
  upTo(number: number): number {
    return Number(this.#select.get(nameOf(number))?.value ?? 0);
  }

  /** Notes a sequence, unless a later one is noted. */
  note(number: number, sequence: number): void {
    this.#database
      .prepare(
        "insert into meta values (?, ?) on conflict (name) do update set value = max(value, excluded.value)",
      )
      .run(nameOf(number), sequence);
  }
}

function nameOf(number: number): string {
  return `gaps_${number}`;
}
