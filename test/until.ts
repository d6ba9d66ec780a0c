/** How tests wait: for a state, never for a time. A busy machine makes them slower, not red. */
import { setTimeout as pass } from "node:timers/promises";

/** How long a test waits for a state before it fails: far longer than a busy machine needs. */
export const ceilingMs = 60_000;

/** Waits until a condition is true. Throws after `ceilingMs`. `what` completes "It did not come to be that …". */
export async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const begun = performance.now();
  while (!(await isSo())) {
    if (performance.now() - begun > ceilingMs)
      throw new Error(`It did not come to be that ${what}, in ${ceilingMs / 1_000} s.`);
    await pass(10);
  }
}
