/**
 * Runs inside the service (`--import`): reports the heap and the delay of the event loop to the soak, every five seconds. It collects
 * garbage first, so that the heap contains only what is in use.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";
import { collectGarbage } from "../garbage.ts";
import type { InnerFigures } from "./samples.ts";

const everyMs = 5_000;

if (isMainThread && process.send !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  setInterval(() => {
    const loopDelayMs = delay.percentile(99) / 1_000_000;
    collectGarbage();
    const figures: InnerFigures = { heapMb: process.memoryUsage().heapUsed / 1_000_000, loopDelayMs };
    delay.reset();
    process.send?.(figures);
  }, everyMs).unref();
  process.channel?.unref();
}
