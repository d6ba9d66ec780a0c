/**
 * Counts requests of many callers in windows of time. Each caller's window begins with its first request. The counts are
 * this process's own, and their number is bounded: where more callers come in one window than are counted, the
 * oldest windows are forgotten.
 */
import type { Rate } from "../settings.ts";

/** What is left to a caller. */
export interface Quota {
  remaining: number;
  /** Until all of it is there again, in whole seconds. */
  resetSeconds: number;
  /** Whether the request that was counted last was one too many. */
  isExceeded: boolean;
}

/** What counting stands on. */
export interface RateCountsOptions {
  /** A clock that never goes back, in milliseconds. @default performance.now */
  clock?: () => number;
  /** @default 100000 */
  maxCallers?: number;
}

interface Window {
  begin: number;
  requests: number;
}

/** The counts; of nothing yet. */
export class RateCounts {
  readonly rate: Rate;
  readonly #lengthMs: number;
  readonly #clock: () => number;
  readonly #maxCallers: number;
  /** In the order of their beginnings, since a window that begins anew is put at the end. */
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
    const window = this.#current(caller, now) ?? this.#beginWindow(caller, now);
    window.requests++;
    return this.#quotaOf(window, now);
  }

  /** What is left, without counting. */
  look(caller: string): Quota {
    const now = this.#clock();
    return this.#quotaOf(this.#current(caller, now) ?? { begin: now, requests: 0 }, now);
  }

  /** How many callers are counted. */
  size(): number {
    return this.#windows.size;
  }

  #current(caller: string, now: number): Window | undefined {
    const window = this.#windows.get(caller);
    return window !== undefined && now - window.begin < this.#lengthMs ? window : undefined;
  }

  #beginWindow(caller: string, now: number): Window {
    this.#windows.delete(caller);
    this.#makeRoom(now);
    const window = { begin: now, requests: 0 };
    this.#windows.set(caller, window);
    return window;
  }

  #makeRoom(now: number): void {
    for (const [caller, { begin }] of this.#windows) {
      if (now - begin < this.#lengthMs && this.#windows.size < this.#maxCallers) return;
      this.#windows.delete(caller);
    }
  }

  #quotaOf({ begin, requests }: Window, now: number): Quota {
    return {
      remaining: Math.max(0, this.rate.requests - requests),
      resetSeconds: Math.ceil((begin + this.#lengthMs - now) / 1000),
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
