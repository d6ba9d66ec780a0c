/**
 * The head rows of collections: their counters. Only the writer changes them, so it reads each row once. A transaction writes those
 * that it has changed at its end.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { damagedCounters } from "../../core/checksums.ts";
import type { HeadCounters } from "../../core/commits/staged-changes.ts";
import type { LogGaps } from "../../core/log-plans.ts";
import { withBigIntsIfNeeded } from "../file/wide-integers.ts";

/** The counters of a collection, and which changes of its log are missing. Retention writes `trimmedUpTo` itself. */
type Head = HeadCounters & Pick<LogGaps, "gapsUpTo" | "unloggedUpTo">;

/** The heads of all collections, and what the open transaction makes of them. */
export class Heads {
  /** The numbers of the collections whose sequence the last transactions have changed. */
  readonly changed = new Set<number>();
  readonly #select: StatementSync;
  readonly #update: StatementSync;
  readonly #name: StatementSync;
  readonly #insertAgain: StatementSync;
  /** What the file has. */
  readonly #saved = new Map<number, Head>();
  /** The heads that the open transaction uses. */
  readonly #open = new Map<number, Head>();

  constructor(database: DatabaseSync) {
    this.#select = database.prepare(
      `select sequence, count, last_id as lastId, checksums, gaps_up_to as gapsUpTo, unlogged_up_to as unloggedUpTo
        from heads where number = ?`,
    );
    this.#update = database.prepare(
      `update heads set sequence = ?, count = ?, last_id = ?, checksums = ?, gaps_up_to = ?, unlogged_up_to = ?
        where number = ?`,
    );
    this.#name = database.prepare("select name from collections where number = ?");
    this.#insertAgain = database.prepare("insert or replace into heads select * from heads where number = ?");
  }

  /** The head of a collection. The caller can change it until the transaction ends. Throws DATA_DAMAGED. */
  of(collection: number): Head {
    const open = this.#open.get(collection);
    if (open !== undefined) return open;
    const head = { ...this.#savedOf(collection) };
    this.#open.set(collection, head);
    return head;
  }

  /**
   * Inserts a row again as it is. Call it after a delete from an FTS5 table without an insert into another table: the last rowid is too
   * large for the result of any `run`.
   */
  insertAgain(collection: number): void {
    this.#insertAgain.run(collection);
  }

  /** Writes the heads that the transaction has changed. Call it at the end of a transaction. */
  write(): void {
    for (const [number, { sequence, count, lastId, checksums, gapsUpTo, unloggedUpTo }] of this.#open) {
      const saved = this.#savedOf(number);
      if (sequence !== saved.sequence) this.changed.add(number);
      else if (count === saved.count && lastId === saved.lastId && gapsUpTo === saved.gapsUpTo) continue;
      this.#update.run(sequence, count, lastId, checksums, gapsUpTo, unloggedUpTo, number);
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
    const row = withBigIntsIfNeeded(this.#select, () => this.#select.get(collection));
    if (row === undefined) throw damagedCounters(this.#nameOf(collection));
    const head = {
      sequence: Number(row.sequence),
      count: Number(row.count),
      lastId: Number(row.lastId),
      checksums: Number(row.checksums),
      gapsUpTo: Number(row.gapsUpTo),
      unloggedUpTo: Number(row.unloggedUpTo),
    };
    if (!Object.values(head).every(Number.isSafeInteger)) throw damagedCounters(this.#nameOf(collection));
    this.#saved.set(collection, head);
    return head;
  }

  #nameOf(collection: number): string {
    return String(this.#name.get(collection)?.name ?? `with the number ${collection}`);
  }
}

/** The reserved ids of every collection. */
export class IntegerIds {
  /** The highest reserved id, by the number of the collection. */
  #reserved = new Map<number, number>();

  /** Reserves `n` ids of a collection and returns the first. `undefined` if no safe integers are left. */
  reserve(collection: number, n: number, head: Pick<HeadCounters, "lastId">): number | undefined {
    const last = Math.max(head.lastId, this.#reserved.get(collection) ?? 0);
    if (!Number.isSafeInteger(last + n)) return undefined;
    this.#reserved.set(collection, last + n);
    return last + 1;
  }

  /** Returns a function that restores the present state, for a transaction that is rolled back. */
  remember(): () => void {
    const before = new Map(this.#reserved);
    return () => {
      this.#reserved = before;
    };
  }
}
