/** Ends the workers of code. */
import { setTimeout as delay } from "node:timers/promises";
import { isMainThread, type Worker } from "node:worker_threads";

/**
 * Ends a worker, and returns whether it has ended within some milliseconds. V8 does not end every loop that allocates memory. Then the
 * process kills itself at its end, because the end would wait for the worker forever.
 */
export async function endWorker(worker: Worker, withinMs: number): Promise<boolean> {
  const ended = worker.terminate().then(() => true);
  const hasEnded = await Promise.race([ended, delay(withinMs, false, { ref: false })]);
  if (!hasEnded) tellMainThread();
  return hasEnded;
}

/** The main thread knows itself. Another thread of the service says here how it tells it, before it starts a worker. */
let tellMainThread: () => void = isMainThread ? killAtExit : () => {};

/** `tell` tells the main thread to call `killAtExit`. */
export function tellOfLostWorkers(tell: () => void): void {
  tellMainThread = tell;
}

/** How many workers of each thread are stuck. */
const stuck = new Map<unknown, number>();

/** The process ends with SIGKILL, as soon as it would end. For the main thread. */
export function killAtExit(): void {
  killWhileStuck("a lost worker", 1);
}

/** The process ends with SIGKILL if it would end while workers of any thread are stuck. `thread`: whose workers they are. For the main thread. */
export function killWhileStuck(thread: unknown, count: number): void {
  if (stuck.size === 0)
    process.on("exit", () => {
      if ([...stuck.values()].some((each) => each > 0)) process.kill(process.pid, "SIGKILL");
    });
  stuck.set(thread, count);
}
