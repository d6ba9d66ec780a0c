/** What the database knows about its collections, as one instance last read it. */
import type { IdKind } from "../../../collection/ids.ts";
import { Catalogue as Collections, type NumberedCollection as Numbered } from "../../catalogue.ts";
import type { Row } from "../connection/connections.ts";
import { copyingTable } from "./tables.ts";

/** A collection, and the state of its declaration. */
export interface NumberedCollection extends Numbered {
  /** Raised with every declaration that others must know of before they write. */
  declared: number;
}

const everything = `
  select number, name, id_kind, schema, indexes, search, uniques, refers, timestamps, declared
  from holdfast_collections join holdfast_heads using (number)`;

/** The statement whose rows `toCollection` reads: for all that there is. */
export const catalogueSql = `${everything} order by number`;

/** The catalogue for a service. While a copy fills the store, it has no collections. */
export const servedCatalogueSql = `${everything}
  where to_regclass('${copyingTable}') is null order by number`;

/** Reads only the names of the collections that `servedCatalogueSql` reads. */
export const servedNamesSql = `
  select name from holdfast_collections where to_regclass('${copyingTable}') is null`;

/** Reads one row of the catalogue. */
export function toCollection(row: Row): NumberedCollection {
  const [number, name, idKind, schema, indexes, search, uniques, refers, timestamps, declared] = row;
  return {
    number: Number(number),
    name: String(name),
    idKind: idKind as IdKind,
    schema: schema ?? undefined,
    indexes: JSON.parse(String(indexes)),
    search: JSON.parse(String(search)),
    unique: JSON.parse(String(uniques)),
    references: JSON.parse(String(refers)),
    timestamps: timestamps === "t",
    declared: Number(declared),
  };
}

/** The collections, and which of them depend on each other. */
export class Catalogue extends Collections<NumberedCollection> {
  readonly #related = new Map<number, readonly number[]>();

  /**
   * The numbers of all collections that a write to this one may look at or change because of what is declared: nobody
   * else may write to them meanwhile. Empty where nothing is declared.
   */
  relatedTo(collection: NumberedCollection): readonly number[] {
    const known = this.#related.get(collection.number);
    if (known !== undefined) return known;
    const found = this.#findRelated(collection);
    this.#related.set(collection.number, found);
    return found;
  }

  #findRelated(collection: NumberedCollection): readonly number[] {
    const seen = new Set([collection]);
    for (const each of seen) {
      for (const { from } of this.referrersTo(each.name)) seen.add(from);
      for (const { collection: name } of each.references) {
        const target = this.byName.get(name);
        if (target !== undefined) seen.add(target);
      }
    }
    const isFree = seen.size === 1 && collection.unique.length === 0 && collection.references.length === 0;
    return isFree ? [] : [...seen].map(({ number }) => number);
  }
}
