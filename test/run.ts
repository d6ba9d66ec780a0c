/**
 * Runs all tests, and then looks whether each answer that a document of the interface tells of was given at least once. With
 * arguments, which Node's test runner gets, not all of them may run, and nothing is looked for.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { folderVariable, neverSeen } from "./http/described/seen-answers.ts";

const given = process.argv.slice(2);
const options = given.filter((each) => each.startsWith("-"));
const files = given.filter((each) => !each.startsWith("-"));
const folder = mkdtempSync(join(tmpdir(), "holdfast-seen-"));
const tests = spawn(
  process.execPath,
  [
    "--conditions=holdfast-source",
    "--test",
    ...options,
    ...(files.length > 0 ? files : ["test/**/*.test.ts"]),
  ],
  { stdio: "inherit", env: { ...process.env, [folderVariable]: folder } },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill(signal));
const [status] = (await once(tests, "exit")) as [number | null];
const missing = given.length > 0 ? [] : neverSeen(folder);
rmSync(folder, { recursive: true });
if (missing.length > 0) console.error(`Documented, and seen by no test:\n  ${missing.join("\n  ")}`);
process.exitCode = status === 0 && missing.length > 0 ? 1 : (status ?? 1);
