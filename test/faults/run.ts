/** Runs a test file in a copy of this project. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A test file that runs longer than this hangs. In milliseconds: a busy machine needs minutes for the longest test file. */
const ceilingMs = 900_000;

/** The result of a test file. */
export type End = "passes" | "fails" | "hangs";

const signals = ["SIGINT", "SIGTERM"] as const;

/**
 * Runs one test file of the copy `folder` until a test fails, on SQLite or the given store. What it starts is in one process group, and
 * its temporary files are in one folder, so that nothing of it stays. Throws if a signal interrupts it.
 */
export async function runTestFile(file: string, folder: string, store?: "postgres"): Promise<End> {
  const args = ["--conditions=holdfast-source", "test/run.ts", "--until-failure", file];
  const temporary = await mkdtemp(join(tmpdir(), "holdfast-"));
  await chmod(temporary, 0o1777); // some tests run programs as another user
  const env = { ...process.env, TMPDIR: temporary, ...(store && { HOLDFAST_TEST_STORE: store }) };
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: "ignore", detached: true });
  let why: "hangs" | "interrupted" | undefined;
  const killAll = () => {
    try {
      process.kill(-(child.pid as number), "SIGKILL");
    } catch {} // nothing is left
  };
  const end = (reason: typeof why) => {
    why = reason;
    killAll();
  };
  const interrupt = () => end("interrupted");
  for (const signal of signals) process.once(signal, interrupt);
  const timer = setTimeout(() => end("hangs"), ceilingMs);
  const [status] = (await once(child, "exit")) as [number | null];
  killAll();
  await rm(temporary, { recursive: true, force: true });
  clearTimeout(timer);
  for (const signal of signals) process.off(signal, interrupt);
  if (why === "interrupted") throw new Error("The proof was interrupted. Run it again, and it continues.");
  return why ?? (status === 0 ? "passes" : "fails");
}
