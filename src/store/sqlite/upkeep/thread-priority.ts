/** The priority of threads that do not answer requests. */
import { setPriority } from "node:os";

const lowerPriority = 10;

/**
 * Gives the calling thread a lower priority than the thread that answers requests. Does this on Linux only: elsewhere it
 * would change the whole process (setpriority(2)).
 */
export function lowerThreadPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(lowerPriority);
  } catch {
    // A sandbox can forbid it. Then reads wait a little longer.
  }
}
