/** What a service uses, from `/proc` and from inside its process. */
import { readdirSync, readFileSync, statSync } from "node:fs";

/** The figures of one moment. Sizes are in MB. */
export interface Sample {
  /** Since the start of the soak. */
  seconds: number;
  /** The number of the process: a restart starts another one. */
  life: number;
  residentMb: number;
  /** Memory without the pages of files. */
  anonymousMb: number;
  heapMb: number;
  descriptors: number;
  threads: number;
  storeMb: number;
  walMb: number;
  /** The 99th percentile of the delay of the event loop since the last sample. */
  loopDelayMs: number;
}

/** What the process reports about itself. */
export interface InnerFigures {
  heapMb: number;
  loopDelayMs: number;
}

const mb = 1_000_000;

/** Takes the figures of a process and of its store. Throws if the process has ended. */
export function takeSample(
  pid: number,
  store: string,
  inner: InnerFigures,
): Omit<Sample, "seconds" | "life"> {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  return {
    residentMb: (of("VmRSS") * 1_024) / mb,
    anonymousMb: (of("RssAnon") * 1_024) / mb,
    ...inner,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    threads: of("Threads"),
    storeMb: sizeOf(store) / mb,
    walMb: sizeOf(`${store}-wal`) / mb,
  };
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
