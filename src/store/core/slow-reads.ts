/**
 * The turns of reads that can take long. Callers take turns, so nobody waits for all reads of another caller. While long reads
 * use all their places, each new read first gets a short time in a place of its own: a cheap one needs no more. A read that is
 * unfinished after it waits for a place with the other long reads, and starts again there.
 */

import { Problem } from "../../errors.ts";
import type { ReadClient } from "../port/page.ts";
import { Lines } from "./lines.ts";

/** The result of an attempt that did not end in its time. */
export const unfinished = Symbol("unfinished");

/**
 * Reads for at most `maxMs` milliseconds. Ends early after `signal` is aborted. Settles when it uses nothing any more. It can be
 * called twice.
 */
export type Attempt<T> = (maxMs: number, signal: AbortSignal | undefined) => Promise<T | typeof unfinished>;

/** What the turns depend on. */
export interface SlowReadsOptions {
  /** The longest time of one read, in milliseconds. A read waits for at most twice this time. */
  maxMs: number;
  /** The short time of each new read while all other places are in use, in milliseconds. @default 100 */
  shortMs?: number;
  /** How many reads can wait. @default 1000 */
  maxWaiting?: number;
}

/** How many long reads run at the same time. */
const longPlaces = 2;

/** How many attempts run at the same time: long reads, and one new read with a short time. */
export const slowPlaces = longPlaces + 1;

/** A read that waits or runs. */
interface Read {
  caller: string;
  /** How much longer it can wait, in milliseconds. */
  leftMs: number;
  waitsSince: number;
  timer: NodeJS.Timeout | undefined;
  /** Makes an attempt. Resolves with whether it was the last one. */
  attempt(maxMs: number): Promise<boolean>;
  refuse(reason: unknown): void;
}

/** The slow reads of one store. */
export class SlowReads {
  readonly #maxMs: number;
  readonly #shortMs: number;
  readonly #maxWaiting: number;
  readonly #new = new Lines<Read>();
  /** Reads that need more than a short time. */
  readonly #long = new Lines<Read>();
  #longRunning = 0;
  #isShortRunning = false;
  #closed: unknown;

  constructor({ maxMs, shortMs = 100, maxWaiting = 1_000 }: SlowReadsOptions) {
    this.#maxMs = maxMs;
    this.#shortMs = Math.min(shortMs, maxMs);
    this.#maxWaiting = maxWaiting;
  }

  /**
   * The result of a read, or `unfinished` if it takes longer than `maxMs`. `isLong`: it takes more than a short time. Throws
   * UNAVAILABLE if it waits too long or too many wait, the reason of the client's signal, and what the attempt throws.
   */
  read<T>(
    attempt: Attempt<T>,
    client: ReadClient | undefined,
    { isLong = false } = {},
  ): Promise<T | typeof unfinished> {
    const { caller = "", signal } = client ?? {};
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const { promise, resolve, reject: refuse } = Promise.withResolvers<T | typeof unfinished>();
    const read: Read = {
      caller,
      leftMs: 2 * this.#maxMs,
      waitsSince: 0,
      timer: undefined,
      attempt: async (maxMs) => {
        try {
          const result = await attempt(maxMs, signal);
          if (result === unfinished && maxMs < this.#maxMs && signal?.aborted !== true) return false;
          resolve(result);
        } catch (error) {
          refuse(error);
        }
        return true;
      },
      refuse,
    };
    const abort = () => this.#refuse(read, signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    this.#wait(read, isLong ? this.#long : this.#new);
    return promise.finally(() => signal?.removeEventListener("abort", abort));
  }

  /** Refuses all reads that wait, and all further ones. */
  close(reason: unknown): void {
    this.#closed = reason;
    for (const read of [...this.#new.all(), ...this.#long.all()]) this.#refuse(read, reason);
  }

  #wait(read: Read, lines: Lines<Read>): void {
    if (this.#closed !== undefined) {
      read.refuse(this.#closed);
      return;
    }
    const whenOver = () => this.#refuse(read, this.#busy());
    read.waitsSince = Date.now();
    read.timer = setTimeout(whenOver, read.leftMs);
    lines.add(read);
    this.#startSome();
    if (this.#new.length + this.#long.length > this.#maxWaiting) this.#refuseOne();
  }

  #startSome(): void {
    while (this.#longRunning < longPlaces) {
      const read = this.#long.take() ?? this.#new.take();
      if (read === undefined) return;
      this.#longRunning++;
      this.#start(read, this.#maxMs, () => this.#longRunning--);
    }
    if (this.#isShortRunning) return;
    const read = this.#new.take();
    if (read === undefined) return;
    this.#isShortRunning = true;
    this.#start(read, this.#shortMs, () => {
      this.#isShortRunning = false;
    });
  }

  #start(read: Read, maxMs: number, leavePlace: () => void): void {
    clearTimeout(read.timer);
    read.leftMs -= Date.now() - read.waitsSince;
    void read.attempt(maxMs).then((wasLast) => {
      leavePlace();
      if (wasLast) this.#startSome();
      else this.#wait(read, this.#long);
    });
  }

  /** Ends a read. If it runs, its attempt keeps its place until it ends. */
  #refuse(read: Read, reason: unknown): void {
    clearTimeout(read.timer);
    this.#new.remove(read);
    this.#long.remove(read);
    read.refuse(reason);
  }

  /** Refuses the last read of the caller with the most reads, so that others still have room. */
  #refuseOne(): void {
    const [longest] = [this.#new.longest(), this.#long.longest()].sort((a, b) => b.length - a.length);
    const read = longest?.at(-1);
    if (read !== undefined) this.#refuse(read, this.#busy());
  }

  #busy(): Problem {
    const headers = { "retry-after": String(Math.ceil(this.#maxMs / 1_000)) };
    return new Problem("UNAVAILABLE", "Too many slow lists are waiting. Try again.", { headers });
  }
}
