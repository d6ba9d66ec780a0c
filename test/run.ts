/**
 * Runs the tests of `npm test`: the fast files and those in the middle. Then it checks that each response that a document of the
 * interface describes was given at least once. `--fast` runs only the fast files, and `--slow` the slow ones. With arguments (files,
 * patterns of files, options of Node), only these files run, once, on SQLite or the store that HOLDFAST_TEST_STORE names: each in its
 * own process, or with `--together` all in one. `--times` also prints what each file took. `--until-failure` ends at the first test that
 * fails. At the end, it prints the failed and skipped tests with reasons, and the number of tests.
 */
import { existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { folderVariable, neverSeen } from "./http/described/seen-answers.ts";
import { startPostgres } from "./postgres/server.ts";
import { describeResults, type Results, sum } from "./runner/results.ts";
import { type Group, isInterrupted, runTests } from "./runner/run-tests.ts";
import { groupsOf, type Tier } from "./runner/tiers.ts";
import { describeTimes, type FileTimes } from "./runner/times.ts";

/** What shells report for a program that Ctrl-C ended. */
const interruptedStatus = 130;

const given = process.argv.slice(2);
const own = ["--times", "--together", "--until-failure", "--fast", "--slow"];
const options = given.filter((each) => each.startsWith("-") && !own.includes(each));
const patterns = given.filter((each) => !each.startsWith("-"));
const times: FileTimes[] = [];
const untilFailure = given.includes("--until-failure");
const how = { options, untilFailure, onTimes: (each: FileTimes) => void times.push(each) };

const results = await runWhatIsAsked();
const table = given.includes("--times") ? [describeTimes(times)] : [];
if (!isInterrupted()) for (const text of [...table, describeResults(results)]) console.log(text);
process.exitCode = isInterrupted() ? interruptedStatus : results.failed.length > 0 ? 1 : 0;

function runWhatIsAsked(): Promise<Results> {
  if (patterns.length > 0) return runTests(groupsOfPatterns(), how);
  if (given.includes("--fast")) return runTests(groupsOf(["fast"]), how);
  return given.includes("--slow") ? runTiers(["slow"]) : runTiers(["fast", "middle"]);
}

/** The files of the command line: each in its own process unless `--together` is given. */
function groupsOfPatterns(): Group[] {
  const found = patterns.map((pattern) => (existsSync(pattern) ? [pattern] : globSync(pattern).sort()));
  const missing = patterns.find((_, index) => found[index]?.length === 0);
  if (missing !== undefined) {
    console.error(`There is no file "${missing}".`);
    process.exit(1);
  }
  const files = found.flat().map((file) => resolve(file));
  return given.includes("--together") ? [{ files }] : files.map((file) => ({ files: [file] }));
}

async function runTiers(tiers: readonly Tier[]): Promise<Results> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-seen-"));
  const server = await startPostgres(); // one for all files
  try {
    const env = { [folderVariable]: folder, HOLDFAST_TEST_STARTED_POSTGRES: server.url };
    const results = await runTests(groupsOf(tiers), { ...how, env });
    const isWhole = tiers.includes("middle") && options.length === 0;
    // Also after a failure, which would otherwise hide it. A failed file can be the reason of some of these.
    const missing = isWhole ? neverSeen(folder) : [];
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
