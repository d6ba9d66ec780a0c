/** Whether the tests notice the faults: with each fault in memory, the test that its row names must fail. */
import { availableParallelism } from "node:os";
import { testFileOf } from "../runner/names.ts";
import { type Results, sum } from "../runner/results.ts";
import { type Fault, faults } from "./faults.ts";
import { type End, type Run, runFile } from "./run.ts";

/** How the faults run. `env` can name a server of PostgreSQL for all of them, as for all files of a run. */
export interface HowToRun extends Pick<Run, "env" | "signal"> {
  /** @default all faults */
  some?: readonly Fault[];
}

/** Runs the test of each fault. The results have one entry for each fault: it has passed if its test fails. Throws if the signal aborts. */
export async function runFaults({ some = faults, ...how }: HowToRun = {}): Promise<Results> {
  return sum(await besideOthers(some, async (fault) => judge(fault, await runTestOf(fault, how))));
}

/** Runs the test that must notice a fault, with the fault in memory. */
export function runTestOf(fault: Fault, how: Pick<Run, "env" | "signal">): Promise<End> {
  const { test, replacements, store } = fault;
  return runFile({ file: testFileOf(fault.noticedBy), test, replacements, store, ...how });
}

/** How many faults run at the same time. A test that hangs leaves its processor to others. */
export const faultsAtOnce = availableParallelism() + 1;

/** Does the work for all of them, for `faultsAtOnce` at a time. */
export async function besideOthers<T, R>(all: readonly T[], work: (each: T) => Promise<R>): Promise<R[]> {
  const waiting = [...all];
  const results: R[] = [];
  const workOn = async () => {
    for (let each = waiting.shift(); each !== undefined; each = waiting.shift())
      results.push(await work(each));
  };
  await Promise.all(Array.from({ length: faultsAtOnce }, workOn));
  return results;
}

/** Judges how the test of a fault ended. Only a failure of the test itself counts: not one of the file before it, and not a wrong title. */
export function judge(fault: Fault, { how, hasBegun, skipped, error }: End): Results {
  const test = `the fault "${fault.name}"`;
  const named = `"${fault.test}" of ${fault.noticedBy}`;
  const repeat = `HOLDFAST_TEST_FAULT=${fault.name} npm run prove -- faults`;
  const fails = (error: string): Results => ({ passed: 0, failed: [{ test, error, repeat }], skipped: [] });
  const [reason] = skipped;
  if (how === "passes" && reason !== undefined) return { passed: 0, failed: [], skipped: [{ test, reason }] };
  if (!hasBegun) return fails(`The test ${named} did not run (${error ?? `the file ${how}`}).`);
  if (how === "breaks") return fails(`The file of ${named} fails as a whole: ${error}`);
  if (how === "passes") return fails(`The test ${named} passes with this fault: ${fault.what}`);
  return { passed: 1, failed: [], skipped: [] };
}
