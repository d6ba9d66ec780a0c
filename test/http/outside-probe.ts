/**
 * Watches another process from outside while it serves: how much memory it takes, and for how much processor time of its
 * main thread a request for its health has to wait. Linux only, since it reads /proc.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";

/** What a process took while it was watched. */
export interface Watched {
  /** The most resident memory, beyond what it had at the start, in bytes. */
  memoryBytes: number;
  /** The most processor time of the main thread between a request for its health and the answer, in milliseconds. */
  standstillMs: number;
  /** Processor time of all its threads, in milliseconds. */
  processorMs: number;
}

/** Why no process can be watched here; `undefined` where it can. */
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
    await once(probe.stdout, "data"); // it has seen the process
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
  while (!isOver) {
    const since = processorMsOf(mainThread);
    await (await fetch(`${origin}/livez`)).arrayBuffer();
    most.standstill = Math.max(most.standstill, processorMsOf(mainThread) - since);
    most.memory = Math.max(most.memory, memoryOf(pid));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const watched: Watched = {
    memoryBytes: most.memory - before.memory,
    standstillMs: most.standstill,
    processorMs: processorMsOf(`/proc/${pid}/stat`) - before.processor,
  };
  process.stdout.write(JSON.stringify(watched), () => process.exit());
}

/** Resident memory in bytes. */
function memoryOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

/** User and system time of a process or thread. Linux counts them in hundredths of a second here. */
function processorMsOf(stat: string): number {
  const text = readFileSync(stat, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // the name before may have spaces in it
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
