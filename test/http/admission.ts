/** Admission and counts for tests of parts of the service. */
import type { TestContext } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { createCounts } from "../../src/http/admission/counts.ts";
import { type Counting, joinCounting, startCounting } from "../../src/http/admission/exact-counts.ts";
import { Admission, type AdmissionBounds } from "../../src/http/admission/ticket.ts";
import { defaultLimits, type HttpSettings } from "../../src/http/settings.ts";
import { answerCalls, createCalls } from "../../src/server/calls.ts";

/** An admission that nothing uses yet. */
export function createAdmission(bounds: Partial<AdmissionBounds> = {}): Admission {
  const counting = startCounting({ rate: undefined, limits: defaultLimits });
  const unlimited = { maxHeldBytes: Number.POSITIVE_INFINITY, maxRequests: Number.POSITIVE_INFINITY };
  return new Admission({ ...counting, settings: { limits: defaultLimits } }, { ...unlimited, ...bounds });
}

/** The counts of this many threads that count together. The first one is the main thread. All are in this thread. */
export function countTogether(
  t: TestContext,
  settings: Pick<HttpSettings, "rate" | "limits">,
  threads: number,
): Counting[] {
  const memory = createCounts(threads);
  const main = startCounting(settings, memory);
  const others = Array.from({ length: threads - 1 }, (_, index) => {
    const { port1, port2 } = new MessageChannel();
    t.after(() => port2.close());
    answerCalls(port1, { ...main.exact });
    return joinCounting(settings, { memory, thread: index + 1, call: createCalls(port2) });
  });
  return [main, ...others];
}
