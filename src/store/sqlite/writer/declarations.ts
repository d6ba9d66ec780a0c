/** The collections as they are declared now, on the connection that writes. */
import type { DatabaseSync } from "node:sqlite";
import { Catalogue } from "../../catalogue.ts";
import type { CollectionRecord } from "../../record.ts";
import { type NumberedCollection, readCatalogue } from "../file/catalogue.ts";
import type { Heads } from "./heads.ts";
import { migrateCollection } from "./migrate.ts";
import type { SearchTables } from "./search-tables.ts";
import type { Transactions } from "./transactions.ts";

/** What follows the declarations. */
export interface DeclarationsParts {
  database: DatabaseSync;
  /** Kept as the catalogue is. */
  collections: Map<number, NumberedCollection>;
  heads: Heads;
  search: SearchTables;
  transactions: Transactions;
}

/** Declares collections anew. */
export class Declarations {
  readonly #parts: DeclarationsParts;
  #catalogue: Catalogue | undefined;

  constructor(parts: DeclarationsParts) {
    this.#parts = parts;
    this.#read();
  }

  /** What is declared now. */
  get catalogue(): Catalogue {
    this.#catalogue ??= new Catalogue(this.#parts.collections.values());
    return this.#catalogue;
  }

  /** Makes the collections of a plan be as given. Gives those alone: thousands may be made one by one. */
  migrate(plan: readonly CollectionRecord[]): readonly NumberedCollection[] {
    const { transactions, collections } = this.#parts;
    const migrated = transactions.run(() => plan.map((record) => this.#declare(record)));
    for (const collection of migrated) collections.set(collection.number, collection);
    this.#catalogue = undefined;
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
    const { database, collections } = this.#parts;
    collections.clear();
    for (const collection of readCatalogue(database).values()) collections.set(collection.number, collection);
    this.#catalogue = undefined;
  }
}
