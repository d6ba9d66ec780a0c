/**
 * Integer ids that are reserved for new resources. The head of a collection has the highest id that a resource ever had. What is
 * reserved beyond it is only in memory. If the process ends before a commit uses such an id, no client has seen it.
 */
import type { HeadCounters } from "../../core/commits/staged-changes.ts";

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
