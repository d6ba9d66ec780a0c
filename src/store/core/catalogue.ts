/** The collections of a store, with their table numbers and the references between them. */
import type { Reference } from "../../collection/references.ts";
import type { Unique } from "../../collection/unique.ts";
import type { CollectionRecord } from "../port/record.ts";
import type { Numbered } from "./entries.ts";

/** A collection with its number, which is part of the names of its tables. */
export interface NumberedCollection extends CollectionRecord, Numbered {
  number: number;
  unique: readonly Unique[];
  references: readonly Reference[];
  timestamps: boolean;
}

/** A reference from the collection `from` to another one. */
export interface Referrer<C extends NumberedCollection = NumberedCollection> {
  from: C;
  reference: Reference;
}

/** The collections of a store at a point in time. */
export class Catalogue<C extends NumberedCollection = NumberedCollection> {
  readonly byName: ReadonlyMap<string, C>;
  readonly byNumber: ReadonlyMap<number, C>;
  readonly #referrers = new Map<string, Referrer<C>[]>();

  constructor(collections: Iterable<C>) {
    const all = [...collections];
    this.byName = new Map(all.map((each) => [each.name, each]));
    this.byNumber = new Map(all.map((each) => [each.number, each]));
    for (const from of all) {
      for (const reference of from.references) {
        const known = this.#referrers.get(reference.collection);
        if (known === undefined) this.#referrers.set(reference.collection, [{ from, reference }]);
        else known.push({ from, reference });
      }
    }
  }

  /** The references to a collection. */
  referrersTo(name: string): readonly Referrer<C>[] {
    return this.#referrers.get(name) ?? none;
  }
}

const none: readonly never[] = [];
