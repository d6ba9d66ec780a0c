/** What the threads of a process share: the marks of changed resources, and the present declarations. */
import type { DatabaseSync } from "node:sqlite";
import type { NumberedCollection } from "../core/catalogue.ts";
import { readCatalogue } from "./sqlite-dialect.ts";

/** How many marks there are. Two resources can have the same mark. Then a change of one also marks the other. */
const count = 1 << 16;

/** The places before the marks. */
const place = { ended: 0, catalogue: 1, expectedEnd: 2, damage: 3 } as const;
const first = Object.keys(place).length;

/** Memory for the marks of one store. */
export function createMarksMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer((first + count) * Int32Array.BYTES_PER_ELEMENT);
}

/** The place for the end of the import in progress (`ExpectedEnd`), in the memory of the marks. */
export function expectedEndIn(memory: SharedArrayBuffer): Int32Array {
  return new Int32Array(memory, place.expectedEnd * Int32Array.BYTES_PER_ELEMENT, 1);
}

/** The place for damage that was found (`Damage`), in the memory of the marks. */
export function damageIn(memory: SharedArrayBuffer): Int32Array {
  return new Int32Array(memory, place.damage * Int32Array.BYTES_PER_ELEMENT, 1);
}

/**
 * The marks of one store. The writer numbers its transactions, and marks each resource that a transaction changes with its number. A
 * thread that keeps resources in memory compares the marks. Numbers of transactions wrap around after 2^32, so only their
 * differences count.
 */
export class Marks {
  readonly #cells: Int32Array;
  #current = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Int32Array(memory);
  }

  /** The writer calls this when a transaction begins. */
  begin(): void {
    this.#current = (this.#current + 1) | 0;
  }

  /** The writer calls this for each resource that the transaction changes, before the commit makes the change visible. */
  mark(collection: number, id: string): void {
    Atomics.store(this.#cells, this.placeOf(collection, id), this.#current);
  }

  /** The writer calls this after the commit or the rollback of the transaction. */
  end(): void {
    Atomics.store(this.#cells, place.ended, this.#current);
  }

  /** The writer calls this after a change of the declarations is committed. */
  noteCatalogue(): void {
    Atomics.add(this.#cells, place.catalogue, 1);
  }

  /** Changes whenever the declarations have changed. */
  get catalogue(): number {
    return Atomics.load(this.#cells, place.catalogue);
  }

  /** The number of the last transaction that has ended. Everything that is read from the file from now on includes it. */
  get ended(): number {
    return Atomics.load(this.#cells, place.ended);
  }

  /** The place of the mark of a resource. */
  placeOf(collection: number, id: string): number {
    let hash = Math.imul(collection, 0x9e3779b1);
    for (let n = 0; n < id.length; n++) hash = Math.imul(hash ^ id.charCodeAt(n), 0x01000193);
    return first + ((hash ^ (hash >>> 15)) & (count - 1));
  }

  /** The mark in a place: the number of the last transaction that has changed a resource with this mark. */
  at(markPlace: number): number {
    return Atomics.load(this.#cells, markPlace);
  }
}

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
