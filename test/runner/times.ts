/** What each file of tests takes: processor time and time by the clock. `npm run test:run -- --times` prints it. */
import { existsSync, readFileSync } from "node:fs";
import { shown } from "./results.ts";

/** What one file took, in seconds. The first file of a process also has what the start of the process took. */
export interface FileTimes {
  file: string;
  store: string;
  /** Processor time of the process, while it ran the file. */
  own: number;
  /** Processor time of the programs that ended meanwhile; 0 except on Linux. */
  programs: number;
  clock: number;
}

let last = { own: 0, programs: 0, clock: 0 };

/** What this process has taken since the last call, or since its start. */
export function timesOf(file: string): FileTimes {
  const { user, system } = process.cpuUsage();
  const now = {
    own: (user + system) / 1_000_000,
    programs: programsSeconds(),
    clock: performance.now() / 1_000,
  };
  const { own, programs, clock } = last;
  last = now;
  return {
    file,
    store: process.env.HOLDFAST_TEST_STORE ?? "sqlite",
    own: now.own - own,
    programs: now.programs - programs,
    clock: now.clock - clock,
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

/** A table of all files, the most processor time first, and the sums. */
export function describeTimes(all: readonly FileTimes[]): string {
  const sorted = all.toSorted((a, b) => b.own + b.programs - (a.own + a.programs));
  const of = (name: "own" | "programs" | "clock") => all.reduce((sum, each) => sum + each[name], 0);
  const sums = { file: "all files", store: "", own: of("own"), programs: of("programs"), clock: of("clock") };
  return ["", "  processor   own  programs  clock (s)", ...[...sorted, sums].map(row)].join("\n");
}

function row({ file, store, own, programs, clock }: FileTimes): string {
  const numbers = [own + programs, own, programs, clock].map((each) => each.toFixed(1).padStart(9));
  return `${numbers.join("")}  ${shown(file)}${store === "postgres" ? " (on PostgreSQL)" : ""}`;
}

/** What the whole run has taken: by the clock, and of all processors. The second is known on Linux only. */
export function describeRun(): string {
  const minutes = (performance.now() / 60_000).toFixed(1);
  const { user, system } = process.cpuUsage();
  const seconds = (user + system) / 1_000_000 + programsSeconds();
  return existsSync("/proc/self/stat")
    ? `\n${minutes} minutes, ${Math.round(seconds)} seconds of processor time`
    : `\n${minutes} minutes`;
}
