/**
 * Proofs at full length: what the tests do in small. `npm run prove` runs all of them, one after the other; with names it runs
 * those. An interrupted proof continues where it stopped.
 */
import { randomInt } from "node:crypto";
import { proveNoPowerLoss } from "./explorer/prove.ts";
import { proveCut } from "./faults/cut.ts";
import { proveFaultsNoticed } from "./faults/prove.ts";
import { fullVariable } from "./first-hour/clone.ts";
import { keepFailedSeed } from "./runner/failed-seeds.ts";
import { type Job, jobsOf, nameOf, testFileOf, tiers } from "./runner/names.ts";
import { describeResults } from "./runner/results.ts";
import { interruption, isInterrupted, runTests } from "./runner/run-tests.ts";
import { proveNoGrowth } from "./soak/prove.ts";

/** The files that kill the service, the database or the receiver of a webhook. */
const killFiles = ["kill", "retry", "feed-kill", "rewind-kill", "import-kill", "task-kill"]
  .map((name) => `test/durability/${name}`)
  .concat("test/capabilities/webhooks/kill");

const proofs: Record<string, () => Promise<boolean>> = {
  files: () => run(jobsOf("prove"), {}),
  explorer: () => proveNoPowerLoss(interruption),
  faults: () => proveFaultsNoticed(interruption),
  cut: () => proveCut(interruption),
  models: () =>
    runAtLength(["test/store/sqlite-model", "test/store/postgres-model", "test/store/joined"], {
      HOLDFAST_TEST_RUNS: "500",
      HOLDFAST_TEST_KILLS: "200",
    }),
  lists: () =>
    runAtLength(["test/store/sqlite-whole", "test/store/postgres", "test/store/past-lists"], {
      HOLDFAST_TEST_QUERY_RUNS: "1500",
      HOLDFAST_TEST_RUNS: "200",
    }),
  threads: async () => {
    const files = ["linearizability/threads", "threads/idempotency", "threads/streams"];
    const isRight = await runAtLength(
      files.map((name) => `test/${name}`),
      { HOLDFAST_TEST_RUNS: "1000", HOLDFAST_TEST_ROUNDS: "40" },
    );
    const rules = ["test/threads/related-rules", "test/postgres/related-rules"];
    const areRulesRight = await runAtLength(rules, { HOLDFAST_TEST_ROUNDS: "200" });
    const kills = { HOLDFAST_TEST_KILLS: "100", HOLDFAST_TEST_THREADS: "4" };
    return (await runAtLength(killFiles, kills)) && isRight && areRulesRight;
  },
  figures: () =>
    runAtLength(["test/store/sqlite-figures", "test/store/postgres-figures"], {
      HOLDFAST_TEST_FIGURE_RUNS: "450",
    }),
  related: () =>
    runAtLength(["test/store/sqlite-related", "test/store/postgres-related", "test/http/related-oracle"], {
      HOLDFAST_TEST_RELATED_RUNS: "2000",
    }),
  tasks: () =>
    runAtLength(["test/durability/task-kill"], {
      HOLDFAST_TEST_TASK_RESOURCES: "1000000",
      HOLDFAST_TEST_TASK_WRITERS: "32",
      HOLDFAST_TEST_KILLS: "5",
    }),
  code: () =>
    runAtLength(
      [
        "test/capabilities/code/every-write",
        "test/capabilities/code/hook-instances",
        "test/capabilities/code/consumer-kills",
        "test/capabilities/code/job-instances",
      ],
      {
        HOLDFAST_TEST_RUNS: "2000",
        HOLDFAST_TEST_INCREMENTS: "100",
        HOLDFAST_TEST_KILLS: "100",
        HOLDFAST_TEST_ROUNDS: "20",
      },
    ),
  recompute: () =>
    runAtLength(["test/capabilities/code/recompute-kill"], {
      HOLDFAST_TEST_RECOMPUTE: "1000000",
      HOLDFAST_TEST_WRITERS: "16",
      HOLDFAST_TEST_KILLS: "3",
    }),
  bits: () => runAtLength(["test/commands/flipped-bits"], { HOLDFAST_TEST_BITS: "2000" }),
  rewind: () =>
    runAtLength(["test/store/sqlite-rewind", "test/store/postgres-rewind", "test/http/rewind-load"], {
      HOLDFAST_TEST_REWIND_RUNS: "1000",
    }),
  users: () =>
    runAtLength(
      [
        "test/capabilities/users/http/alike",
        "test/capabilities/users/http/hijack",
        "test/capabilities/users/ended-sessions",
        "test/capabilities/users/kill",
      ],
      {
        HOLDFAST_TEST_GUESSES: "10000",
        HOLDFAST_TEST_ORDERS: "all",
        HOLDFAST_TEST_ROUNDS: "2000",
        HOLDFAST_TEST_TIMES: "yes",
        HOLDFAST_TEST_RACES: "1000",
        HOLDFAST_TEST_KILLS: "200",
      },
    ),
  kills: () => runAtLength(killFiles, { HOLDFAST_TEST_KILLS: "200" }),
  feed: () => runAtLength(["test/changes/feed-property"], { HOLDFAST_TEST_RUNS: "1000" }),
  changes: () => runAtLength(["test/http/changes-property"], { HOLDFAST_TEST_RUNS: "1000" }),
  "lost-updates": () =>
    runAtLength(["test/http/lost-updates", "test/http/update"], {
      HOLDFAST_TEST_ROUNDS: "400",
    }),
  processes: () => runAtLength(["test/postgres/processes"], { HOLDFAST_TEST_LOAD_MS: "300000" }),
  console: () =>
    runAtLength(["test/browser/console/large-list", "test/browser/console/screens"], {
      HOLDFAST_TEST_CONSOLE_RESOURCES: "100000",
      HOLDFAST_TEST_RUNS: "1",
    }),
  container: () => runAtLength(["test/deploy/image"], { HOLDFAST_TEST_IMAGE: "yes" }),
  bench: () => runAtLength(["test/bench/parts"], { HOLDFAST_TEST_BENCH: "all" }),
  soak: () => proveNoGrowth(interruption),
  "first-hour": () => runAtLength(["test/first-hour"], { [fullVariable]: "yes" }),
};

