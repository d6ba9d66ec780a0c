/** The head rows of collections: their counters. A transaction reads them when it needs them, and writes them at its end. */
import type { DatabaseSync, StatementSync } from "node:sqlite";

/** The counters of a collection. */
export interface Head {
  /** The sequence of the last change. */
  sequence: number;
  /** The number of resources. */
  count: number;
  /** The highest integer id that was ever used or reserved. */
  lastId: number;
}

/** The heads that the open transaction has read. */
export class Heads {
  /** The numbers of the collections whose sequence the last transactions have changed. */
  readonly changed = new Set<number>();
  readonly #select: StatementSync;
  readonly #update: StatementSync;
  readonly #read = new Map<number, Head>();
  /** The sequences before the transaction. */
  readonly #sequences = new Map<number, number>();

  constructor(database: DatabaseSync) {
    this.#select = database.prepare("select sequence, count, last_id as lastId from heads where number = ?");
    this.#update = database.prepare("update heads set sequence = ?, count = ?, last_id = ? where number = ?");
  }

  /** The head of a collection. The caller can change it until the transaction ends. */
  of(collection: number): Head {
    const known = this.#read.get(collection);
    if (known !== undefined) return known;
    const row = this.#select.get(collection);
    if (row === undefined) throw new Error(`Collection ${collection} has no head.`);
    const head = { sequence: Number(row.sequence), count: Number(row.count), lastId: Number(row.lastId) };
    this.#read.set(collection, head);
    this.#sequences.set(collection, head.sequence);
    return head;
  }

  /** Writes the heads. Call it at the end of a transaction. */
  write(): void {
    for (const [number, { sequence, count, lastId }] of this.#read) {
      this.#update.run(sequence, count, lastId, number);
      if (sequence !== this.#sequences.get(number)) this.changed.add(number);
    }
  }

  /** Forgets the heads. Call it after a transaction. The next one reads them from the file. */
  forget(): void {
    this.#read.clear();
    this.#sequences.clear();
  }
}
