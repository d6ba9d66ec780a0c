/**
 * Marks which resources have changed, in memory that all threads share. The writer numbers its transactions, and marks each
 * resource that a transaction changes with its number. A thread that keeps resources in memory compares the marks.
 */

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

/** The marks of one store. Numbers of transactions wrap around after 2^32, so only their differences count. */
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
