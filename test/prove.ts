/**
 * Proofs at full length: what the tests do in small. `npm run prove` runs all of them, one after the other; with names it runs
 * those. An interrupted proof continues where it stopped.
 */
import { proveNoPowerLoss } from "./explorer/prove.ts";
import { proveFaultsNoticed } from "./faults/prove.ts";
import { fullVariable } from "./first-hour/clone.ts";
import { describeResults } from "./runner/results.ts";
import { interruption, isInterrupted, runTests } from "./runner/run-tests.ts";
import { groupsOf } from "./runner/tiers.ts";
import { proveNoGrowth } from "./soak/prove.ts";

/** The files that kill the service, the database or the receiver of a webhook. */
const killFiles = [
  "kill",
  "retry",
  "feed-kill",
  "webhook-kill",
  "rewind-kill",
  "import-kill",
  "task-kill",
].map((name) => `test/durability/${name}.test.ts`);

const proofs: Record<string, () => Promise<boolean>> = {
  explorer: () => proveNoPowerLoss(interruption),
  faults: () => proveFaultsNoticed(interruption),
  models: () =>
    runAtLength(
      ["test/store/sqlite-model.test.ts", "test/store/postgres-model.test.ts", "test/store/joined.test.ts"],
      { HOLDFAST_TEST_RUNS: "500", HOLDFAST_TEST_KILLS: "200" },
    ),
  lists: () =>
    runAtLength(
      ["test/store/sqlite.test.ts", "test/store/postgres.test.ts", "test/store/past-lists.test.ts"],
      { HOLDFAST_TEST_QUERY_RUNS: "1500", HOLDFAST_TEST_RUNS: "200" },
    ),
  threads: async () => {
    const files = ["linearizability/threads", "threads/idempotency", "threads/streams"];
    const isRight = await runAtLength(
      files.map((name) => `test/${name}.test.ts`),
      { HOLDFAST_TEST_RUNS: "1000", HOLDFAST_TEST_ROUNDS: "40" },
    );
    return (
      (await runAtLength(killFiles, { HOLDFAST_TEST_KILLS: "100", HOLDFAST_TEST_THREADS: "4" })) && isRight
    );
  },
  figures: () =>
    runAtLength(["test/store/sqlite-figures.test.ts", "test/store/postgres-figures.test.ts"], {
      HOLDFAST_TEST_FIGURE_RUNS: "450",
    }),
  related: () =>
    runAtLength(
      [
        "test/store/sqlite-related.test.ts",
        "test/store/postgres-related.test.ts",
        "test/http/related-oracle.test.ts",
      ],
      { HOLDFAST_TEST_RELATED_RUNS: "2000" },
    ),
  tasks: () =>
    runAtLength(["test/durability/task-kill.test.ts"], {
      HOLDFAST_TEST_TASK_RESOURCES: "1000000",
      HOLDFAST_TEST_TASK_WRITERS: "32",
      HOLDFAST_TEST_KILLS: "5",
    }),
  rewind: () =>
    runAtLength(
      [
        "test/store/sqlite-rewind.test.ts",
        "test/store/postgres-rewind.test.ts",
        "test/http/rewind-load.test.ts",
      ],
      { HOLDFAST_TEST_REWIND_RUNS: "1000" },
    ),
  users: () =>
    runAtLength(
      [
        "test/http/users/alike.test.ts",
        "test/http/users/hijack.test.ts",
        "test/postgres/ended-sessions.test.ts",
        "test/durability/users-kill.test.ts",
      ],
      {
        HOLDFAST_TEST_GUESSES: "10000",
        HOLDFAST_TEST_ROUNDS: "2000",
        HOLDFAST_TEST_TIMES: "yes",
        HOLDFAST_TEST_RACES: "1000",
        HOLDFAST_TEST_KILLS: "200",
      },
    ),
  kills: () => runAtLength(killFiles, { HOLDFAST_TEST_KILLS: "200" }),
  feed: () => runAtLength(["test/changes/feed-property.test.ts"], { HOLDFAST_TEST_RUNS: "1000" }),
  changes: () => runAtLength(["test/http/changes-property.test.ts"], { HOLDFAST_TEST_RUNS: "1000" }),
  "lost-updates": () =>
    runAtLength(["test/http/lost-updates.test.ts", "test/http/update.test.ts"], {
      HOLDFAST_TEST_ROUNDS: "400",
    }),
  processes: () => runAtLength(["test/postgres/processes.test.ts"], { HOLDFAST_TEST_LOAD_MS: "300000" }),
  console: () =>
    runAtLength(["test/browser/console/large-list.test.ts", "test/browser/console/screens.test.ts"], {
      HOLDFAST_TEST_CONSOLE_RESOURCES: "100000",
      HOLDFAST_TEST_RUNS: "1",
    }),
  container: () => runAtLength(["test/deploy/image.test.ts"], { HOLDFAST_TEST_IMAGE: "yes" }),
  bench: () => runAtLength(["test/bench/parts.test.ts"], { HOLDFAST_TEST_BENCH: "all" }),
  soak: () => proveNoGrowth(interruption),
  "first-hour": () => runAtLength(["test/first-hour.test.ts"], { [fullVariable]: "yes" }),
};

/** What shells report for a program that Ctrl-C ended. */
const interruptedStatus = 130;

const dayMs = 86_400_000;

/** Runs files of tests with what makes them long, unless the environment says otherwise. */
async function runAtLength(files: readonly string[], long: Record<string, string>): Promise<boolean> {
  const env = Object.fromEntries(
    Object.entries(long).map(([name, value]) => [name, process.env[name] ?? value]),
  );
  const groups = groupsOf(["fast", "middle", "slow"]).map((group) => ({
    ...group,
    files: group.files.filter((file) => files.includes(file)),
  }));
  const results = await runTests(groups, { env, ceilingMs: dayMs });
  console.log(describeResults(results));
  return results.failed.length === 0;
}

const names = process.argv.slice(2);
const unknown = names.find((name) => !(name in proofs));
if (unknown !== undefined) {
  console.error(`There is no proof "${unknown}". The proofs are: ${Object.keys(proofs).join(", ")}.`);
  process.exit(1);
}
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
