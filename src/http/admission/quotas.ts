/**
 * Quotas: how many requests a caller can send in a window of time, and the headers that say so
 * (draft-ietf-httpapi-ratelimit-headers-11). A caller's window starts with its first request. The main thread has the windows.
 * Another thread leases a part of what is left in a window, and counts requests against the lease. So all threads together never
 * allow more than the quota. What other threads have leased and not used is at most a tenth of it.
 */
import { hash } from "node:crypto";
import { networkOf } from "../../access/networks.ts";
import type { Principal } from "../../access/principal.ts";
import { clockSeconds } from "../../counters.ts";
import { Problem } from "../../errors.ts";
import { after } from "../after.ts";
import type { Rate } from "../settings.ts";
import type { ExactCounts } from "./exact-counts.ts";

/** What a caller has left. */
export interface Quota {
  remaining: number;
  /** The time until the whole quota is available again, in whole seconds. */
  resetSeconds: number;
  /** Whether the request that was counted last is over the limit. */
  isExceeded: boolean;
}

/** A part of a quota that one thread can use. */
export interface Lease {
  requests: number;
  /** What the main thread still has. */
  left: number;
  /** When the window ends, in milliseconds of the clock of all threads. */
  end: number;
}

/**
 * The quotas of all callers. Addresses and principals are counted apart, so that many addresses cannot make the service
 * forget what a principal has used.
 */
export type Quotas = Readonly<Record<CallerKind, RateCounts>>;

/** How a caller is known. */
export type CallerKind = "principals" | "addresses";

/** How one thread counts. */
export interface RateOptions {
  threads: number;
  /** Leases of the main thread; absent in the main thread. */
  main?: Pick<ExactCounts, "lease">;
  /** A clock in milliseconds that never goes back, and is the same in all threads. @default clockSeconds */
  clock?: () => number;
  /** The most windows. With more callers, the oldest windows are removed. @default 100000 */
  maxCallers?: number;
}

/** The quotas of all callers, as one thread sees them. */
export function createQuotas(rate: Rate, options: RateOptions): Quotas {
  return {
    principals: new RateCounts("principals", rate, options),
    addresses: new RateCounts("addresses", rate, options),
  };
}

interface Window {
  readonly key: string;
  end: number;
  /** The requests that this thread can still allow. */
  left: number;
  /** What the main thread had left after the last lease; always 0 in the main thread. */
  elsewhere: number;
  /** Resolves with the next lease, if this thread has asked for one. */
  leasing: Promise<void> | undefined;
}

/** The windows of many callers, in one thread. */
export class RateCounts {
  readonly rate: Rate;
  readonly #kind: CallerKind;
  readonly #options: Required<Omit<RateOptions, "main">> & Pick<RateOptions, "main">;
  readonly #windows = new Map<string, Window>();
  /** The windows in the order of their starts, from `#first`. Some of them can have a successor already. */
  #queue: Window[] = [];
  #first = 0;

  constructor(
    kind: CallerKind,
    rate: Rate,
    { clock = () => clockSeconds() * 1_000, maxCallers = 100_000, ...others }: RateOptions,
  ) {
    this.#kind = kind;
    this.rate = rate;
    this.#options = { clock, maxCallers, ...others };
  }

  /** Counts a request: at once, unless this thread needs a lease. */
  take(caller: string): Quota | Promise<Quota> {
    const key = keyOf(caller);
    const window = this.#windowOf(key);
    return needsLease(window) ? this.#takeLater(key) : this.#count(window);
  }

  /** What is left, without counting. A thread that has counted no request of the caller knows of none. */
  look(caller: string): Quota {
    const window = this.#windows.get(keyOf(caller));
    const { requests, perSeconds } = this.rate;
    return window === undefined || this.#isOver(window)
      ? { remaining: requests, resetSeconds: perSeconds, isExceeded: false }
      : this.#quotaOf(window, false);
  }

  /** Gives another thread a part of what is left of a caller's quota. Only for the main thread. */
  lease(key: string): Lease {
    const window = this.#windowOf(key);
    const requests = Math.ceil(window.left / (10 * this.#options.threads));
    window.left -= requests;
    return { requests, left: window.left, end: window.end };
  }

  /** How many callers are counted. */
  get size(): number {
    return this.#windows.size;
  }

  async #takeLater(key: string): Promise<Quota> {
    for (;;) {
      const window = this.#windowOf(key);
      if (!needsLease(window)) return this.#count(window);
      window.leasing ??= this.#renew(window);
      await window.leasing;
    }
  }

  async #renew(window: Window): Promise<void> {
    const lease = await this.#options.main?.lease(this.#kind, window.key);
    window.leasing = undefined;
    if (lease === undefined) return;
    window.left += lease.requests;
    window.elsewhere = lease.left;
    window.end = lease.end;
  }

