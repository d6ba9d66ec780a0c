/**
 * Ends the workers of code, and lets the process end although one of them does not. V8 does not end every loop that allocates memory, and the
 * end of a process waits for its threads. So a process kills itself if it would end while a worker is stuck.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Worker } from "node:worker_threads";

interface Followed {
  /** 0 while it is not busy. */
  readonly progress: () => number;
  last: number;
  /** Whether it made no progress while the service stops. */
  isStuck: boolean;
  /** Whether it did not end when it should. */
  isLost: boolean;
}

/** How often a service that stops looks, in milliseconds. A worker without progress in between is stuck. */
const lookMs = 500;

/** The workers of this thread that have not ended. */
const followed = new Map<Worker, Followed>();

let told = 0;

let tell: (count: number) => void = (count) => killWhileStuck("this thread", count);

/** Follows a worker until it has ended. `progress` returns another number whenever the worker is not stuck, or 0 while it has nothing to do. */
export function followWorker(worker: Worker, progress: () => number): void {
  followed.set(worker, { progress, last: 0, isStuck: false, isLost: false });
  worker.once("exit", () => {
    followed.delete(worker);
    tellCount();
  });
}

/** Ends a worker, and returns whether it has ended within some milliseconds. */
export async function endWorker(worker: Worker, withinMs: number): Promise<boolean> {
  const ended = worker.terminate().then(() => true);
  const hasEnded = await Promise.race([ended, delay(withinMs, false, { ref: false })]);
  const state = followed.get(worker);
  if (!hasEnded && state !== undefined) {
    state.isLost = true;
    tellCount();
  }
  return hasEnded;
}

/**
 * Looks at the workers of this thread from when the signal is aborted. In a thread beside the main one, `tellMain` lets the main thread call
 * `killWhileStuck`.
 */
export function watchWorkers(stopping: AbortSignal, tellMain?: (count: number) => void): void {
  if (tellMain !== undefined) tell = tellMain;
  stopping.addEventListener("abort", () => {
    const timer = setInterval(() => {
      if (followed.size === 0) clearInterval(timer);
      for (const each of followed.values()) {
        const now = each.progress();
        each.isStuck = now !== 0 && now === each.last;
        each.last = now;
      }
      tellCount();
    }, lookMs).unref();
  });
}

function tellCount(): void {
  const count = [...followed.values()].filter(({ isStuck, isLost }) => isStuck || isLost).length;
  if (count === told) return;
  told = count;
  tell(count);
}

/** How many workers of each thread are stuck. */
const stuck = new Map<unknown, number>();

/** From now on, the process ends with SIGKILL if so many workers of a thread are stuck. Only for the main thread. */
export function killWhileStuck(thread: unknown, count: number): void {
  if (stuck.size === 0)
    process.on("exit", () => {
      if ([...stuck.values()].some((each) => each > 0)) process.kill(process.pid, "SIGKILL");
    });
  stuck.set(thread, count);
}
