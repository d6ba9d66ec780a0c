/**
 * Runs the tests of `npm test`, or with `--all` those of `npm run test:all`. With arguments, it runs only these files, once, on SQLite or the
 * store that HOLDFAST_TEST_STORE names: each argument is the subject of a file, such as `test/http/create`, a file or a pattern of files.
 * Other options go to Node, such as `--test-name-pattern=…`.
 *
 * | option | effect |
 * |---|---|
 * | `--changed`, `--changed=<commit>` | runs only the files that import what has changed since the last commit, or since this one |
 * | `--shard 1/2` | runs the first half of the files |
 * | `--together` | runs the files of the arguments in one process |
 * | `--times` | also prints what each file took |
 * | `--until-failure` | ends at the first test that fails |
 *
 * At the end, it prints the failed and skipped tests with reasons, the time, and the number of tests.
 */
import { globSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { faults } from "./faults/faults.ts";
import { faultsAtOnce, runFaults } from "./faults/noticed.ts";
import { folderVariable, keepNames, keptNames, namesIn, neverSeen } from "./http/described/seen-answers.ts";
import { startPostgres } from "./postgres/server.ts";
import { changedFiles, importersOf } from "./runner/changed.ts";
import { jobsOfFailedSeeds } from "./runner/failed-seeds.ts";
import { type Job, jobsOf, testFileOf } from "./runner/names.ts";
import { describeResults, type Results, sum } from "./runner/results.ts";
import { interruption, isInterrupted, runTests } from "./runner/run-tests.ts";
import { type Shard, shardOf } from "./runner/shard.ts";
import { describeRun, describeTimes, type FileTimes } from "./runner/times.ts";

/** What shells report for a program that Ctrl-C ended. */
const interruptedStatus = 130;

const own = /^--(?:all|changed(?:=.*)?|shard(?:=.*)?|together|times|until-failure)$/;
const { flags, options, subjects } = readArguments(process.argv.slice(2));
const times: FileTimes[] = [];
const untilFailure = flags.has("until-failure");
const how = { options, untilFailure, onTimes: (each: FileTimes) => void times.push(each) };

const results = await runWhatIsAsked();
const table = flags.has("times") ? [describeTimes(times)] : [];
if (!isInterrupted())
  for (const text of [...table, describeRun(), describeResults(results)]) console.log(text);
process.exitCode = isInterrupted() ? interruptedStatus : results.failed.length > 0 ? 1 : 0;

function runWhatIsAsked(): Promise<Results> {
  if (subjects.length > 0)
    return runTests(jobsOfArguments(), { ...how, ...(flags.has("together") && { processes: 1 }) });
  return runTier(flags.has("all") ? "all" : "test");
}

/** What the command line says. Options of Node are all that this program does not know. */
function readArguments(args: string[]): Arguments {
  const { tokens } = parseArgs({ args, strict: false, tokens: true, options: { shard: { type: "string" } } });
  const flags = new Map<string, string>();
  const options: string[] = [];
  const subjects: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") subjects.push(token.value);
    if (token.kind !== "option") continue;
    const text = token.value === undefined ? token.rawName : `${token.rawName}=${token.value}`;
    if (own.test(text)) flags.set(token.name, token.value ?? "");
    else options.push(text);
  }
  return { flags, options, subjects };
}

interface Arguments {
  flags: ReadonlyMap<string, string>;
  options: readonly string[];
  subjects: readonly string[];
}

/** The files of the command line: each in its own process unless `--together` is given. */
function jobsOfArguments(): Job[] {
  const isAlone = !flags.has("together");
  return subjects.flatMap(filesNamed).map((file) => ({ file: resolve(file), isAlone }));
}

/** The files that a subject, a path or a pattern names. If no file has the name, it ends the program. */
function filesNamed(text: string): string[] {
  if (statSync(text, { throwIfNoEntry: false })?.isFile()) return [text];
  const found = /[*?{]/.test(text) ? globSync(text).filter((file) => file.endsWith(".test.ts")) : [];
  if (found.length > 0) return found.sort();
  try {
    return [testFileOf(text)];
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(message: string): never {
  console.error(message);
  process.exit(1);
}

/** Runs a tier. `npm test` also repeats what failed in a proof. */
async function runTier(tier: "test" | "all"): Promise<Results> {
  const all = tier === "test" ? [...jobsOf(tier), ...jobsOfFailedSeeds()] : jobsOf(tier);
  const jobs = await chosen(all);
  const isPart = flags.has("changed") || options.length > 0; // then the faults are left out
  const folder = mkdtempSync(join(tmpdir(), "holdfast-seen-"));
  const server = await startPostgres(); // one for all files
  try {
    const env = { [folderVariable]: folder, HOLDFAST_TEST_STARTED_POSTGRES: server.url };
    // The faults run beside the files: each of the two waits for half of its time.
    const ofFaults = tier === "all" && !isPart ? resultsOfFaults(server.url) : undefined;
    // Most files wait for most of their time, and a fault does not.
    const after = ofFaults && { work: ofFaults, processes: 2 * faultsAtOnce };
    const ofFiles = runTests(jobs, { ...how, env, ...(after && { after }) });
    const results = sum(await Promise.all([ofFiles, ...(ofFaults ? [ofFaults] : [])]));
    const isWhole = jobs.length === all.length && !isPart;
    return isWhole ? sum([results, resultsOfDocuments(tier, folder)]) : results;
  } finally {
    await server.remove();
    rmSync(folder, { recursive: true });
  }
}

/** Whether a test notices each fault. */
async function resultsOfFaults(postgres: string): Promise<Results> {
  if (isInterrupted()) return { passed: 0, failed: [], skipped: [] };
  const some = inShard(faults);
  console.log(`${some.length} faults`);
  const env = { HOLDFAST_TEST_STARTED_POSTGRES: postgres };
  return runFaults({ some, env, signal: interruption });
}

/**
 * Whether each response that a document of the interface describes was given at least once, by the tests of `npm test` and of
 * `npm run test:all` together. Also after a failure, which would otherwise hide it: a failed file can be the reason of some.
 */
function resultsOfDocuments(tier: "test" | "all", folder: string): Results {
  const names = namesIn(folder);
  const test = "every documented response is given by some test";
  if (tier === "test") {
    keepNames(names);
    return { passed: 0, failed: [], skipped: [] };
  }
  const before = keptNames();
  if (before === undefined)
    return {
      passed: 0,
      failed: [],
      skipped: [{ test, reason: "needs the responses of npm test: run it first" }],
    };
  const missing = neverSeen([before, names]);
  const failed = [{ test, error: `No test produces these documented responses: ${missing.join("; ")}` }];
  return { passed: missing.length === 0 ? 1 : 0, failed: missing.length === 0 ? [] : failed, skipped: [] };
}

/** What `--changed` and `--shard` leave of the runs. */
async function chosen(jobs: readonly Job[]): Promise<readonly Job[]> {
  const since = flags.get("changed");
  const changed = since === undefined ? undefined : await importersOf(changedFiles(since || "HEAD"));
  const left = changed === undefined ? jobs : jobs.filter(({ file }) => changed.has(file));
  return inShard(left);
}

function inShard<T>(all: readonly T[]): readonly T[] {
  const shard = flags.get("shard");
  return shard === undefined ? all : shardOf(all, readShard(shard));
}

function readShard(text: string): Shard {
  const [, number, of] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (number === undefined || of === undefined || number < 1 || number > of)
    return refuse(`"--shard ${text}" is not understood. Write --shard 1/2 for the first half of the files.`);
  return { number, of };
}
