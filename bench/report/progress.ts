/** How far a run is, on the terminal. */
import { SingleBar } from "cli-progress";

/** Prints the steps of a run. */
export interface Progress {
  /** One step of those that were announced is done. */
  step(what: string): void;
  /** Prints work that is not a step. */
  say(what: string): void;
  stop(): void;
}

/** A bar on standard error; nothing where that is no terminal. */
export function startProgress(steps: number): Progress {
  const format = "[{bar}] {percentage}% {duration_formatted} (about {eta_formatted} left) {what}";
  const bar = new SingleBar({ format, stream: process.stderr, etaBuffer: 50, hideCursor: true, barsize: 25 });
  bar.start(steps, 0, { what: "" });
  return {
    step: (what) => bar.increment(1, { what }),
    say: (what) => bar.update({ what }),
    stop: () => bar.stop(),
  };
}
