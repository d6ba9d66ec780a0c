/** Measures the times of a test file. It is loaded before the file, and writes the times into a folder when the process ends. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { type FileTimes, timesVariable } from "./times.ts";

const folder = process.env[timesVariable];
if (isMainThread && folder !== undefined) {
  delete process.env[timesVariable]; // the programs that the file starts leave nothing
  const leave = () => writeFileSync(join(folder, randomUUID()), JSON.stringify(timesNow()));
  process.on("exit", leave);
  // It stays the last listener: others check much at the end.
  process.on("newListener", (event, listener) => {
    if (event !== "exit" || listener === leave) return;
    queueMicrotask(() => process.off("exit", leave).on("exit", leave));
  });
}

function timesNow(): FileTimes {
  const { user, system } = process.cpuUsage();
  return {
    file: process.argv[1] ?? "",
    store: process.env.HOLDFAST_TEST_STORE ?? "sqlite",
    own: (user + system) / 1_000_000,
    programs: programsSeconds(),
    clock: performance.now() / 1_000,
  };
}

/** What Linux counts for children that have ended: proc_pid_stat(5), cutime and cstime in hundredths of a second. */
function programsSeconds(): number {
  const path = "/proc/self/stat";
  if (!existsSync(path)) return 0;
  const fields = readFileSync(path, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
