/** Runs a test file in a copy of this project. */
import { spawn } from "node:child_process";
import { once } from "node:events";

/** What has not ended after so long hangs, in milliseconds: a busy machine needs a few minutes for the longest test file. */
const ceilingMs = 900_000;

/** What a test file came to. */
export type End = "passes" | "fails" | "hangs";

/** What runs at present. It is ended with this program. */
let running: number | undefined;
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    endRunning();
    process.exit(1);
  });

/**
 * Runs one test file of the copy `folder`. All that it starts is in one process group, so that nothing of it stays when it
 * hangs.
 */
export async function runTestFile(file: string, folder: string): Promise<End> {
  const args = ["--conditions=holdfast-source", "test/run.ts", file];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: "ignore", detached: true });
  running = child.pid;
  let end: End | undefined;
  const timer = setTimeout(() => {
    end = "hangs";
    endRunning();
  }, ceilingMs);
  const [status] = (await once(child, "exit")) as [number | null];
  running = undefined;
  clearTimeout(timer);
  return end ?? (status === 0 ? "passes" : "fails");
}

function endRunning(): void {
  if (running !== undefined) process.kill(-running, "SIGKILL");
}
