/** What processes take, as Linux tells it under /proc; elsewhere nothing is known. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "./server.ts";

/** Ticks of proc_pid_stat(5) in a second: USER_HZ, which is 100 wherever Node runs. */
const ticksPerSecond = 100;

/** The processor seconds that a server has taken so far, with all its threads and the processes that it started. */
export function cpuSeconds(server: Server): number {
  return sumOf(processesOf(server), ticksOf) / ticksPerSecond;
}

/** The most memory that a server has had, in MB: VmHWM, summed over the processes that it started. */
export function peakMb(server: Server): number {
  return sumOf(processesOf(server), (pid) => megabytes(pid, "VmHWM"));
}

/** The memory that a server has now, in MB. */
export function residentMb(server: Server): number {
  return sumOf(processesOf(server), (pid) => megabytes(pid, "VmRSS"));
}

/** Resolves when a server has come to rest: it may have work of its own after its start, or after many writes. */
export async function untilIdle(server: Server, patienceMs = 60_000): Promise<void> {
  const endAt = performance.now() + patienceMs;
  let before: number;
  let now = cpuSeconds(server);
  do {
    before = now;
    await sleep(500);
    now = cpuSeconds(server);
  } while (now - before > 0.02 && performance.now() < endAt);
}

function sumOf(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((sum, pid) => sum + of(pid), 0);
}

function processesOf({ child, beside = [] }: Server): number[] {
  return [child.pid ?? 0, ...beside].flatMap(familyOf);
}

/** A process and those that it started. */
function familyOf(pid: number): number[] {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return [];
  const children = readdirSync(tasks).flatMap((task) =>
    readIfThere(`${tasks}/${task}/children`).split(" ").filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(familyOf)];
}

/** utime and stime. The name before them, in parentheses, may hold spaces. */
function ticksOf(pid: number): number {
  const text = readIfThere(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

function megabytes(pid: number, name: string): number {
  const found = new RegExp(`${name}:\\s+(\\d+)`).exec(readIfThere(`/proc/${pid}/status`));
  return Number(found?.[1] ?? 0) / 1024;
}

/** A process may end while it is looked at. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