  #count(window: Window): Quota {
    const isExceeded = window.left === 0;
    if (!isExceeded) window.left--;
    return this.#quotaOf(window, isExceeded);
  }

  #quotaOf({ left, elsewhere, end }: Window, isExceeded: boolean): Quota {
    const resetSeconds = Math.ceil((end - this.#options.clock()) / 1_000);
    return { remaining: left + elsewhere, resetSeconds, isExceeded };
  }

  #windowOf(key: string): Window {
    const found = this.#windows.get(key);
    return found === undefined || this.#isOver(found) ? this.#start(key) : found;
  }

  #isOver({ end }: Window): boolean {
    return end <= this.#options.clock();
  }

  #start(key: string): Window {
    this.#removeOldest();
    const { clock, main } = this.#options;
    const { requests, perSeconds } = this.rate;
    const window = {
      key: copyOf(key),
      end: clock() + perSeconds * 1_000,
      left: main === undefined ? requests : 0,
      elsewhere: main === undefined ? 0 : requests,
      leasing: undefined,
    };
    this.#windows.set(window.key, window);
    this.#queue.push(window);
    return window;
  }

  /** Removes the windows that are over, and the oldest one if there are too many. */
  #removeOldest(): void {
    for (; this.#first < this.#queue.length; this.#first++) {
      const window = this.#queue[this.#first] as Window;
      if (!this.#isOver(window) && this.#windows.size < this.#options.maxCallers) break;
      if (this.#windows.get(window.key) === window) this.#windows.delete(window.key);
    }
    if (this.#first < 1_000 || this.#first < this.#queue.length / 2) return;
    this.#queue = this.#queue.slice(this.#first);
    this.#first = 0;
  }
}

function needsLease({ left, elsewhere }: Window): boolean {
  return left === 0 && elsewhere > 0;
}

/** The key of a caller. A long name does not stay in memory: a hash with as many characters as no short name replaces it. */
export function keyOf(caller: string): string {
  // JSON escapes lone surrogates: as UTF-8, all of them would be the same character.
  return caller.length < 64 ? caller : hash("sha256", JSON.stringify(caller));
}

/** The same text. An address can be a part of a long header, which would stay in memory with it. */
function copyOf(key: string): string {
  return Buffer.from(key, "utf16le").toString("utf16le");
}

/** The client of a request, which counts for its address. */
export interface Counted {
  readonly client: { readonly ip: string | undefined };
}

/** A name of the caller, for all that callers share. A caller without a credential is known by the network of its address. */
export function nameOfCaller(
  { principal }: { readonly principal: Principal | undefined },
  { client }: Counted,
): string {
  return principal === undefined ? `address ${networkOf(client.ip)}` : `principal ${principal.subject}`;
}

/**
 * Counts a request for its principal, or without one for the address that it came from. Requests with an invalid credential
 * count for the address, so that the client learns nothing about the owner of a revoked credential. Throws
 * QUOTA_EXCEEDED.
 */
export function takeFromQuota(
  quotas: Quotas,
  principal: Principal | undefined,
  { client }: Counted,
): Quota | Promise<Quota> {
  const taken =
    principal === undefined
      ? quotas.addresses.take(networkOf(client.ip))
      : quotas.principals.take(principal.subject);
  return after(taken, (quota) => {
    if (quota.isExceeded) throw quotaExceeded(quota, quotas.addresses.rate);
    return quota;
  });
}

/** Adds the headers for the remaining quota of the caller, or of the address if the request was not counted. */
export function addQuotaHeaders(
  headers: Record<string, string>,
  quotas: Quotas,
  quota: Quota | undefined,
  { client }: Counted,
): void {
  const { rate } = quotas.addresses;
  headers["ratelimit-policy"] = `"default";q=${rate.requests};w=${rate.perSeconds}`;
  headers.ratelimit ??= rateLimitOf(quota ?? quotas.addresses.look(networkOf(client.ip)));
}

function rateLimitOf({ remaining, resetSeconds }: Quota): string {
  return `"default";r=${remaining};t=${resetSeconds}`;
}

function quotaExceeded(quota: Quota, { requests, perSeconds }: Rate): Problem {
  const { resetSeconds } = quota;
  return new Problem(
    "QUOTA_EXCEEDED",
    `The limit is ${requests} requests in ${perSeconds} seconds for each caller. Try again in ${resetSeconds} seconds.`,
    { headers: { "retry-after": String(resetSeconds), ratelimit: rateLimitOf(quota) } },
  );
}
