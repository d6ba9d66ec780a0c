/**
 * Counts the requests of many callers in windows of time. A caller's window starts with its first request. All threads of the
 * process count together. The number of callers is limited: with more callers than that, the oldest windows are removed.
 */
import { clockSeconds } from "../../counters.ts";
import type { Rate } from "../settings.ts";
import type { CallerHash } from "./caller-hash.ts";
import type { SharedLimits } from "./shared.ts";
import { type Window, Windows, type WindowsMemory } from "./windows.ts";

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
  /** A clock in milliseconds that never goes back, and is the same in all threads. @default clockSeconds */
  clock?: () => number;
}

/** The counts of many callers. */
export class RateCounts {
  readonly rate: Rate;
  readonly #hash: CallerHash;
  readonly #parts: readonly Windows[];

  constructor(
    rate: Rate,
    { slots, parts }: WindowsMemory,
    {
      hash,
      thread,
      clock = () => clockSeconds() * 1_000,
    }: Pick<SharedLimits, "hash" | "thread"> & RateCountsOptions,
  ) {
    this.rate = rate;
    this.#hash = hash;
    const options = { thread, clock, lengthMs: rate.perSeconds * 1_000 };
    this.#parts = parts.map((part) => new Windows(part, slots, options));
  }

  /** Counts a request. */
  take(caller: string): Quota {
    const number = this.#hash(caller);
    return this.#quotaOf(this.#partOf(number).take(number));
  }

  /** What is left, without counting. */
  look(caller: string): Quota {
    const number = this.#hash(caller);
    return this.#quotaOf(this.#partOf(number).look(number));
  }

  /** How many callers are counted. */
  size(): number {
    return this.#parts.reduce((sum, part) => sum + part.size, 0);
  }

  /** By the high bits: a part uses the low ones. */
  #partOf(caller: number): Windows {
    return this.#parts[Math.floor(caller / 2 ** 32) % this.#parts.length] as Windows;
  }

  #quotaOf({ requests, leftMs }: Window): Quota {
    return {
      remaining: Math.max(0, this.rate.requests - requests),
      resetSeconds: Math.ceil(leftMs / 1_000),
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

/** The quotas of all callers, as one thread sees them. */
export function createQuotas(rate: Rate, shared: SharedLimits, options?: RateCountsOptions): Quotas {
  const { hash, thread, memory } = shared;
  const both = { ...options, hash, thread };
  return {
    principals: new RateCounts(rate, memory.principals, both),
    addresses: new RateCounts(rate, memory.addresses, both),
  };
}
