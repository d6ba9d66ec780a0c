/** The time, and how to wait for it. Tests bring a clock of their own. */
import { setTimeout as sleep } from "node:timers/promises";

/** A clock, which tests replace. */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
  /** Resolves at this time, or when the signal is aborted. */
  until(at: number, signal: AbortSignal): Promise<void>;
}

/** The clock of a service. */
export interface ServiceClock extends Clock {
  /** Calls back once, after this many milliseconds. In a test, they also pass when it moves the clock. Returns what cancels this. */
  startTimer(ms: number, callback: () => void): () => void;
}

/** A timer of this machine, as `startTimer` of a clock. It keeps no process running. */
export function startTimer(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms).unref();
  return () => clearTimeout(timer);
}

/** The clock of this machine. */
export function systemClock(now: () => number): ServiceClock {
  return {
    now,
    startTimer,
    // A longer timer would fire at once. Callers look at the clock again.
    until: (at, signal) =>
      sleep(Math.min(Math.max(0, at - now()), 2 ** 31 - 1), undefined, { signal }).catch(() => {}),
  };
}
