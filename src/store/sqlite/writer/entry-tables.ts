/** The tables of entries and references on the writer's connection. The caller keeps a transaction open. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import type { SortKey } from "../../../collection/indexes.ts";
import { typeNamed } from "../../../collection/types/declared-types.ts";
import { dateUnits } from "../../../query/figures.ts";
import { hasKey, type SortValue, sortedCodePoints } from "../../../query/sort.ts";
import type { Slot } from "../../core/access-path.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import type { StagedChange } from "../../core/commits/staged-changes.ts";
import { type Entry, entryChanges, entryOf, referencesOf, type UniqueSlot } from "../../core/entries.ts";
import { entriesTable, referencesTable, resourcesTable, valueColumns } from "../file/tables.ts";

/** The SQL functions that make the key of a resource, and the values of its entry, while an index is built. */
const [keyFunction, valueFunction] = ["holdfast_key", "holdfast_value"];

interface Statements {
  add: StatementSync;
  remove: StatementSync;
}

interface EntryStatements extends Statements {
  addWithValues: StatementSync;
}

/** Keeps the entries and references of all collections equal to their resources. */
export class EntryTables {
  readonly #database: DatabaseSync;
  readonly #entries = new Map<number, EntryStatements>();
  readonly #references = new Map<number, Statements>();
  /** The collections whose indexes are built at the end of an import. */
  readonly #suspended = new Set<number>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Changes the entries and references of a resource whose text changes. `row` is its key. */
  update({ collection, before, next, attributes }: StagedChange, row: number): void {
    const { number, uniqueSlots, references } = collection;
    const places = this.#suspended.has(number) ? uniqueSlots : collection.places;
    if (places.length + references.length === 0) return;
    const old = before && JSON.parse(before.text);
    const now = next && (attributes ?? JSON.parse(next.text));
    if (places.length > 0) {
      const { removed, added } = entryChanges(places, old, now);
      const statements = this.#entriesOf(number);
      for (const { slot, key } of removed) statements.remove.run(slot, key);
      for (const entry of added)
        if (entry.index.length === 0) statements.add.run(entry.slot, entry.key, row);
        else statements.addWithValues.run(...entryCells(entry, row));
    }
    if (references.length === 0) return;
    const [were, are] = [old, now].map((each) => (each === undefined ? [] : referencesOf(each, references)));
    if (isDeepStrictEqual(were, are)) return;
    const { add, remove } = this.#referencesOf(number);
    if (old !== undefined) remove.run(row);
    for (const [attribute, target] of are ?? []) add.run(attribute, target, row);
  }

  /** Removes the entries and references of a damaged resource. Its text does not say what keys they have, so this looks at all entries. */
  removeDamaged({ number, places, references }: NumberedCollection, row: number): void {
    if (places.length > 0)
      this.#database.prepare(`delete from ${entriesTable(number)} where row = ?`).run(row);
    if (references.length > 0) this.#referencesOf(number).remove.run(row);
  }

  /**
   * Stops adding entries to the indexes of an empty collection until `build` adds all of them. This is faster than one by one. An
   * import needs those of unique values.
   */
  suspend({ number, places }: NumberedCollection): { build(): void; resume(): void } {
    if (this.#suspended.has(number)) return { build: () => {}, resume: () => {} };
    this.#suspended.add(number);
    const resume = () => void this.#suspended.delete(number);
    return {
      build: () => {
        resume();
        buildEntries(
          this.#database,
          number,
          places.filter((place) => "index" in place),
        );
      },
      resume,
    };
  }

  #entriesOf(number: number): EntryStatements {
    const table = entriesTable(number);
    return preparedIn(this.#entries, number, () => ({
      add: this.#database.prepare(`insert into ${table} (slot, k, row) values (?, ?, ?)`),
      addWithValues: this.#database.prepare(`insert into ${table} values (${entryPlaces})`),
      remove: this.#database.prepare(`delete from ${table} where slot = ? and k = ?`),
    }));
  }

  #referencesOf(number: number): Statements {
    const table = referencesTable(number);
    return preparedIn(this.#references, number, () => ({
      add: this.#database.prepare(`insert into ${table} values (?, ?, ?)`),
      remove: this.#database.prepare(`delete from ${table} where key = ?`),
    }));
  }
}

function preparedIn<S>(known: Map<number, S>, number: number, prepare: () => S): S {
  const statements = known.get(number) ?? prepare();
  known.set(number, statements);
  return statements;
}

/** Adds the entries of indexes and unique attributes for all resources of a collection, in the order of the keys. */
export function buildEntries(
  database: DatabaseSync,
  number: number,
  places: readonly (Slot | UniqueSlot)[],
): void {
  for (const place of places) {
    let last: { text: unknown; entry: Entry | undefined } = { text: undefined, entry: undefined };
    const entryOfText = (text: unknown) => {
      if (last.text !== text) last = { text, entry: entryOf(JSON.parse(String(text)), place) };
      return last.entry;
    };
    database.function(keyFunction, { deterministic: true }, (text) => entryOfText(text)?.key ?? null);
    database.function(valueFunction, { deterministic: true }, (text, n) =>
      entryValue(entryOfText(text)?.index[Number(n)], entryOfText(text)?.values[Number(n)]),
    );
    const length = "index" in place ? place.index.length : 0;
    const values = valueColumns.map((_, n) => (n < length ? `${valueFunction}(doc, ${n})` : "null"));
    database
      .prepare(
        `insert into ${entriesTable(number)}
         select ?, ${keyFunction}(doc) as k, key, ${values.join(", ")} from ${resourcesTable(number)}
         where k is not null order by k`,
      )
      .run(place.slot);
  }
}

/** The parameters of a statement that adds an entry. */
export const entryPlaces = "?, ?, ?, ?, ?, ?, ?, ?";

/** The cells of an entry in its table. `row` is the key of the resource. */
export function entryCells({ slot, key, index, values }: Entry, row: number): SQLInputValue[] {
  return [slot, key, row, ...valueColumns.map((_, n) => entryValue(index[n], values[n]))];
}

/**
 * The value of an attribute in its entry: a number or a short text; of a declared type with units, the beginning of its key, up to the
 * minute. A blob has the JSON of a boolean, or of a text that SQLite could change. Null for all other values.
 */
function entryValue(key: SortKey | undefined, value: SortValue = null): SQLInputValue {
  if (key === undefined) return null;
  if (key.as !== undefined || hasKey(value)) {
    const hasUnits = typeNamed(key.as)?.hasUnits === true;
    return hasUnits && hasKey(value) ? value[0].slice(0, dateUnits.minute) : null;
  }
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return Buffer.from(String(value));
  if (typeof value !== "string") return null;
  const isPlain = value.length < sortedCodePoints && value.isWellFormed() && !value.includes("\0");
  return isPlain ? value : Buffer.from(JSON.stringify(value));
}
