/** Runs test files, each in its own process, several at a time. */
import { enableCompileCache } from "node:module";
import { availableParallelism } from "node:os";
import { run } from "node:test";
import type { TestEvent } from "node:test/reporters";
import { type Line, lineOf } from "./lines.ts";
import { Printer } from "./printer.ts";
import { describeFailure, type Results, resultsOf, sum } from "./results.ts";

/** One file to run. */
export interface Job {
  file: string;
  /** The kind of store for its services. @default the value of HOLDFAST_TEST_STORE */
  store?: "sqlite" | "postgres";
}

/** How files are run. */
export interface RunOptions {
  /** Options of Node for each file, such as `--test-name-pattern=…`. */
  options?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** The time limit of one test, in milliseconds. @default much longer than a busy machine needs */
  ceilingMs?: number;
}

/** Every file loads most of the sources. With this cache, only the first one strips their types and compiles them. */
const { directory: compiled } = enableCompileCache();

/** More files than processors: many of them wait for disks, databases and clocks half of their time. */
const filesAtOnce = 2 * availableParallelism();

const defaultCeilingMs = 600_000;

/** After so many files, a long run prints how far it is. */
const filesBetweenProgress = 25;

const end = new AbortController();
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    interrupted.abort();
    end.abort();
  });

/** Aborted when SIGINT or SIGTERM stops the tests or a proof. */
export const interruption: AbortSignal = interrupted.signal;

/** Whether a signal has ended the tests. */
export function isInterrupted(): boolean {
  return interrupted.signal.aborted;
}

/** Runs files, in this order, and prints their tests. */
export async function runTests(jobs: readonly Job[], options: RunOptions = {}): Promise<Results> {
  const how = { options: [], env: {}, ceilingMs: defaultCeilingMs, ...options };
  const begun = performance.now();
  const printer = new Printer({ isLive: jobs.length === 1 });
  end.signal.addEventListener("abort", () => {
    if (isInterrupted()) printer.silence(); // it would print tests that have not run as failures
  });
  // If no test starts or ends for this time, a file hangs that cannot be ended in another way.
  const silence = setTimeout(() => end.abort(), 2 * how.ceilingMs);
  const waiting = [...jobs];
  const results: Results[] = [];
  const isLong = jobs.length > filesAtOnce;
  let failed = 0;
  const runWaiting = async () => {
    for (let job = waiting.shift(); job !== undefined && !end.signal.aborted; job = waiting.shift()) {
      const block = printer.begin();
      const lines: Line[] = [];
      for await (const event of start(job, how)) {
        silence.refresh();
        block.print(event);
        const line = lineOf(event);
        if (line !== undefined) lines.push(line);
        if (line?.kind === "failed") {
          failed += 1;
          if (isLong) printer.say(describeFailure(line));
        }
      }
      block.end();
      results.push(resultsOf(lines, job.store === "postgres" ? " (on PostgreSQL)" : ""));
      if (isLong && results.length % filesBetweenProgress === 0) {
        const minutes = Math.round((performance.now() - begun) / 60_000);
        printer.say(`${results.length} of ${jobs.length} files, ${failed} failed tests, ${minutes} min`);
      }
    }
  };
  await Promise.all(Array.from({ length: filesAtOnce }, runWaiting));
  clearTimeout(silence);
  results.push({ passed: 0, failed: waiting.map(({ file }) => ({ test: file, error: hung })), skipped: [] });
  await printer.close(performance.now() - begun);
  return sum(results);
}

const hung = "The file did not run, because another file hung.";

/** Starts the process of a file. */
function start(
  { file, store }: Job,
  { options, env, ceilingMs }: Required<RunOptions>,
): AsyncIterable<TestEvent> {
  return run({
    files: [file],
    execArgv: [`--test-timeout=${ceilingMs}`, ...options],
    env: {
      ...process.env,
      ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
      ...env,
      ...(store === undefined ? {} : { HOLDFAST_TEST_STORE: store }),
    },
    signal: end.signal,
  });
}
