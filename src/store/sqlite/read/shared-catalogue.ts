/** The collections of the store, as this thread knows them. Any thread can change their declarations. */
import type { DatabaseSync } from "node:sqlite";
import { type NumberedCollection, readCatalogue } from "../file/catalogue.ts";
import type { Marks } from "../marks.ts";

/** The collections by name. They are read again when another thread has changed declarations. */
export class SharedCatalogue {
  readonly #database: DatabaseSync;
  readonly #marks: Marks;
  #collections: Map<string, NumberedCollection>;
  /** The names by number. */
  #names = new Map<number, string>();
  /** `Marks.catalogue` from before the read. */
  #seen: number;

  constructor(database: DatabaseSync, marks: Marks) {
    this.#database = database;
    this.#marks = marks;
    this.#seen = marks.catalogue;
    this.#collections = readCatalogue(database);
    this.#setNames(this.#collections.values());
  }

  /** The present collections. */
  get all(): ReadonlyMap<string, NumberedCollection> {
    const now = this.#marks.catalogue;
    // A snapshot that began earlier may not have the change.
    if (now !== this.#seen && !this.#database.isTransaction) this.#readAgain(now);
    return this.#collections;
  }

  /** Adds the collections that this thread has declared. `before` is `Marks.catalogue` from before that. */
  add(collections: readonly NumberedCollection[], before: number): void {
    if (this.#seen !== before) return; // other threads have changed declarations too
    this.#seen = (before + 1) | 0;
    for (const collection of collections) this.#collections.set(collection.name, collection);
    this.#setNames(collections);
  }

  /** The names of collections. */
  namesOf(numbers: readonly number[]): string[] {
    void this.all;
    return numbers.flatMap((number) => this.#names.get(number) ?? []);
  }

  #readAgain(now: number): void {
    this.#seen = now;
    const read = readCatalogue(this.#database);
    for (const [name, known] of this.#collections)
      if (JSON.stringify(read.get(name)) === JSON.stringify(known)) read.set(name, known);
    this.#collections = read;
    this.#setNames(read.values());
  }

  #setNames(collections: Iterable<NumberedCollection>): void {
    for (const { number, name } of collections) this.#names.set(number, name);
  }
}
