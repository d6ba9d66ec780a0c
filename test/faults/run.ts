/** Runs a test file in a copy of this project. */
import { spawn } from "node:child_process";
import { once } from "node:events";

/** A test file that runs longer than this hangs. In milliseconds: a busy machine needs minutes for the longest test file. */
const ceilingMs = 900_000;

/** The result of a test file. */
export type End = "passes" | "fails" | "hangs";

const signals = ["SIGINT", "SIGTERM"] as const;

/**
 * Runs one test file of the copy `folder`, on SQLite or the given store. All that it starts is in one process group, so that nothing of it stays when it
 * hangs. Throws if a signal interrupts it.
 */
export async function runTestFile(file: string, folder: string, store?: "postgres"): Promise<End> {
  const args = ["--conditions=holdfast-source", "test/run.ts", file];
  const env = { ...process.env, ...(store && { HOLDFAST_TEST_STORE: store }) };
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: "ignore", detached: true });
  let why: "hangs" | "interrupted" | undefined;
  const end = (reason: typeof why) => {
    why = reason;
    process.kill(-(child.pid as number), "SIGKILL");
  };
  const interrupt = () => end("interrupted");
  for (const signal of signals) process.once(signal, interrupt);
  const timer = setTimeout(() => end("hangs"), ceilingMs);
  const [status] = (await once(child, "exit")) as [number | null];
  clearTimeout(timer);
  for (const signal of signals) process.off(signal, interrupt);
  if (why === "interrupted") throw new Error("The proof was interrupted. Run it again, and it continues.");
  return why ?? (status === 0 ? "passes" : "fails");
}
