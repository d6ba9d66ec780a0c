/** The check for damage as the store sees it. */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";

/** The start has more urgent things to do. */
const delayMs = 250;

/** Checks the file in the background and tells of damage. Gives a function that ends the check. */
export function startCheck(path: string, onDamage: (reason: string) => void): () => Promise<void> {
  let worker: Worker | undefined;
  const timer = setTimeout(() => {
    worker = new Worker(new URL(`./check-thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: path,
      name: "holdfast-check",
    });
    worker.unref();
    worker.once("error", () => {}); // no finding, and no reason to stop
    worker.once("message", (finding: string | undefined) => {
      if (finding !== undefined) onDamage(`${path} is damaged: ${finding}`);
    });
  }, delayMs);
  timer.unref();
  return async () => {
    clearTimeout(timer);
    await worker?.terminate();
  };
}
