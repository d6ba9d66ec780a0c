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

let willKill = false;

/** The process ends with SIGKILL, as soon as it would end. For the main thread. */
export function killAtExit(): void {
  if (willKill) return;
  willKill = true;
  process.on("exit", () => process.kill(process.pid, "SIGKILL"));
}
