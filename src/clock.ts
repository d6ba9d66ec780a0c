/** The time, and how to wait for it. Tests bring a clock of their own. */
import { setTimeout as sleep } from "node:timers/promises";

/** A clock, which tests replace. */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
  /** Resolves at this time, or when the signal is aborted. */
  until(at: number, signal: AbortSignal): Promise<void>;
}

/** The clock of this machine. */
export function systemClock(now: () => number): Clock {
  return {
    now,
    // A longer timer would fire at once. Callers look at the clock again.
    until: (at, signal) =>
      sleep(Math.min(Math.max(0, at - now()), 2 ** 31 - 1), undefined, { signal }).catch(() => {}),
  };
}
