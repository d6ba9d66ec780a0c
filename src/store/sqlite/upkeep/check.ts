/** Starts the thread that checks the file for damage. */
import type { Worker } from "node:worker_threads";
import { startThread } from "../../../program.ts";
import { walkTimes } from "../../core/walk.ts";
import type { Health } from "./health.ts";

/** What the thread sends. `broken`: the file cannot be read, so the thread has ended. */
export type CheckMessage =
  | { kind: "damage"; text: string }
  | { kind: "broken"; reason: string }
  | { kind: "end"; isDamaged: boolean };

/** Checks the file in the background, after the start and once a week. Returns a function that ends the checks. */
export function startCheck(
  path: string,
  { health, onWarning }: { health: Health; onWarning: (text: string) => void },
): () => Promise<void> {
  let worker: Worker | undefined;
  const receive = (message: CheckMessage) => {
    if (message.kind === "broken") health.fail(`${path} is damaged: ${message.reason}`);
    else if (message.kind === "end") health.damage.set(message.isDamaged);
    else {
      health.damage.set(true);
      onWarning(message.text);
    }
  };
  const start = () => {
    worker = startThread("store/sqlite/upkeep/check-thread", { workerData: path, name: "holdfast-check" });
    worker.unref();
    worker.once("error", () => {}); // a failed check does not prove any damage
    worker.on("message", receive);
    worker.once("exit", () => schedule(walkTimes.everyMs));
  };
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  const schedule = (ms: number) => {
    if (!isEnded) timer = setTimeout(start, ms).unref();
  };
  schedule(walkTimes.initialDelayMs);
  return async () => {
    isEnded = true;
    clearTimeout(timer);
    await worker?.terminate();
  };
}
