/** The sizes of collections, kept in memory until the collections have changed noticeably. */
import { setTimeout as pass } from "node:timers/promises";
import type { NumberedCollection } from "../file/catalogue.ts";

/** A size is read again after more than this many changes for each resource. */
const maxChange = 0.05;

/** A new index changes the size, but not the sequence. So a size is read again after this time, in milliseconds. */
const maxAgeMs = 300_000;

/** A collection, and its counters now. */
export interface Asked {
  collection: NumberedCollection;
  sequence: number;
  count: number;
}

/** What the sizes depend on. */
export interface SizesOptions {
  /** Reads the sizes of the first of these collections, in bytes: at least one, and as many as fit its time. */
  measure(collections: readonly NumberedCollection[]): Promise<readonly number[]>;
  /** The most time that one call waits, in milliseconds. */
  maxWaitMs: number;
  /** The present time in milliseconds. @default Date.now */
  now?(): number;
}

interface Kept {
  bytes: number;
  sequence: number;
  at: number;
}

/** The sizes of one store. It reads one after the other, so that the threads have time for lists. */
export class Sizes {
  readonly #measure: SizesOptions["measure"];
  readonly #maxWaitMs: number;
  readonly #now: () => number;
  /** By the number of the collection. */
  readonly #kept = new Map<number, Kept>();
  /** What is still to be read, by the number of the collection. */
  readonly #due = new Map<number, Asked>();
  #reading: Promise<void> | undefined;

  constructor({ measure, maxWaitMs, now = Date.now }: SizesOptions) {
    this.#measure = measure;
    this.#maxWaitMs = maxWaitMs;
    this.#now = now;
  }

  /**
   * The last known sizes by name. Sizes that are missing or old are read now, for a later call. The call waits for them only
   * if it would have no size at all.
   */
  async of(asked: readonly Asked[]): Promise<ReadonlyMap<string, number>> {
    for (const each of asked) if (!this.#isRecent(each)) this.#due.set(each.collection.number, each);
    if (this.#due.size > 0) this.#reading ??= this.#readAll();
    const isKnown = asked.some(({ collection }) => this.#kept.has(collection.number));
    if (!isKnown && this.#reading !== undefined) await this.#waitFor(this.#reading);
    const found = new Map<string, number>();
    for (const { collection } of asked) {
      const kept = this.#kept.get(collection.number);
      if (kept !== undefined) found.set(collection.name, kept.bytes);
    }
    return found;
  }

  #isRecent({ collection, sequence, count }: Asked): boolean {
    const kept = this.#kept.get(collection.number);
    if (kept === undefined || this.#now() - kept.at > maxAgeMs) return false;
    return sequence - kept.sequence <= count * maxChange;
  }

  /** Waits until everything is read, but not longer than a call can take. */
  async #waitFor(reading: Promise<void>): Promise<void> {
    const read = new AbortController();
    const over = pass(this.#maxWaitMs, undefined, { ref: false, signal: read.signal }).catch(() => {});
    await Promise.race([reading, over]);
    read.abort();
  }

  /** Reads everything that is due. After an error, the next call begins again. */
  async #readAll(): Promise<void> {
    try {
      while (this.#due.size > 0) await this.#readSome([...this.#due.values()]);
    } catch {
      this.#due.clear(); // the callers can do without the sizes
    } finally {
      this.#reading = undefined;
    }
  }

  async #readSome(due: readonly Asked[]): Promise<void> {
    const sizes = await this.#measure(due.map(({ collection }) => collection));
    for (const [place, bytes] of sizes.entries()) {
      const { collection, sequence } = due[place] as Asked;
      this.#kept.set(collection.number, { bytes, sequence, at: this.#now() });
      this.#due.delete(collection.number);
    }
  }
}
