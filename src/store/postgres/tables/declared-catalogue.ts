/** The collections in the database, as one instance last read them. */
import { Problem } from "../../../errors.ts";
import {
  Catalogue as Collections,
  declarations,
  type NumberedCollection as Numbered,
} from "../../core/catalogue.ts";
import type { Row } from "../connection/connections.ts";
import { findCopyingTable, formatNumber } from "./tables.ts";

/** A collection, and the number of its declaration. */
export interface NumberedCollection extends Numbered {
  /** Grows with every change of a declaration that other instances must know before they write. */
  declared: number;
}

/** The declaration of a collection has changed since the catalogue was read. */
export class Redeclared extends Error {}

/** Throws Redeclared if the number of the declaration is another one, or if the collection has no head. */
export function requireDeclared(collection: NumberedCollection, declared: unknown): void {
  if (Number(declared) !== collection.declared) throw new Redeclared();
}

const selectCollections = `
  select ${declarations.sql}, declared, (select value from holdfast_meta where name = 'format')
  from holdfast_collections join holdfast_heads using (number)`;

/** The statement whose rows `toCollection` reads, for all collections. */
export const catalogueSql = `${selectCollections} order by number`;

/** The same for a service. While a copy into the store is incomplete, it has no collections. */
export const servedCatalogueSql = `${selectCollections}
  where ${findCopyingTable} is null order by number`;

/** Throws UNAVAILABLE if the store has another format than when this instance opened it. */
export function requireSameFormat(format: unknown): void {
  if (Number(format) === formatNumber) return;
  throw new Problem(
    "UNAVAILABLE",
    "Another version of Holdfast has changed the tables of the store. Only that version can use it now.",
  );
}

/** Reads one row of the catalogue. Throws UNAVAILABLE as `requireSameFormat`. */
export function toCollection(row: Row): NumberedCollection {
  const [declared, format] = row.slice(-2);
  requireSameFormat(format);
  return { ...declarations.read(row), declared: Number(declared) };
}

/** The collections, and which of them depend on each other. */
export class Catalogue extends Collections<NumberedCollection> {
  readonly #related = new Map<number, readonly number[]>();

  /**
   * The numbers of the collections that a write to this one can read or change because of constraints. A write locks
   * all of them. Empty if the collection has no constraints.
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
    const isUnconstrained =
      seen.size === 1 && collection.unique.length === 0 && collection.references.length === 0;
    return isUnconstrained ? [] : [...seen].map(({ number }) => number);
  }
}
