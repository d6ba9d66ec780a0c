/** Node's test runner as a program, with a ceiling for what hangs. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type Results, readResults } from "./results.ts";

/** Two files at least: most of them wait for disks, databases and clocks half of their time. */
const filesAtOnce = Math.max(2, availableParallelism() - 1);

/** A test that has not ended after so long fails by its name, in milliseconds: far longer than a busy machine needs. */
const testCeilingMs = 600_000;

/** Where no test has begun or ended for so long, a file hangs that the runner cannot end, in milliseconds. */
const silenceMs = 1_200_000;

const reporter = join(import.meta.dirname, "reporter.ts");

let running: ChildProcess | undefined;
let wasInterrupted = false;
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    wasInterrupted = true;
    running?.stdout?.unpipe().resume(); // the runner would print every file that has not run as a failure
    running?.kill(signal);
  });

/** Whether a signal has ended the tests. */
export function isInterrupted(): boolean {
  return wasInterrupted;
}

/** Runs tests and prints as they end. `args` are the runner's: options and files. */
export async function runTests(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Results & { status: number }> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-results-"));
  const path = join(folder, "results.ndjson");
  writeFileSync(path, "");
  const child = spawn(process.execPath, [...optionsFor(args, path), ...args], {
    stdio: ["inherit", "pipe", "inherit"],
    env: { ...process.env, ...(process.stdout.isTTY ? { FORCE_COLOR: "1" } : {}), ...env },
  });
  child.stdout.pipe(process.stdout, { end: false });
  running = child;
  const watch = setInterval(() => {
    if (Date.now() - statSync(path).mtimeMs > silenceMs) child.kill("SIGTERM");
  }, 10_000);
  const [status] = (await once(child, "exit")) as [number | null];
  clearInterval(watch);
  const results = readResults(path);
  rmSync(folder, { recursive: true });
  return { ...results, status: status ?? 1 };
}

function optionsFor(args: readonly string[], path: string): string[] {
  const chosen = args.find((each) => each.startsWith("--test-reporter="));
  return [
    "--conditions=holdfast-source",
    "--test",
    `--test-concurrency=${filesAtOnce}`,
    `--test-timeout=${testCeilingMs}`,
    `--test-reporter=${reporter}`,
    `--test-reporter-destination=${path}`,
    ...(chosen === undefined ? ["--test-reporter=spec"] : []),
    "--test-reporter-destination=stdout",
  ];
}
