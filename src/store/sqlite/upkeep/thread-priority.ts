/** Threads that do not answer requests themselves. */
import { setPriority } from "node:os";

const lowerPriority = 10;

/**
 * Where processors are scarce, whoever answers requests goes before the calling thread. On Linux this concerns that
 * thread alone; elsewhere it would be the whole process (setpriority(2)).
 */
export function lowerThreadPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(lowerPriority);
  } catch {
    // A sandbox may forbid it; then reads wait a little longer.
  }
}
