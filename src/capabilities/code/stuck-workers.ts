/**
 * Notices workers that are busy with one thing while the service stops. The end of a process waits for its threads, and V8 does not end every
 * loop. So if the time for a stop is over, a process with such a worker must kill itself.
 */
import type { Worker } from "node:worker_threads";
import { killWhileStuck } from "./end-worker.ts";

interface Followed {
  /** 0 while it is not busy. */
  readonly progress: () => number;
  last: number;
  isStuck: boolean;
}

/** How often it looks, in milliseconds. A worker without progress in between is stuck. */
const lookMs = 500;

const followed = new Map<Worker, Followed>();

let told = 0;

let tell: (count: number) => void = (count) => killWhileStuck("this thread", count);

/** Follows a worker until it has ended. `progress` returns another number whenever the worker is not stuck, or 0 while it has nothing to do. */
export function followWorker(worker: Worker, progress: () => number): void {
  followed.set(worker, { progress, last: 0, isStuck: false });
  worker.once("exit", () => {
    followed.delete(worker);
    tellCount();
  });
}

/** Looks at the workers of this thread from when the signal is aborted. In a thread beside the main one, `tellMain` tells how many are stuck. */
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
  const count = [...followed.values()].filter(({ isStuck }) => isStuck).length;
  if (count === told) return;
  told = count;
  tell(count);
}
