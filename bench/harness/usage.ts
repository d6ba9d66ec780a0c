/** The processor time and memory of processes, from /proc on Linux. Other systems give no values. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "./server.ts";

/** Ticks of proc_pid_stat(5) per second: USER_HZ, which is 100 on all platforms of Node. */
const ticksPerSecond = 100;

/** The processor seconds that a server has used so far, with all its threads and child processes. */
export function cpuSeconds(server: Server): number {
  return sumOf(processesOf(server), ticksOf) / ticksPerSecond;
}

/** The peak memory of a server in MB: the sum of VmHWM over its processes. */
export function peakMb(server: Server): number {
  return sumOf(processesOf(server), (pid) => megabytes(pid, "VmHWM"));
}

/** The current memory of a server, in MB. */
export function residentMb(server: Server): number {
  return sumOf(processesOf(server), (pid) => megabytes(pid, "VmRSS"));
}

/** Memory that holds no pages of files, in MB. The system can take back pages of files, such as those of the store. */
export function ownMb(server: Server): number {
  return sumOf(processesOf(server), (pid) => megabytes(pid, "RssAnon"));
}

/** Resolves when a server is idle. It can have work in the background after its start, or after many writes. */
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

/** A process and its child processes. */
export function familyOf(pid: number): number[] {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return [];
  const children = readdirSync(tasks).flatMap((task) =>
    readIfThere(`${tasks}/${task}/children`).split(" ").filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(familyOf)];
}

/** The sum of utime and stime. The name before them, in parentheses, can contain spaces. */
function ticksOf(pid: number): number {
  const text = readIfThere(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

function megabytes(pid: number, name: string): number {
  const found = new RegExp(`${name}:\\s+(\\d+)`).exec(readIfThere(`/proc/${pid}/status`));
  return Number(found?.[1] ?? 0) / 1024;
}

/** The text of a file; empty if the process has ended. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
