/**
 * Counts the requests of many callers in windows of time. A caller's window starts with its first request. Each process has
 * its own counts. Their number is limited: with more callers than that, the oldest windows are removed.
 */
import type { Rate } from "../settings.ts";

/** What a caller has left. */
export interface Quota {
  remaining: number;
  /** The time until the whole quota is available again, in whole seconds. */
  resetSeconds: number;
  /** Whether the request that was counted last is over the limit. */
  isExceeded: boolean;
}

/** Options for tests. */
export interface RateCountsOptions {
  /** A clock in milliseconds that never goes back. @default performance.now */
  clock?: () => number;
  /** @default 100000 */
  maxCallers?: number;
}

interface Window {
  start: number;
  requests: number;
}

/** The counts of many callers. */
export class RateCounts {
  readonly rate: Rate;
  readonly #lengthMs: number;
  readonly #clock: () => number;
  readonly #maxCallers: number;
  /** In the order of their starts: a new window of a caller is put at the end. */
  readonly #windows = new Map<string, Window>();

  constructor(rate: Rate, { clock = () => performance.now(), maxCallers = 100_000 }: RateCountsOptions = {}) {
    this.rate = rate;
    this.#lengthMs = rate.perSeconds * 1000;
    this.#clock = clock;
    this.#maxCallers = maxCallers;
  }

  /** Counts a request. */
  take(caller: string): Quota {
    const now = this.#clock();
    const window = this.#current(caller, now) ?? this.#startWindow(caller, now);
    window.requests++;
    return this.#quotaOf(window, now);
  }

  /** What is left, without counting. */
  look(caller: string): Quota {
    const now = this.#clock();
    return this.#quotaOf(this.#current(caller, now) ?? { start: now, requests: 0 }, now);
  }

  /** How many callers are counted. */
  size(): number {
    return this.#windows.size;
  }

  #current(caller: string, now: number): Window | undefined {
    const window = this.#windows.get(caller);
    return window !== undefined && now - window.start < this.#lengthMs ? window : undefined;
  }

  #startWindow(caller: string, now: number): Window {
    this.#windows.delete(caller);
    this.#removeOldest(now);
    const window = { start: now, requests: 0 };
    this.#windows.set(caller, window);
    return window;
  }

  #removeOldest(now: number): void {
    for (const [caller, { start }] of this.#windows) {
      if (now - start < this.#lengthMs && this.#windows.size < this.#maxCallers) return;
      this.#windows.delete(caller);
    }
  }

  #quotaOf({ start, requests }: Window, now: number): Quota {
    return {
      remaining: Math.max(0, this.rate.requests - requests),
      resetSeconds: Math.ceil((start + this.#lengthMs - now) / 1000),
      isExceeded: requests > this.rate.requests,
    };
  }
}

/**
 * The quotas of all callers. Addresses and principals are counted apart, so that many addresses cannot make the service
 * forget what a principal has used.
 */
export interface Quotas {
  readonly principals: RateCounts;
  readonly addresses: RateCounts;
}

/** Quotas of which nothing is used. */
export function createQuotas(rate: Rate, options?: RateCountsOptions): Quotas {
  return { principals: new RateCounts(rate, options), addresses: new RateCounts(rate, options) };
}
