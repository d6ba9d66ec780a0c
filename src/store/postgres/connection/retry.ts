/** Repeats work once after a lost connection, or after the server has become read-only. */
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
