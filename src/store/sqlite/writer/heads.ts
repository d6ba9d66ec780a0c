/**
 * The head rows of collections: their counters. Only the writer changes them, so it reads each row once. A transaction writes those
 * that it has changed at its end.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";

/** The counters of a collection. */
export interface Head {
  /** The sequence of the last change. */
  sequence: number;
  /** The number of resources. */
  count: number;
  /** The highest integer id that a resource ever had. */
  lastId: number;
  /** The sum of the checksums of the resources, modulo 2^32. */
  checksums: number;
}

/** The heads of all collections, and what the open transaction makes of them. */
export class Heads {
  /** The numbers of the collections whose sequence the last transactions have changed. */
  readonly changed = new Set<number>();
  readonly #select: StatementSync;
  readonly #update: StatementSync;
  /** What the file has. */
  readonly #saved = new Map<number, Head>();
  /** The heads that the open transaction uses. */
  readonly #open = new Map<number, Head>();

  constructor(database: DatabaseSync) {
    this.#select = database.prepare(
      "select sequence, count, last_id as lastId, checksums from heads where number = ?",
    );
    this.#update = database.prepare(
      "update heads set sequence = ?, count = ?, last_id = ?, checksums = ? where number = ?",
    );
  }

  /** The head of a collection. The caller can change it until the transaction ends. */
  of(collection: number): Head {
    const open = this.#open.get(collection);
    if (open !== undefined) return open;
    const head = { ...this.#savedOf(collection) };
    this.#open.set(collection, head);
    return head;
  }

  /** Writes the heads that the transaction has changed. Call it at the end of a transaction. */
  write(): void {
    for (const [number, { sequence, count, lastId, checksums }] of this.#open) {
      const saved = this.#savedOf(number);
      if (sequence !== saved.sequence) this.changed.add(number);
      else if (count === saved.count && lastId === saved.lastId) continue;
      this.#update.run(sequence, count, lastId, checksums, number);
    }
  }

  /** Call this after a commit. */
  afterCommit(): void {
    for (const [number, head] of this.#open) this.#saved.set(number, head);
    this.#open.clear();
  }

  /** Call this after a rollback, also if it is unknown whether a commit before it has changed the file. */
  afterRollback(): void {
    this.#saved.clear();
    this.#open.clear();
  }

  #savedOf(collection: number): Head {
    const saved = this.#saved.get(collection);
    if (saved !== undefined) return saved;
    const row = this.#select.get(collection);
    if (row === undefined) throw new Error(`Collection ${collection} has no head.`);
    const head = {
      sequence: Number(row.sequence),
      count: Number(row.count),
      lastId: Number(row.lastId),
      checksums: Number(row.checksums),
    };
    this.#saved.set(collection, head);
    return head;
  }
}
