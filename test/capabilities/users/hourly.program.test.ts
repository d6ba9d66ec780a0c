/** The regular work of a service with users. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { HourlyWork } from "../../../src/capabilities/users/hourly.ts";
import { Problem } from "../../../src/errors.ts";
import { until } from "../../until.ts";

test("works are done each hour while the store can be used, and a failure of one stops no other", async () => {
  const [waits, done, warnings]: [number[], string[], string[]] = [[], [], []];
  let isReady = false;
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const hourly = new HourlyWork({
    clock: {
      now: () => 1_000,
      until: async (at, signal) => {
        waits.push(at - 1_000);
        if (waits.length < 4) return;
        finish();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    },
    isReady: () => isReady,
    warn: (message) => warnings.push(message),
    works: {
      first: async () => {
        done.push("first");
        if (done.length === 1) throw new Error("broken");
        throw new Problem("UNAVAILABLE", "The store cannot be reached.");
      },
      second: async () => {
        done.push("second");
      },
    },
  });
  hourly.start();
  hourly.start();
  isReady = true;
  await finished;
  await hourly.stop();
  assert.deepEqual(waits, [60_000, 3_600_000, 3_600_000, 3_600_000]);
  assert.deepEqual(done, Array(3).fill(["first", "second"]).flat());
  assert.deepEqual(warnings, ["first: broken"]);
});

test("the first time is a minute after the start, so that a service that restarts often does them too", async () => {
  const waits: number[] = [];
  const hourly = new HourlyWork({
    clock: {
      now: () => 1_000,
      until: async (at, signal) => {
        waits.push(at - 1_000);
        if (waits.length === 2) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    },
    isReady: () => true,
    warn: assert.fail,
    works: { first: async () => {} },
  });
  hourly.start();
  await until("the first time is over", () => waits.length === 2);
  await hourly.stop();
  assert.deepEqual(waits, [60_000, 3_600_000]);
});