/** What shells report for a program that Ctrl-C ended. */
const interruptedStatus = 130;

const dayMs = 86_400_000;

/** Each run of the proofs makes other random choices. */
const seed = Number(process.env.HOLDFAST_TEST_SEED ?? randomInt(2 ** 31));

/** Runs files of tests with what makes them long, unless the environment says otherwise. */
function runAtLength(subjects: readonly string[], long: Record<string, string>): Promise<boolean> {
  const files = new Set(subjects.map(testFileOf));
  return run(
    tiers.flatMap(jobsOf).filter(({ file }) => files.has(file)),
    Object.fromEntries(Object.entries(long).map(([name, value]) => [name, process.env[name] ?? value])),
  );
}

/** Returns whether all tests passed. Keeps the seed of each random test that failed. */
async function run(jobs: readonly Job[], long: Record<string, string>): Promise<boolean> {
  const env = { ...long, HOLDFAST_TEST_SEED: String(seed) };
  const results = await runTests(jobs, { env, ceilingMs: dayMs });
  for (const { random } of results.failed)
    if (random !== undefined) keepFailedSeed({ ...random, file: nameOf(random.file).subject, seed });
  console.log(describeResults(results));
  return results.failed.length === 0;
}

const names = process.argv.slice(2);
const unknown = names.find((name) => !(name in proofs));
if (unknown !== undefined) {
  console.error(`There is no proof "${unknown}". The proofs are: ${Object.keys(proofs).join(", ")}.`);
  process.exit(1);
}
console.log(`HOLDFAST_TEST_SEED=${seed}`);
for (const name of names.length > 0 ? names : Object.keys(proofs)) {
  console.log(`\n${name}`);
  try {
    if (!(await proofs[name]?.())) process.exitCode = 1;
  } catch (error) {
    if (!isInterrupted()) throw error; // it ends in the middle, and its programs get the signal too
  }
  if (isInterrupted()) {
    console.log(`\n${name} was stopped. Run it again to continue.`);
    process.exitCode = interruptedStatus;
    break;
  }
}
