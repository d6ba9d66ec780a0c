/**
 * The declarations of all collections, in the writer's memory and in its transactions. `migrate.ts` changes the tables of one
 * collection.
 */
import type { DatabaseSync } from "node:sqlite";
import { Catalogue } from "../../core/catalogue.ts";
import type { CollectionRecord } from "../../port/record.ts";
import { type NumberedCollection, readCatalogue } from "../file/catalogue.ts";
import type { Marks } from "../marks.ts";
import type { Heads } from "./heads.ts";
import { declarationError, migrateCollection } from "./migrate.ts";
import type { SearchTables } from "./search-tables.ts";
import type { Transactions } from "./transactions.ts";

/** The parts of the writer that declarations use. */
export interface DeclarationsParts {
  database: DatabaseSync;
  /** The collections by number. `Declarations` keeps this map equal to the catalogue. */
  collections: Map<number, NumberedCollection>;
  heads: Heads;
  search: SearchTables;
  marks: Marks;
  transactions: Transactions;
}

/** Reads and changes the declarations of all collections. */
export class Declarations {
  readonly #parts: DeclarationsParts;
  #catalogue: Catalogue | undefined;

  constructor(parts: DeclarationsParts) {
    this.#parts = parts;
    this.#read();
  }

  /** The present declarations. */
  get catalogue(): Catalogue {
    this.#catalogue ??= new Catalogue(this.#parts.collections.values());
    return this.#catalogue;
  }

  /**
   * Creates the collections of a plan, or changes their declarations. Returns only these collections, and `Marks.catalogue`
   * before the change. A store can have thousands of collections, and open mode creates them one by one.
   */
  migrate(plan: readonly CollectionRecord[]): { collections: readonly NumberedCollection[]; before: number } {
    const { transactions, collections, marks } = this.#parts;
    const before = marks.catalogue;
    const migrated = transactions.run(() => plan.map((record) => this.#declare(record)));
    for (const collection of migrated) collections.set(collection.number, collection);
    this.#catalogue = undefined;
    return { collections: migrated, before };
  }

  /** Declares a collection in the open transaction, and undoes that if the transaction is rolled back. Returns its number. */
  takeOver(record: CollectionRecord): number {
    this.#parts.transactions.onRollBack(() => this.#read());
    const { number } = this.#declare(record);
    this.#read();
    return number;
  }

  #declare(record: CollectionRecord): NumberedCollection {
    const { database, heads, search, transactions } = this.#parts;
    transactions.noteDeclared();
    try {
      const collection = migrateCollection(database, heads, record);
      search.declare(collection);
      return collection;
    } catch (error) {
      throw declarationError(database, record.name, error);
    }
  }

  #read(): void {
    const { database, collections } = this.#parts;
    collections.clear();
    for (const collection of readCatalogue(database).values()) collections.set(collection.number, collection);
    this.#catalogue = undefined;
  }
}
