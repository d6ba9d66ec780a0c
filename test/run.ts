/**
 * Runs all tests, those of the HTTP interface on each store, and then looks whether each answer that a document of the interface
 * tells of was given at least once. With arguments, which Node's test runner gets, not all of them may run: they run once, on
 * SQLite or what HOLDFAST_TEST_STORE says, and nothing is looked for.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { folderVariable, neverSeen } from "./http/described/seen-answers.ts";

/** Two files at least: most of them wait for disks, databases and clocks half of their time. */
const filesAtOnce = Math.max(2, availableParallelism() - 1);
const runner = ["--conditions=holdfast-source", "--test", `--test-concurrency=${filesAtOnce}`];
/** One PostgreSQL for all files of a run. */
const withPostgres = "--test-global-setup=test/postgres/setup.ts";

let running: ChildProcess | undefined;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => running?.kill(signal));

const given = process.argv.slice(2);
process.exitCode = given.length > 0 ? await runGiven(given) : await runAll();

/** Gives the exit code. */
async function runGiven(args: readonly string[]): Promise<number> {
  const options = args.filter((each) => each.startsWith("-"));
  const files = args.filter((each) => !each.startsWith("-"));
  return run([...options, ...(files.length > 0 ? files : ["test/**/*.test.ts"])]);
}

async function runAll(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-seen-"));
  try {
    const env = { [folderVariable]: folder };
    const onSqlite = await run([withPostgres, "test/**/*.test.ts"], env);
    console.log("\nThe HTTP interface on PostgreSQL:\n");
    const onPostgres = await run([withPostgres, "test/http/**/*.test.ts"], {
      ...env,
      HOLDFAST_TEST_STORE: "postgres",
    });
    if (onSqlite !== 0 || onPostgres !== 0) return onSqlite || onPostgres;
    const missing = neverSeen(folder);
    if (missing.length > 0) console.error(`Documented, and seen by no test:\n  ${missing.join("\n  ")}`);
    return missing.length > 0 ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs Node's test runner, and gives its exit code. */
async function run(args: readonly string[], env: Record<string, string> = {}): Promise<number> {
  running = spawn(process.execPath, [...runner, ...args], {
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  const [status] = (await once(running, "exit")) as [number | null];
  return status ?? 1;
}
