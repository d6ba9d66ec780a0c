/** The head rows of collections, read inside a transaction and written once at its end. */
import type { DatabaseSync, StatementSync } from "node:sqlite";

/** What a collection's head row says. */
export interface Head {
  sequence: number;
  count: number;
  /** No integer id above it was ever used or reserved. */
  lastId: number;
}

/** The heads that the transaction under way has touched. */
export class Heads {
  readonly #select: StatementSync;
  readonly #update: StatementSync;
  readonly #touched = new Map<number, Head>();

  constructor(database: DatabaseSync) {
    this.#select = database.prepare("select sequence, count, last_id as lastId from heads where number = ?");
    this.#update = database.prepare("update heads set sequence = ?, count = ?, last_id = ? where number = ?");
  }

  /** The head of a collection, to be read and changed until the transaction ends. */
  of(collection: number): Head {
    const known = this.#touched.get(collection);
    if (known !== undefined) return known;
    const row = this.#select.get(collection);
    if (row === undefined) throw new Error(`Collection ${collection} has no head.`);
    const head = { sequence: Number(row.sequence), count: Number(row.count), lastId: Number(row.lastId) };
    this.#touched.set(collection, head);
    return head;
  }

  /** Writes the heads, as the last thing of a transaction. */
  write(): void {
    for (const [number, { sequence, count, lastId }] of this.#touched) {
      this.#update.run(sequence, count, lastId, number);
    }
  }

  /** Forgets them: the transaction has ended, and the truth is in the file. */
  forget(): void {
    this.#touched.clear();
  }
}
