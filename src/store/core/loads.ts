/** The imports of a store: one at a time. Other writes wait until it ends. */
import { setTimeout as delay } from "node:timers/promises";
import type { Unique } from "../../collection/unique.ts";
import { Problem } from "../../errors.ts";
import type { CollectionRecord } from "../port/record.ts";
import type { Added, ImportedResource, Load, LoadOptions } from "../port/store.ts";
import type { Stored } from "../port/stored.ts";
import { createBackOff } from "./back-off.ts";

/** The transaction of an import. It carries out the calls in their order, also if they do not wait for each other. */
export interface LoadTransaction {
  /** Continues with another collection. Throws StartError if the collection cannot be as given. */
  next(collection: CollectionRecord): Promise<void>;
  /** Adds resources. */
  add(resources: readonly ImportedResource[]): Promise<Added>;
  /** The resources that have these values in a unique attribute. */
  holders(unique: Unique, values: readonly string[]): Promise<readonly (Stored | undefined)[]>;
  /** Reserves `n` integer ids of the collection and returns the first. */
  reserve(n: number): Promise<number>;
  /** Throws REFERENCE_NOT_FOUND if the import cannot be committed. */
  check(): Promise<void>;
  /** Checks, and writes everything. */
  commit(): Promise<void>;
  /** Ends the transaction and undoes everything. Has no effect after a commit. */
  rollBack(): Promise<void>;
}

/** What imports need from their store. */
export interface LoadsParts {
  /** Makes the other threads of the process wait with their writes. Throws UNAVAILABLE if one of them has done so. */
  hold?(): Promise<void>;
  /** Lets the other threads write again. Never throws. */
  release?(): Promise<void>;
  /** Resolves when no commit is in progress. Absent if commits can continue during an import. */
  drained?(): Promise<void>;
  /** Starts a transaction, with the arguments of `load` of a store. Throws StartError if the collection cannot be as given. */
  begin(into: string | CollectionRecord, options: Required<LoadOptions>): Promise<LoadTransaction>;
  /** Called when an import that started has ended. */
  onEnd(): void | Promise<void>;
  /** How long another write waits for an import, in milliseconds. */
  maxWaitMs: number;
  expectedEnd: ExpectedEnd;
}

/** The longest estimate, in seconds. */
const maxSecondsLeft = 3_600;

/** When the import in progress will probably end, in memory that threads can share. */
export class ExpectedEnd {
  readonly #cell: Int32Array;
  readonly #now: () => number;

  /** `memory` has one place: the time in seconds, or 0 if nothing is known. */
  constructor(memory: Int32Array = new Int32Array(1), now = Date.now) {
    this.#cell = memory;
    this.#now = now;
  }

