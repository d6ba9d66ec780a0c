/**
 * Counts requests of many callers in windows of time. Each caller's window begins with its first request. The counts are
 * this process's own, and their number is bounded: where more callers come in one window than are counted, the
 * oldest windows are forgotten.
 */

/** How many requests one caller may make in how many seconds. */
export interface Rate {
  requests: number;
  perSeconds: number;
}

/** What is left to a caller. */
export interface Quota {
  remaining: number;
  /** Until all of it is there again, in whole seconds. */
  resetSeconds: number;
  /** Whether the request that was counted last was one too many. */
  isExceeded: boolean;
}

/** The counts. */
export interface RateCounts {
  readonly rate: Rate;
  /** Counts a request. */
  take(caller: string): Quota;
  /** What is left, without counting. */
  look(caller: string): Quota;
  /** How many callers are counted. */
  size(): number;
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

/** Counts of nothing yet. */
export function createRateCounts(
  rate: Rate,
  { clock = () => performance.now(), maxCallers = 100_000 }: RateCountsOptions = {},
): RateCounts {
  const lengthMs = rate.perSeconds * 1000;
  /** In the order of their beginnings, since a window that begins anew is put at the end. */
  const windows = new Map<string, Window>();

  function makeRoom(now: number): void {
    for (const [caller, { begin }] of windows) {
      if (now - begin < lengthMs && windows.size < maxCallers) return;
      windows.delete(caller);
    }
  }

  function beginWindow(caller: string, now: number): Window {
    windows.delete(caller);
    makeRoom(now);
    const window = { begin: now, requests: 0 };
    windows.set(caller, window);
    return window;
  }

  function quotaOf({ begin, requests }: Window, now: number): Quota {
    return {
      remaining: Math.max(0, rate.requests - requests),
      resetSeconds: Math.ceil((begin + lengthMs - now) / 1000),
      isExceeded: requests > rate.requests,
    };
  }

  function current(caller: string, now: number): Window | undefined {
    const window = windows.get(caller);
    return window !== undefined && now - window.begin < lengthMs ? window : undefined;
  }

  return {
    rate,
    size: () => windows.size,
    take(caller) {
      const now = clock();
      const window = current(caller, now) ?? beginWindow(caller, now);
      window.requests++;
      return quotaOf(window, now);
    },
    look(caller) {
      const now = clock();
      return quotaOf(current(caller, now) ?? { begin: now, requests: 0 }, now);
    },
  };
}
