/** A clock that stands still until a test moves it. */
import type { Clock } from "../../../../src/clock.ts";
import { machineTime } from "../../../until.ts";

export interface TestClock extends Clock {
  /** Moves the clock to a time, which is not before now. */
  moveTo(at: number): void;
}

export function testClock(start = machineTime()): TestClock {
  let now = start;
  const waiting = new Set<{ at: number; end: () => void }>();
  return {
    now: () => now,
    until: (at, signal) =>
      new Promise((resolve) => {
        const timer = {
          at,
          end: () => {
            waiting.delete(timer);
            signal.removeEventListener("abort", timer.end);
            resolve();
          },
        };
        waiting.add(timer);
        signal.addEventListener("abort", timer.end);
        if (signal.aborted || at <= now) timer.end();
      }),
    moveTo(at) {
      now = Math.max(now, at);
      for (const timer of [...waiting]) if (timer.at <= now) timer.end();
    },
  };
}
