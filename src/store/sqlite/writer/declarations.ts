/** The collections as they are declared now, on the connection that writes. */
import type { DatabaseSync } from "node:sqlite";
import type { CollectionRecord } from "../../record.ts";
import { type NumberedCollection, readCatalogue } from "../catalogue.ts";
import type { Heads } from "./heads.ts";
import { migrateCollection } from "./migrate.ts";
import type { References } from "./references.ts";
import type { SearchTables } from "./search-tables.ts";
import type { Transactions } from "./transactions.ts";

/** What follows the declarations. */
export interface DeclarationsParts {
  database: DatabaseSync;
  /** Kept as the catalogue is. */
  collections: Map<number, NumberedCollection>;
  heads: Heads;
  search: SearchTables;
  references: References;
  transactions: Transactions;
}

/** Declares collections anew. */
export class Declarations {
  readonly #parts: DeclarationsParts;

  constructor(parts: DeclarationsParts) {
    this.#parts = parts;
    this.#read();
  }

  /** Makes the collections of a plan be as given. Gives those alone: thousands may be made one by one. */
  migrate(plan: readonly CollectionRecord[]): readonly NumberedCollection[] {
    const { transactions, collections, references } = this.#parts;
    const migrated = transactions.run(() => plan.map((record) => this.#declare(record)));
    for (const collection of migrated) collections.set(collection.number, collection);
    references.refresh();
    return migrated;
  }

  /** Makes a collection be as given until the transaction under way is taken back, and gives its number. */
  takeOver(record: CollectionRecord): number {
    this.#parts.transactions.onRollBack(() => this.#read());
    const { number } = this.#declare(record);
    this.#read();
    return number;
  }

  #declare(record: CollectionRecord): NumberedCollection {
    const { database, heads, search } = this.#parts;
    const collection = migrateCollection(database, heads, record);
    search.fit(collection);
    return collection;
  }

  #read(): void {
    const { database, collections, references } = this.#parts;
    collections.clear();
    for (const collection of readCatalogue(database).values()) collections.set(collection.number, collection);
    references.refresh();
  }
}
