/**
 * Proofs at full length: what `npm test` does in small. `npm run prove` runs all of them, one after the other; with names it runs
 * those. A proof that was interrupted goes on where it was.
 */
import { proveNoPowerLoss } from "./explorer/prove.ts";
import { proveFaultsNoticed } from "./faults/prove.ts";
import { fullVariable } from "./first-hour/clone.ts";
import { allJobs } from "./runner/jobs.ts";
import { describeResults } from "./runner/results.ts";
import { interruption, isInterrupted, runTests } from "./runner/run-tests.ts";

const proofs: Record<string, () => Promise<boolean>> = {
  explorer: () => proveNoPowerLoss(interruption),
  faults: () => proveFaultsNoticed(interruption),
  models: () =>
    runAtLength(["test/store/sqlite-model.test.ts", "test/store/postgres-model.test.ts"], {
      HOLDFAST_RUNS: "500",
      HOLDFAST_KILLS: "200",
    }),
  kills: () =>
    runAtLength(
      ["test/durability/kill.test.ts", "test/durability/retry.test.ts", "test/durability/feed-kill.test.ts"],
      { HOLDFAST_KILLS: "200" },
    ),
  feed: () => runAtLength(["test/changes/feed-property.test.ts"], { HOLDFAST_RUNS: "1000" }),
  "lost-updates": () => runAtLength(["test/http/lost-updates.test.ts"], { HOLDFAST_ROUNDS: "400" }),
  processes: () => runAtLength(["test/postgres/processes.test.ts"], { HOLDFAST_LOAD_MS: "300000" }),
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
  const jobs = allJobs().filter(({ file }) => files.includes(file));
  const results = await runTests(jobs, { env, ceilingMs: dayMs });
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
