import { formatSpread, type Spread } from "../harness/figure.ts";
import type { Progress } from "../report/progress.ts";
import type { Results } from "../report/results.ts";
import type { Subject } from "./subject.ts";

/** Receives the progress of a measurement. */
export interface Witness {
  /** A round of a subject is over. `ratio` is that of Holdfast to it so far, unless it is Holdfast itself. */
  onRound(subject: Subject, ratio?: Spread): void;
  /** A subject failed. The measurement continues with the others. */
  onFailure(subject: Subject, reason: string): void;
}

/** Moves the bar on, and keeps failures with the results. */
export function witnessOf(progress: Progress, results: Results, what: string): Witness {
  return {
    onRound: ({ name }, ratio) =>
      progress.step(`${what}: ${name}${ratio === undefined ? "" : ` ${formatSpread(ratio)}`}`),
    onFailure: ({ name }, reason) => void results.absent.push({ title: `${name}: ${what}`, reason }),
  };
}
