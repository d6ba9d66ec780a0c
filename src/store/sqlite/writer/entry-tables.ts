/** The tables of entries on the writer's connection. The caller keeps a transaction open. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { entryChanges, type Slots, unusedSlots } from "../../core/entries.ts";
import { keyOf } from "../../core/order-keys.ts";
import type { Slot } from "../../core/ranges.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { entriesTable, resourcesTable } from "../file/tables.ts";

/** The SQL function that makes the key of a resource while an index is built. */
const keyFunction = "holdfast_key";

interface Statements {
  add: StatementSync;
  remove: StatementSync;
}

/** Keeps the entries of all collections equal to their resources. */
export class EntryTables {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<number, Statements>();
  /** The collections whose entries are built at the end of an import. */
  readonly #suspended = new Set<number>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    for (const number of database.prepare("select number from collections").all())
      this.removeUnused(Number(number.number));
  }

  /** Changes the entries of a resource whose text changes. `row` is its key. */
  update(
    { number, slots }: NumberedCollection,
    row: number,
    { before, next }: { before: string | undefined; next: string | undefined },
  ): void {
    if (slots.length === 0 || this.#suspended.has(number)) return;
    const { add, remove } = this.#statementsOf(number);
    for (const { slot, removed, added } of entryChanges(slots, before, next)) {
      if (removed !== undefined) remove.run(slot, removed);
      if (added !== undefined) add.run(slot, added, row);
    }
  }

  /** Adds no entries to an empty collection until the function that it returns builds them. That is faster than one by one. */
  suspend({ number, slots }: NumberedCollection): { build(): void; resume(): void } {
    this.#suspended.add(number);
    const resume = () => void this.#suspended.delete(number);
    return {
      build: () => {
        resume();
        buildEntries(this.#database, number, slots);
      },
      resume,
    };
  }

  /** Removes the entries of indexes that are not declared any more. A read that began before may have used them until now. */
  removeUnused(number: number): void {
    const slots = this.#database.prepare("select slots from collections where number = ?").get(number)?.slots;
    const remove = `delete from ${entriesTable(number)} where slot = ?`;
    for (const slot of unusedSlots(JSON.parse(String(slots)) as Slots))
      this.#database.prepare(remove).run(slot);
  }

  #statementsOf(number: number): Statements {
    const known = this.#statements.get(number);
    if (known !== undefined) return known;
    const table = entriesTable(number);
    const statements = {
      add: this.#database.prepare(`insert into ${table} values (?, ?, ?)`),
      remove: this.#database.prepare(`delete from ${table} where slot = ? and k = ?`),
    };
    this.#statements.set(number, statements);
    return statements;
  }
}

/** Adds the entries of indexes for all resources of a collection, in the order of the keys. */
export function buildEntries(database: DatabaseSync, number: number, slots: readonly Slot[]): void {
  for (const { slot, index } of slots) {
    database.function(keyFunction, { deterministic: true }, (text) => keyOf(JSON.parse(String(text)), index));
    database
      .prepare(
        `insert into ${entriesTable(number)} select ?, ${keyFunction}(doc), key from ${resourcesTable(number)} order by 2`,
      )
      .run(slot);
  }
}
