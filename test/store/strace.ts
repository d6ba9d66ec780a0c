import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ceilingMs } from "../until.ts";

/** How `programs/write.ts` opens its store. */
export type Mode = "FULL" | "NORMAL" | "ONE BY ONE";

/** What `programs/write.ts` says at its end. */
export interface Report {
  acknowledged: string[];
  problems: string[];
  health: { kind: string };
  failures: string[];
}

/** Runs `programs/write.ts` under strace. Returns its report and the trace. */
export function traceWriting(
  folder: string,
  { mode = "FULL", strace }: { mode?: Mode; strace: readonly string[] },
): { report: Report; trace: string } {
  const trace = join(folder, "trace");
  const program = join(import.meta.dirname, "programs", "write.ts");
  const { stdout, stderr } = spawnSync(
    "strace",
    [
      "-f",
      "--seccomp-bpf",
      "-s",
      "8000",
      "-o",
      trace,
      ...strace,
      process.execPath,
      program,
      join(folder, "x.db"),
      mode,
    ],
    { encoding: "utf8", timeout: 5 * ceilingMs },
  );
  const last = stdout.trimEnd().split("\n").at(-1);
  if (last?.startsWith("{") !== true) throw new Error(`The program did not end well: ${stdout}${stderr}`);
  return { report: JSON.parse(last) as Report, trace: readFileSync(trace, "latin1") };
}
