/**
 * Runs all tests, those of the HTTP interface on each store, and then checks that each response that a document of the interface
 * describes was given at least once. With arguments (files, patterns of files, options of Node), only these files run, once, on
 * SQLite or the store that HOLDFAST_TEST_STORE names, and nothing is checked afterwards. `--times` also prints what each file
 * took. At the end, it prints the failed and skipped tests with reasons, and the number of tests.
 */
import { existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { folderVariable, neverSeen } from "./http/described/seen-answers.ts";
import { startPostgres } from "./postgres/server.ts";
import { testFiles } from "./project.ts";
import { allJobs } from "./runner/jobs.ts";
import { describeResults, type Results, sum } from "./runner/results.ts";
import { isInterrupted, type Job, runTests } from "./runner/run-tests.ts";
import { describeTimes, measure } from "./runner/times.ts";

/** What shells report for a program that Ctrl-C ended. */
const interruptedStatus = 130;

const given = process.argv.slice(2);
const options = given.filter((each) => each.startsWith("-") && each !== "--times");
const patterns = given.filter((each) => !each.startsWith("-"));
const times = given.includes("--times") ? measure() : undefined;
const how = { options: [...options, ...(times?.options ?? [])], env: times?.env ?? {} };

const isWhole = patterns.length === 0 && options.length === 0;
const results = isWhole ? await runAll() : await runTests(filesOf(patterns), how);
const table = times === undefined ? [] : [describeTimes(times.read())];
if (!isInterrupted()) for (const text of [...table, describeResults(results)]) console.log(text);
process.exitCode = isInterrupted() ? interruptedStatus : results.failed.length > 0 ? 1 : 0;

/** The files of the command line, or all. */
function filesOf(patterns: readonly string[]): Job[] {
  const found = (patterns.length > 0 ? patterns : testFiles()).map((pattern) =>
    existsSync(pattern) ? [pattern] : globSync(pattern).sort(),
  );
  const missing = patterns.find((_, index) => found[index]?.length === 0);
  if (missing !== undefined) {
    console.error(`There is no file "${missing}".`);
    process.exit(1);
  }
  return found.flat().map((file) => ({ file: resolve(file) }));
}

async function runAll(): Promise<Results> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-seen-"));
  const server = await startPostgres(); // one for all files
  try {
    const env = { ...how.env, [folderVariable]: folder, HOLDFAST_STARTED_POSTGRES: server.url };
    const results = await runTests(allJobs(), { ...how, env });
    const missing = results.failed.length > 0 ? [] : neverSeen(folder);
    return missing.length === 0 ? results : sum([results, unseen(missing)]);
  } finally {
    await server.remove();
    rmSync(folder, { recursive: true });
  }
}

/** As a result: some responses are documented, and no test has seen them. */
function unseen(names: readonly string[]): Results {
  const error = `No test produces these documented responses: ${names.join("; ")}`;
  return { passed: 0, failed: [{ test: "the OpenAPI documents", error }], skipped: [] };
}
