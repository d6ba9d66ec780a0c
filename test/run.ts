/**
 * Runs all tests, those of the HTTP interface on each store, and then looks whether each answer that a document of the interface
 * tells of was given at least once. With arguments, which Node's test runner gets, not all of them may run: they run once, on
 * SQLite or what HOLDFAST_TEST_STORE says, and nothing is looked for. In the end it prints what failed, what was skipped and
 * what is missing for it, and how many tests there were.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { folderVariable, neverSeen } from "./http/described/seen-answers.ts";
import { describeResults, type Results, sum } from "./runner/results.ts";
import { isInterrupted, runTests } from "./runner/run-tests.ts";

/** One PostgreSQL for all files of a run. */
const withPostgres = "--test-global-setup=test/postgres/setup.ts";

/** As shells have it for a program that Ctrl-C ended. */
const interruptedStatus = 130;

const given = process.argv.slice(2);
process.exitCode = given.length > 0 ? await runGiven(given) : await runAll();

/** Gives the exit code. */
async function runGiven(args: readonly string[]): Promise<number> {
  const options = args.filter((each) => each.startsWith("-"));
  const files = args.filter((each) => !each.startsWith("-"));
  const results = await runTests([...options, ...(files.length > 0 ? files : ["test/**/*.test.ts"])]);
  return isInterrupted() ? interruptedStatus : finish([results]);
}

async function runAll(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-seen-"));
  const env = { [folderVariable]: folder };
  const onSqlite = await runTests([withPostgres, "test/**/*.test.ts"], env);
  if (isInterrupted()) return interruptedStatus;
  console.log("\nThe HTTP interface on PostgreSQL:\n");
  const onPostgres = await runTests([withPostgres, "test/http/**/*.test.ts"], {
    ...env,
    HOLDFAST_TEST_STORE: "postgres",
  });
  if (isInterrupted()) return interruptedStatus;
  const all = [onSqlite, onPostgres];
  const isRed = all.some(({ status }) => status !== 0);
  const missing = isRed ? [] : neverSeen(folder);
  rmSync(folder, { recursive: true });
  return finish(missing.length === 0 ? all : [...all, unseen(missing)]);
}

/** As the result of a run: some answers are documented, and no test has seen them. */
function unseen(names: readonly string[]): Results & { status: number } {
  const error = `No test produces these documented responses: ${names.join("; ")}`;
  return { passed: 0, failed: [{ test: "the OpenAPI documents", error }], skipped: [], status: 1 };
}

/** Prints the results; gives the exit code. */
function finish(runs: readonly (Results & { status: number })[]): number {
  const results = sum(runs);
  console.log(describeResults(results));
  const status = runs.find((run) => run.status !== 0)?.status ?? 0;
  return status === 0 && results.failed.length > 0 ? 1 : status;
}
