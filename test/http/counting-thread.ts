/** A thread that counts, for `shared-limits.test.ts`. */
import { setTimeout as pass } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import { createQuotas } from "../../src/http/limits/rate-limit.ts";
import { type LimitsMemory, openLimits } from "../../src/http/limits/shared.ts";
import { StreamCounts } from "../../src/http/limits/stream-counts.ts";
import type { Limits, Rate } from "../../src/http/settings.ts";

/** What the thread does. */
export type Work =
  | { kind: "take"; rate: Rate; callers: readonly string[]; times: number }
  | { kind: "stream"; limits: Pick<Limits, "streams" | "streamsPerCaller">; callers: number; times: number }
  /** Ends the thread, or holds it up, while it has the lock. */
  | { kind: "die" | "dawdle"; rate: Rate; caller: string };

/** What the thread starts with. */
export interface Counting {
  memory: LimitsMemory;
  thread: number;
  work: Work;
  /** How many threads have started. All begin together. */
  started: Int32Array;
  threads: number;
  /** What the threads saw. `take`: the requests that were allowed, by caller. `stream`: the open streams, by caller and in all. */
  seen: Int32Array;
}

const { memory, thread, work, started, threads, seen } = workerData as Counting;
const shared = openLimits(memory, thread);
Atomics.add(started, 0, 1);
Atomics.notify(started, 0);
for (let now = Atomics.load(started, 0); now < threads; now = Atomics.load(started, 0))
  Atomics.wait(started, 0, now);

switch (work.kind) {
  case "take":
    take(work);
    break;
  case "stream":
    await openAndClose(work);
    break;
  default:
    holdLock(work);
}

function take({ rate, callers, times }: Extract<Work, { kind: "take" }>): void {
  const { addresses } = createQuotas(rate, shared);
  for (let n = 0; n < times; n++) {
    const caller = n % callers.length;
    const quota = addresses.take(callers[caller] as string);
    if (!quota.isExceeded) Atomics.add(seen, caller, 1);
  }
}

async function openAndClose({ limits, callers, times }: Extract<Work, { kind: "stream" }>): Promise<void> {
  const counts = new StreamCounts(limits, shared);
  const open: (() => void)[] = [];
  for (let n = 0; n < times; n++) {
    const caller = (n * 7 + thread) % callers;
    try {
      const leave = counts.open(String(caller));
      if (Atomics.add(seen, caller, 1) >= limits.streamsPerCaller) throw new Error(`caller ${caller}`);
      if (Atomics.add(seen, callers, 1) >= limits.streams) throw new Error("in all");
      open.push(() => {
        Atomics.sub(seen, callers, 1);
        Atomics.sub(seen, caller, 1);
        leave();
      });
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
      open.shift()?.();
    }
    if (n % 1_000 === 0) await pass(1);
  }
  for (const leave of open) leave();
}

function holdLock({ kind, rate, caller }: Extract<Work, { kind: "die" | "dawdle" }>): void {
  let calls = 0;
  const clock = () => {
    calls++;
    Atomics.store(seen, 0, 1);
    Atomics.notify(seen, 0);
    if (kind === "die") process.exit(); // ends this thread
    Atomics.wait(seen, 0, 1, 200);
    return calls;
  };
  createQuotas(rate, shared, { clock }).addresses.take(caller);
}
