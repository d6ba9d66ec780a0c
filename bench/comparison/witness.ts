import type { Progress } from "../report/progress.ts";
import type { Results } from "../report/results.ts";
import type { Subject } from "./subject.ts";

/** Receives the progress of a measurement. */
export interface Witness {
  /** A round of a subject is over. */
  onRound(subject: Subject): void;
  /** A subject failed. The measurement continues with the others. */
  onFailure(subject: Subject, reason: string): void;
}

/** Moves the bar on, and keeps failures with the results. */
export function witnessOf(progress: Progress, results: Results, what: string): Witness {
  return {
    onRound: ({ name }) => progress.step(`${what}: ${name}`),
    onFailure: ({ name }, reason) => void results.absent.push({ title: `${name}: ${what}`, reason }),
  };
}
