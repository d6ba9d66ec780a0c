/** Notices a thread that is busy for too long. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { BusyWatch } from "../../../src/capabilities/code/busy-watch.ts";

const source = `
import { parentPort } from "node:worker_threads";
import { threadNumber } from ${JSON.stringify(import.meta.resolve("../../../src/capabilities/code/busy-watch.ts"))};
parentPort.on("message", () => { for (;;); });
parentPort.postMessage(threadNumber());
`;

const skip =
  process.platform !== "linux" && "only Linux tells the processor time of a thread that does not answer";

test("a loop that does not answer is noticed by the processor time of its thread", { skip }, async (t) => {
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
  t.after(() => worker.terminate());
  const thread = await new Promise<number>((resolve) => worker.once("message", resolve));
  assert.ok(thread > 0 && thread !== process.pid, `${thread}`);
  worker.postMessage("loop");
  worker.cpuUsage = () => new Promise(() => {}); // as in a loop that V8 does not interrupt
  await new Promise<void>((resolve) => {
    const watch = new BusyWatch(worker, {
      progress: () => [1],
      thread: () => thread,
      busyMs: 20,
      standstillMs: Number.POSITIVE_INFINITY,
      lookMs: 5,
      onBusy: () => resolve(),
    });
    watch.start();
    t.after(() => watch.stop());
  });
});
