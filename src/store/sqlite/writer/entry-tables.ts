/** The tables of entries on the writer's connection. The caller keeps a transaction open. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { SortKey } from "../../../collection/indexes.ts";
import {
  type CursorValues,
  cursorValuesOf,
  isInstant,
  type SortValue,
  sortedCodePoints,
} from "../../../query/sort.ts";
import { entryChanges, keyAt, type Slots, unusedSlots } from "../../core/order-keys.ts";
import type { Slot } from "../../core/ranges.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { entriesTable, resourcesTable, valueColumns } from "../file/tables.ts";

/** The SQL functions that make the key of a resource, and the values of its entry, while an index is built. */
const [keyFunction, valueFunction] = ["holdfast_key", "holdfast_value"];

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
    this.#removeUnused(database.prepare("select number, slots from collections").all());
  }

  /** Changes the entries of a resource whose text changes. `row` is its key. */
  update(
    { number, slots }: NumberedCollection,
    row: number,
    { before, next }: { before: string | undefined; next: string | undefined },
  ): void {
    if (slots.length === 0 || this.#suspended.has(number)) return;
    const { add, remove } = this.#statementsOf(number);
    for (const { slot, index, removed, added, values } of entryChanges(slots, before, next)) {
      if (removed !== undefined) remove.run(slot, removed);
      if (added !== undefined)
        add.run(slot, added, row, ...valueColumns.map((_, n) => entryValue(index[n], values[n])));
    }
  }

  /** Removes the entries of a damaged resource. Its text does not say what keys they have, so this looks at all entries. */
  removeDamaged({ number, slots }: NumberedCollection, row: number): void {
    if (slots.length > 0)
      this.#database.prepare(`delete from ${entriesTable(number)} where row = ?`).run(row);
  }

  /** Stops adding entries of an empty collection until `build` adds all of them. This is faster than one by one. */
  suspend({ number, slots }: NumberedCollection): { build(): void; resume(): void } {
    if (this.#suspended.has(number)) return { build: () => {}, resume: () => {} };
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

  /** Removes the entries of indexes that are no longer declared. Reads that know an old declaration can need them until then. */
  removeUnused(number: number): void {
    this.#removeUnused(
      this.#database.prepare("select number, slots from collections where number = ?").all(number),
    );
  }

  #removeUnused(rows: readonly Record<string, unknown>[]): void {
    for (const { number, slots } of rows)
      for (const slot of unusedSlots(JSON.parse(String(slots)) as Slots))
        this.#database.prepare(`delete from ${entriesTable(Number(number))} where slot = ?`).run(slot);
  }

  #statementsOf(number: number): Statements {
    const known = this.#statements.get(number);
    if (known !== undefined) return known;
    const table = entriesTable(number);
    const statements = {
      add: this.#database.prepare(`insert into ${table} values (?, ?, ?, ?, ?, ?, ?, ?)`),
      remove: this.#database.prepare(`delete from ${table} where slot = ? and k = ?`),
    };
    this.#statements.set(number, statements);
    return statements;
  }
}

/** Adds the entries of indexes for all resources of a collection, in the order of the keys. */
export function buildEntries(database: DatabaseSync, number: number, slots: readonly Slot[]): void {
  for (const { slot, index } of slots) {
    let last: { text: unknown; values: CursorValues } = { text: undefined, values: [] };
    const valuesOf = (text: unknown) => {
      if (last.text !== text) last = { text, values: cursorValuesOf(JSON.parse(String(text)), index) };
      return last.values;
    };
    database.function(keyFunction, { deterministic: true }, (text) => keyAt(valuesOf(text), index));
    database.function(valueFunction, { deterministic: true }, (text, n) =>
      entryValue(index[Number(n)], valuesOf(text)[Number(n)]),
    );
    const values = valueColumns.map((_, n) => (n < index.length ? `${valueFunction}(doc, ${n})` : "null"));
    database
      .prepare(
        `insert into ${entriesTable(number)}
         select ?, ${keyFunction}(doc), key, ${values.join(", ")} from ${resourcesTable(number)} order by 2`,
      )
      .run(slot);
  }
}

/**
 * The value of an attribute in its entry: a number or a short text; of a declared date, the key of its instant. A blob has the JSON of
 * a boolean, or of a text that SQLite could change. Null for all other values.
 */
function entryValue(key: SortKey | undefined, value: SortValue = null): SQLInputValue {
  if (key === undefined) return null;
  if (key.as !== undefined || isInstant(value)) return isInstant(value) ? value[0] : null;
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return Buffer.from(String(value));
  if (typeof value !== "string") return null;
  const isPlain = value.length < sortedCodePoints && value.isWellFormed() && !value.includes("\0");
  return isPlain ? value : Buffer.from(JSON.stringify(value));
}
