/** Starts the thread that checks the file for damage. */
import type { Worker } from "node:worker_threads";
import { startThread } from "../../../program.ts";

/** The start of the service is more urgent than the check. */
const delayMs = 250;

/** Checks the file in the background, and calls `onDamage` if it is damaged. Returns a function that ends the check. */
export function startCheck(path: string, onDamage: (reason: string) => void): () => Promise<void> {
  let worker: Worker | undefined;
  const timer = setTimeout(() => {
    worker = startThread("store/sqlite/upkeep/check-thread", { workerData: path, name: "holdfast-check" });
    worker.unref();
    worker.once("error", () => {}); // a failed check does not prove any damage
    worker.once("message", (damage: string | undefined) => {
      if (damage !== undefined) onDamage(`${path} is damaged: ${damage}`);
    });
  }, delayMs);
  timer.unref();
  return async () => {
    clearTimeout(timer);
    await worker?.terminate();
  };
}
