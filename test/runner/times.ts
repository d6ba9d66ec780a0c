/** What each file of tests takes: processor time and time by the clock. `npm run test:run -- --times` prints it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shown } from "./results.ts";

/** What one file took, in seconds. */
export interface FileTimes {
  file: string;
  store: string;
  /** Processor time of the file's process. */
  own: number;
  /** Processor time of the programs that it started and that ended; 0 except on Linux. */
  programs: number;
  clock: number;
}

/** The variable that names the folder where each file leaves its times. */
export const timesVariable = "TEST_TIMES";

/** Has each file leave its times: with these options and this environment. `read` also removes the folder. */
export function measure(): {
  options: readonly string[];
  env: Readonly<Record<string, string>>;
  read(): FileTimes[];
} {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-times-"));
  return {
    options: [`--import=${join(import.meta.dirname, "leave-times.ts")}`],
    env: { [timesVariable]: folder },
    read() {
      const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
      rmSync(folder, { recursive: true });
      return files.map((text) => JSON.parse(text) as FileTimes);
    },
  };
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
