/** Ends a worker of code. */
import { setTimeout as delay } from "node:timers/promises";
import type { Worker } from "node:worker_threads";

/** Ends a worker, and returns whether it has ended within some milliseconds. V8 does not end every loop that allocates memory. */
export async function endWorker(worker: Worker, withinMs: number): Promise<boolean> {
  const ended = worker.terminate().then(() => true);
  return Promise.race([ended, delay(withinMs, false, { ref: false })]);
}
