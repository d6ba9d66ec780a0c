/** The clock of a sweep that waits until the test asks for it. */
import type { StartOptions } from "../../src/server.ts";
import { until } from "../until.ts";

/** A clock for `sweepClock`, and the sweep that it starts. */
export function createSweepClock(now: () => number) {
  let go = () => {};
  let waits = 0;
  const clock: NonNullable<StartOptions["sweepClock"]> = {
    now,
    until: (_, signal) => {
      waits++;
      const { promise, resolve } = Promise.withResolvers<void>();
      go = resolve;
      signal.addEventListener("abort", () => resolve());
      return promise;
    },
  };
  return {
    clock,
    /** Sweeps once. */
    async sweep(): Promise<void> {
      const before = waits;
      go();
      await until("the sweep ends", () => waits > before);
    },
  };
}
