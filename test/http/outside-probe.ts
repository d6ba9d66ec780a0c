/**
 * Watches another process while it serves: its memory, and how much processor time of its main thread passes before a health check
 * gets a response. Linux only, because it reads /proc.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { pause } from "../until.ts";

/** The memory and processor time of a process while it was watched. */
export interface Watched {
  /** The growth of its resident memory since the start, in bytes. */
  memoryBytes: number;
  /**
   * The most processor time of the main thread between a health check and its response, in milliseconds. The time in which this
   * machine did not run the health check itself is not counted, because the response can have arrived by then.
   */
  standstillMs: number;
  /** Processor time of all its threads, in milliseconds. */
  processorMs: number;
}

/** Why this machine cannot watch a process; `undefined` if it can. */
export const cannotWatch = existsSync("/proc/self/stat")
  ? undefined
  : "another process is watched through /proc, which this system does not have";

/** Watches a process that serves at `origin` while `work` runs. */
export async function watchFromOutside(
  { pid, origin }: { pid: number; origin: string },
  work: () => Promise<unknown>,
): Promise<Watched> {
  const probe = spawn(process.execPath, [import.meta.filename, String(pid), origin], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    await once(probe.stdout, "data"); // it has found the process
    await work();
    return JSON.parse(await lastWords(probe)) as Watched;
  } finally {
    probe.kill();
  }
}

function lastWords({ stdin, stdout }: ChildProcess): Promise<string> {
  stdin?.end();
  return text(stdout as NonNullable<typeof stdout>);
}

if (process.argv[1] === import.meta.filename) await watch(Number(process.argv[2]), String(process.argv[3]));

async function watch(pid: number, origin: string): Promise<void> {
  let isOver = false;
  process.stdin.resume().once("end", () => {
    isOver = true;
  });
  const before = { memory: memoryOf(pid), processor: processorMsOf(`/proc/${pid}/stat`) };
  const most = { memory: before.memory, standstill: 0 };
  const mainThread = `/proc/${pid}/task/${pid}/stat`;
  process.stdout.write("\n");
  const own = measureDelays();
  while (!isOver) {
    const [since, delayed] = [processorMsOf(mainThread), own.delayMs];
    await (await fetch(`${origin}/livez`)).arrayBuffer();
    const standstill = processorMsOf(mainThread) - since - (own.delayMs - delayed);
    most.standstill = Math.max(most.standstill, standstill);
    most.memory = Math.max(most.memory, memoryOf(pid));
    await pause(5);
  }
  const watched: Watched = {
    memoryBytes: most.memory - before.memory,
    standstillMs: Math.round(most.standstill),
    processorMs: processorMsOf(`/proc/${pid}/stat`) - before.processor,
  };
  process.stdout.write(JSON.stringify(watched), () => process.exit());
}

/** Adds up the time in which this process could not run, although it had something to do. */
function measureDelays(): { readonly delayMs: number } {
  const intervalMs = 5;
  const sum = { delayMs: 0 };
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    sum.delayMs += Math.max(0, now - last - 2 * intervalMs);
    last = now;
  }, intervalMs);
  return sum;
}

/** Resident memory in bytes. */
function memoryOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

/** User and system time of a process or thread. Linux counts them in hundredths of a second here. */
function processorMsOf(stat: string): number {
  const text = readFileSync(stat, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // the name before can contain spaces
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
