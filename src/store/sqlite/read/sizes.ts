/** The sizes of collections, kept in memory until the collections have changed noticeably. */
import { setTimeout as pass } from "node:timers/promises";
import type { NumberedCollection } from "../file/catalogue.ts";

/** A size stays while there are at most this many changes for each resource. */
const maxChange = 0.05;

/** A new index changes the size, but not the sequence. So a size is kept for at most this time, in milliseconds. */
const maxAgeMs = 300_000;

/** A collection, and its counters now. */
export interface Asked {
  collection: NumberedCollection;
  sequence: number;
  count: number;
}

/** What the sizes depend on. */
export interface SizesOptions {
  /** Reads the size of a collection, in bytes. */
  measure(collection: NumberedCollection): Promise<number>;
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
  #last: Promise<unknown> = Promise.resolve();

  constructor({ measure, maxWaitMs, now = Date.now }: SizesOptions) {
    this.#measure = measure;
    this.#maxWaitMs = maxWaitMs;
    this.#now = now;
  }

  /** The sizes by name. A size is missing if it cannot be read in time. A read that has begun continues for a later call. */
  async of(asked: readonly Asked[]): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    const over = new AbortController();
    const waited = pass(this.#maxWaitMs, undefined, { ref: false, signal: over.signal }).then(
      () => over.abort(),
      () => {}, // all sizes are known
    );
    for (const each of asked) {
      const bytes = this.#find(each) ?? (await Promise.race([this.#inTurn(each, over.signal), waited]));
      if (bytes !== undefined) found.set(each.collection.name, bytes);
    }
    over.abort();
    return found;
  }

  #find({ collection, sequence, count }: Asked): number | undefined {
    const kept = this.#kept.get(collection.number);
    if (kept === undefined || this.#now() - kept.at > maxAgeMs) return undefined;
    return sequence - kept.sequence <= count * maxChange ? kept.bytes : undefined;
  }

  /** Reads a size after the other reads, if the call still waits then. */
  #inTurn(asked: Asked, over: AbortSignal): Promise<number | undefined> {
    const turn = this.#last.then(() => this.#find(asked) ?? (over.aborted ? undefined : this.#read(asked)));
    this.#last = turn;
    return turn;
  }

  async #read({ collection, sequence }: Asked): Promise<number | undefined> {
    try {
      const bytes = await this.#measure(collection);
      this.#kept.set(collection.number, { bytes, sequence, at: this.#now() });
      return bytes;
    } catch {
      return undefined; // the caller can do without the size
    }
  }
}
