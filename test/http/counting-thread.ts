/** A thread that counts, for `shared-limits.test.ts`. */
import { setImmediate as turn } from "node:timers/promises";
import { type MessagePort, workerData } from "node:worker_threads";
import type { CountsMemory } from "../../src/http/admission/counts.ts";
import { joinCounting } from "../../src/http/admission/exact-counts.ts";
import type { HttpSettings } from "../../src/http/settings.ts";
import { createCalls } from "../../src/server/calls.ts";

/** What the thread does. */
export type Work =
  | { kind: "take"; callers: readonly string[]; times: number }
  | { kind: "stream"; callers: number; times: number };

/** What the thread starts with. */
export interface Counting {
  memory: CountsMemory;
  thread: number;
  port: MessagePort;
  settings: Pick<HttpSettings, "rate" | "limits">;
  work: Work;
  /** What the threads saw. `take`: the requests that were allowed, by caller. `stream`: the open streams, by caller and in all. */
  seen: Int32Array;
}

const { memory, thread, port, settings, work, seen } = workerData as Counting;
const { exact, quotas } = joinCounting(settings, { memory, thread, call: createCalls(port) });
await (work.kind === "take" ? take(work) : openAndClose(work));
process.exit(); // ends this thread

async function take({ callers, times }: Extract<Work, { kind: "take" }>): Promise<void> {
  for (let n = 0; n < times; n++) {
    const caller = n % callers.length;
    const taken = quotas?.addresses.take(callers[caller] as string);
    const quota = taken instanceof Promise ? await taken : taken;
    if (quota?.isExceeded === false) Atomics.add(seen, caller, 1);
  }
}

async function openAndClose({ callers, times }: Extract<Work, { kind: "stream" }>): Promise<void> {
  const { streams, streamsPerCaller } = settings.limits;
  const open: (() => void)[] = [];
  for (let n = 0; n < times; n++) {
    const caller = (n * 7 + thread) % callers;
    const given = await exact.stream(String(caller));
    if (typeof given === "function") {
      if (Atomics.add(seen, caller, 1) >= streamsPerCaller) throw new Error(`caller ${caller}`);
      if (Atomics.add(seen, callers, 1) >= streams) throw new Error("in all");
      open.push(() => {
        Atomics.sub(seen, callers, 1);
        Atomics.sub(seen, caller, 1);
        given();
      });
    } else open.shift()?.();
    if (n % 1_000 === 0) await turn();
  }
  for (const leave of open) leave();
}
