/** Proves that the tests notice the faults, and searches for another test if one does not. */
import { startPostgres } from "../postgres/server.ts";
import { testFiles } from "../project.ts";
import { testFileOf } from "../runner/names.ts";
import { type Fault, faults } from "./faults.ts";
import { besideOthers, judge, runTestOf } from "./noticed.ts";
import { type Run, runFile } from "./run.ts";

/** How files run: on one server of PostgreSQL. */
type How = Pick<Run, "env" | "signal">;

/**
 * Returns whether the test of each fault fails with the fault, and passes without it although no other test of its file has run before.
 * If the test passes with the fault, all other test files run with it, and the names of those that fail are printed. HOLDFAST_TEST_FAULT
 * limits it to one fault. Throws if the signal aborts.
 */
export async function proveFaultsNoticed(signal: AbortSignal): Promise<boolean> {
  const only = process.env.HOLDFAST_TEST_FAULT;
  const some = faults.filter(({ name }) => only === undefined || name === only);
  if (some.length === 0) throw new Error(`There is no fault "${only}".`);
  const server = await startPostgres();
  try {
    const how = { env: { HOLDFAST_TEST_STARTED_POSTGRES: server.url }, signal };
    const noticed = await besideOthers(some, (fault) => isNoticed(fault, how));
    const count = noticed.filter((each) => each).length;
    console.log(`${count} of ${some.length} faults are noticed`);
    return count === some.length;
  } finally {
    await server.remove();
  }
}

async function isNoticed(fault: Fault, how: How): Promise<boolean> {
  const begun = performance.now();
  const end = await runTestOf(fault, how);
  const { passed, failed, skipped } = judge(fault, end);
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  for (const { error } of failed) console.error(`${fault.name}: ${error}`);
  for (const { reason } of skipped) console.error(`${fault.name}: The test is skipped: ${reason}`);
  if (failed.length > 0) await search(fault, how);
  if (passed === 0) return false;
  console.log(`${fault.name}: ${fault.noticedBy} ${end.how} after ${seconds} s: ${firstLine(end.error)}`);
  return passesWithout(fault, how);
}

/** Whether the test of a fault passes alone without the fault. */
async function passesWithout({ name, noticedBy, test, store }: Fault, how: How): Promise<boolean> {
  const end = await runFile({ file: testFileOf(noticedBy), test, store, ...how });
  if (end.how === "passes") return true;
  console.error(`${name}: "${test}" of ${noticedBy} fails alone without the fault too: ${end.error}`);
  return false;
}

/** Searches a file that notices the fault, among all others. */
async function search({ name, noticedBy, what, replacements, store }: Fault, how: How): Promise<void> {
  const others = testFiles().filter((file) => file !== testFileOf(noticedBy));
  for (const file of others) {
    const end = await runFile({ file, replacements, store, ...how });
    if (end.how === "passes") continue;
    const without = await runFile({ file, store, ...how });
    const isSound = without.how === "passes";
    console.error(
      isSound
        ? `${name}: "${end.failed}" of ${file} ${end.how}: ${firstLine(end.error)}`
        : `${name}: ${file} does not count, because it ${without.how} without the fault too`,
    );
    if (isSound) return;
  }
  console.error(`${name} escapes all tests: ${what}`);
}

const firstLine = (text = "") => text.split("\n")[0];
