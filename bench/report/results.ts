/** The results of a run, as a file under `bench/results/`. Tables and the documentation are made from such a file. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import type { Effort } from "../harness/effort.ts";
import type { Figure } from "../harness/figure.ts";
import { loadProgram } from "../load/load.ts";

/** The folder of the results. */
export const resultsFolder = "bench/results";

/** The results of a run. */
export interface Results {
  format: 1;
  date: string;
  commit: string;
  effort: Effort["name"];
  machine: Machine;
  /** The program that made the load. */
  load: string;
  subjects: SubjectFacts[];
  /** The programs that could not be compared, and why. */
  absent: { title: string; reason: string }[];
  cells: Cell[];
  scale: ScalePoint[];
  ratios: (Figure & { name: string })[];
  /** How long each part took. Results of earlier releases do not have this. */
  seconds: Record<string, number>;
  /** The parts that ended with an error. Their results are not complete. */
  failures: { part: string; reason: string }[];
}

/** The machine. `busy` is the load average for each processor at the start. For good figures, it must be near 0. */
export interface Machine {
  processor: string;
  processors: number;
  memoryGb: number;
  system: string;
  node: string;
  busy: number;
}

/** A program to compare, with the facts for the reader. */
export interface SubjectFacts {
  name: string;
  title: string;
  versions: string;
  keeps: string;
  checks: string;
  /** Whether it is only a limit for comparison: it stores nothing, or it has no clients. */
  isLimit: boolean;
  peakMb?: number;
  bytesPerResource?: number;
}

/** One scenario on one subject: medians of the rounds. */
export interface Cell {
  scenario: string;
  /** The size of an article, in bytes. */
  bytes: number;
  connections: number;
  subject: string;
  /** How many processors the service could use. With more than one, the load ran on the same processors. @default 1 */
  processors?: number;
  /** The delay that was added to each flush to the disk, in microseconds. */
  flushDelayUs?: number;
  perSecond: number;
  p50: number;
  p99: number;
  /** Processor seconds for 10,000 requests; unknown for limits that are not servers. */
  cpuPer10k?: number;
  /** Each round, if the rounds of all subjects were measured in turn. @default not in turn */
  rounds?: readonly CellRound[];
}

/** One round of a cell. */
export type CellRound = Required<Pick<Cell, "perSecond" | "cpuPer10k">>;

/** One measurement at one size. */
export interface ScalePoint {
  subject: string;
  resources: number;
  what: string;
  /** Responses per second, or resources per second of a walk. */
  perSecond: number;
  /** The same for each round, if the rounds of all subjects were measured in turn. */
  rounds?: readonly number[];
}

/** Describes this machine. */
export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? "unknown",
    processors: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()} ${arch()}`,
    node: process.version,
    busy: Number(((loadavg()[0] ?? 0) / availableParallelism()).toFixed(2)),
  };
}

/** Empty results for a new run. */
export function openResults(effort: Effort): Results {
  return {
    format: 1,
    date: new Date().toISOString().slice(0, 10),
    commit: git("describe", "--always", "--dirty") || "unknown",
    effort: effort.name,
    machine: describeMachine(),
    load: loadProgram,
    subjects: [],
    absent: [],
    cells: [],
    scale: [],
    ratios: [],
    seconds: {},
    failures: [],
  };
}

/** Writes results as `<date>-<commit>.json`, and returns the path. */
export function writeResults(results: Results): string {
  mkdirSync(resultsFolder, { recursive: true });
  const file = `${resultsFolder}/${results.date}-${results.commit}.json`;
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  return file;
}

/** Reads a results file. */
export function readResults(file: string): Results {
  return JSON.parse(readFileSync(file, "utf8")) as Results;
}

/** The latest results file; `undefined` if there is none. */
export function latestResults(): string | undefined {
  const names = readdirSync(resultsFolder).filter((name) => name.endsWith(".json"));
  const last = names.sort().at(-1);
  return last && `${resultsFolder}/${last}`;
}

function git(...args: readonly string[]): string {
  try {
    return execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "";
  }
}
