/** Repeats work after a failure that can pass: a lost connection, a server that is read-only, or a conflict. */
import { setTimeout as pass } from "node:timers/promises";
import { failureOf } from "./failures.ts";

/** Work that took longer than this is not repeated, because its caller has waited long enough. In milliseconds. */
const quickMs = 1_500;

/**
 * Whether the connection was lost so soon that another attempt costs little. `since`: the start, from
 * `performance.now`.
 */
export function isQuickLoss(error: unknown, since: number): boolean {
  const failure = failureOf(error);
  return (failure === "lost" || failure === "readOnly") && performance.now() - since < quickMs;
}

/** Does work, and repeats it after a quick loss. Repeating the work must do no harm. */
export async function retryOnce<T>(work: () => Promise<T>): Promise<T> {
  const since = performance.now();
  try {
    return await work();
  } catch (error) {
    if (!isQuickLoss(error, since)) throw error;
    return work();
  }
}

/** Does work, at most `maxTries` times, until no other service interferes. The pauses between the attempts are random. */
export async function retryConflicts(maxTries: number, work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (failureOf(error) !== "conflict" || tries === maxTries) throw error;
      await pass(Math.random() * 20 * tries);
    }
  }
}