  /** Notes how far an import is: it has added `done` of `total` characters, and has needed `elapsedMs`. */
  note(elapsedMs: number, done: number, total: number): void {
    if (done === 0) return;
    const left = Math.min((elapsedMs * Math.max(0, total - done)) / done, maxSecondsLeft * 1_000);
    Atomics.store(this.#cell, 0, Math.ceil((this.#now() + left) / 1_000) | 0);
  }

  /** Forgets the estimate. */
  forget(): void {
    Atomics.store(this.#cell, 0, 0);
  }

  /** In how many seconds it will end: at least 1. If nothing is known, as many as a write has waited until now. */
  secondsLeft(waitedMs = 0): number {
    const end = Atomics.load(this.#cell, 0);
    const left = end === 0 ? Math.ceil(waitedMs / 1_000) : (end - Math.floor(this.#now() / 1_000)) | 0;
    return Math.min(Math.max(left, 1), maxSecondsLeft);
  }
}

/** Starts imports, and knows the one in progress. */
export class Loads {
  readonly #parts: LoadsParts;
  #started: Promise<CurrentLoad> | undefined;
  #isExclusive = false;
  /** Resolves when the import or the exclusive work in progress has ended. */
  #ended: PromiseWithResolvers<void> | undefined;

  constructor(parts: LoadsParts) {
    this.#parts = parts;
  }

  get isInProgress(): boolean {
    return this.#started !== undefined || this.#isExclusive;
  }

  /**
   * Waits until the import in progress has ended. Throws UNAVAILABLE if that takes too long. Another import can start before
   * the caller continues: a write must check `isInProgress` again, and then send its request without another wait.
   */
  async untilNone(): Promise<void> {
    const waited = new AbortController();
    const { signal } = waited;
    const over = delay(this.#parts.maxWaitMs, true, { signal, ref: false }).catch(() => false);
    try {
      if (await Promise.race([this.#ended?.promise, over])) throw this.#inProgress(this.#parts.maxWaitMs);
    } finally {
      waited.abort();
    }
  }

  /** Starts an import, as `load` of a store does. From the call on, nothing else writes. Throws UNAVAILABLE. */
  begin(
    into: string | CollectionRecord,
    { among = [], principal = null, length = 0, at }: LoadOptions = {},
  ): Promise<Load> {
    if (this.isInProgress) throw this.#inProgress();
    this.#ended = Promise.withResolvers();
    this.#started = this.#start(into, { among, principal, length, at });
    return this.#started;
  }

  /** Does work while nothing else writes, as `exclusively` of a store. Throws UNAVAILABLE. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    if (this.isInProgress) throw this.#inProgress();
    this.#ended = Promise.withResolvers();
    this.#isExclusive = true;
    try {
      return await this.#holding(async () => {
        await this.#parts.drained?.();
        return work();
      });
    } finally {
      this.#isExclusive = false;
      this.#letOthersWrite();
    }
  }

  /** Cancels the import in progress, if there is one. */
  async cancel(): Promise<void> {
    const load = await this.#started?.catch(() => undefined);
    await load?.cancel();
  }

  async #start(
    into: string | CollectionRecord,
    options: Required<Omit<LoadOptions, "at">> & { at: number | undefined },
  ): Promise<CurrentLoad> {
    try {
      await this.#parts.hold?.();
    } catch (error) {
      this.#letOthersWrite();
      throw error instanceof WorkInProgress ? this.#inProgress() : error;
    }
    const { expectedEnd } = this.#parts;
    const since = performance.now();
    const noteDone = (done: number) => {
      if (options.length > 0) expectedEnd.note(performance.now() - since, done, options.length);
    };
    try {
      await this.#parts.drained?.();
      const transaction = await this.#parts.begin(into, { ...options, at: options.at ?? Date.now() });
      return new CurrentLoad(transaction, noteDone, () => this.#end());
    } catch (error) {
      await this.#parts.release?.();
      this.#letOthersWrite();
      throw error;
    }
  }

  async #holding<T>(work: () => Promise<T>): Promise<T> {
    await this.#parts.hold?.();
    try {
      return await work();
    } finally {
      await this.#parts.release?.();
    }
  }

  async #end(): Promise<void> {
    this.#parts.expectedEnd.forget();
    try {
      await this.#parts.onEnd();
    } finally {
      await this.#parts.release?.();
      this.#letOthersWrite();
    }
  }

  #inProgress(waitedMs?: number): Problem {
    return inProgress(this.#parts.expectedEnd.secondsLeft(waitedMs));
  }

  #letOthersWrite(): void {
    this.#started = undefined;
    this.#ended?.resolve();
  }
}

/** An import or exclusive work keeps others from writing. Nothing was written. */
export class WorkInProgress extends Problem {
  /** `seconds`: when the client should try again. @default the response does not say it */
  constructor(seconds?: number) {
    const headers = seconds === undefined ? {} : { "retry-after": String(seconds) };
    super("UNAVAILABLE", "An import or a rewind is in progress. Nothing was written. Try again.", {
      headers,
    });
  }
}

/** The waits between two attempts to start, in milliseconds. */
const startBounds = { first: 5, most: 200 };

/**
 * Starts an import or exclusive work as soon as no other is in progress, in this thread and in others. Throws UNAVAILABLE if that
 * takes longer than `maxWaitMs`, and what `start` throws.
 */
export async function startWhenFree<T>(start: () => Promise<T>, maxWaitMs: number): Promise<T> {
  const since = performance.now();
  const nextWait = createBackOff(startBounds);
  for (;;) {
    try {
      return await start();
    } catch (error) {
      const isOver = performance.now() - since > maxWaitMs;
      if (isOver || !(error instanceof WorkInProgress)) throw error;
    }
    await delay(nextWait());
  }
}

/** The problem of a write that cannot wait longer. `seconds`: when it should try again. */
export function inProgress(seconds = 1): Problem {
  return new WorkInProgress(seconds);
}

/** An import in progress. After a failure it can only end, and then the store is unchanged. */
class CurrentLoad implements Load {
  readonly #transaction: LoadTransaction;
  readonly #noteDone: (length: number) => void;
  readonly #onEnd: () => Promise<void>;
  #length = 0;
  #failure: unknown;
  #hasEnded = false;

  /** `noteDone` receives the length of all ids and texts that were added. */
  constructor(transaction: LoadTransaction, noteDone: (length: number) => void, onEnd: () => Promise<void>) {
    this.#transaction = transaction;
    this.#noteDone = noteDone;
    this.#onEnd = onEnd;
  }

  next(collection: CollectionRecord): Promise<void> {
    return this.#step(() => this.#transaction.next(collection));
  }

  async add(resources: readonly ImportedResource[]): Promise<Added> {
    const added = await this.#step(() => this.#transaction.add(resources));
    this.#length = resources.reduce((sum, { id, text }) => sum + id.length + text.length, this.#length);
    this.#noteDone(this.#length);
    return added;
  }

  holders(unique: Unique, values: readonly string[]): Promise<readonly (Stored | undefined)[]> {
    return this.#step(() => this.#transaction.holders(unique, values));
  }

  reserveIds(n: number): Promise<number> {
    return this.#step(() => this.#transaction.reserve(n));
  }

  async tryOut(): Promise<void> {
    try {
      await this.#step(() => this.#transaction.check());
    } finally {
      await this.cancel();
    }
  }

  async finish(): Promise<void> {
    try {
      await this.#step(() => this.#transaction.commit());
    } catch (error) {
      await this.cancel().catch(() => {}); // the first error is the one to report
      throw error;
    }
    await this.#end();
  }

  async cancel(): Promise<void> {
    await this.#end(() => this.#transaction.rollBack());
  }

  async #end(rollBack?: () => Promise<void>): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    try {
      await rollBack?.();
    } finally {
      await this.#onEnd();
    }
  }

  async #step<T>(step: () => Promise<T>): Promise<T> {
    if (this.#hasEnded) throw new Error("The import has ended.");
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return await step();
    } catch (error) {
      this.#failure ??= error;
      throw this.#failure;
    }
  }
}
