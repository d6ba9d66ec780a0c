import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createKeyedQueue } from "../../src/store/core/keyed-queue.ts";

/** Waits for some turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await turn();
}

test("too many tasks of one key, or of all keys, are refused with UNAVAILABLE", async () => {
  const queue = createKeyedQueue({ maxPerKey: 2, maxTasks: 3 });
  const refused = { code: "UNAVAILABLE" };
  const running = [queue.run("a", () => turns(5)), queue.run("a", () => turns(1))];
  await assert.rejects(
    queue.run("a", async () => {}),
    refused,
  );
  running.push(queue.run("b", () => turns(5)));
  await assert.rejects(
    queue.run("c", async () => {}),
    refused,
  );
  await Promise.all(running);
  // Refused and failed tasks must not be counted for ever.
  for (let n = 0; n < 10; n++) {
    await queue.run("a", () => Promise.reject(new Error("no"))).catch(() => {});
  }
  await Promise.all([queue.run("a", async () => {}), queue.run("a", async () => {})]);
});

test("no two tasks of a key overlap, however they are mixed", async () => {
  const queue = createKeyedQueue();
  const running = new Map<string, number>();
  await Promise.all(
    Array.from({ length: 300 }, async (_, n) => {
      const key = `k${n % 7}`;
      if (n % 3 === 0) await turns(n % 5);
      await queue.run(key, async () => {
        running.set(key, (running.get(key) ?? 0) + 1);
        assert.equal(running.get(key), 1);
        if (n % 2 === 0) await turn();
        running.set(key, 0);
      });
    }),
  );
});

test("a task whose turn does not come in time is refused with UNAVAILABLE and never runs", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const queue = createKeyedQueue({ maxWaitMs: 30, maxPerKey: 3, maxTasks: 3 });
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const ran: string[] = [];
  const refused = { code: "UNAVAILABLE", message: /Nothing was written/ };
  const stuck = queue.run("a", () => gate);
  // Callers that gave up free their places for others.
  for (let n = 0; n < 5; n++) {
    const late = ["x", "y"].map((name) => queue.run("a", async () => ran.push(name)));
    const refusals = Promise.all(late.map((promise) => assert.rejects(promise, refused)));
    t.mock.timers.tick(30);
    await refusals;
  }
  const patient = queue.run("a", async () => ran.push("z"));
  t.mock.timers.tick(29);
  assert.equal(ran.length, 0); // the one before them has not ended
  open();
  await Promise.all([stuck, patient]);
  t.mock.timers.tick(30); // a turn that came is not taken back
  await queue.run("a", async () => ran.push("last"));
  assert.deepEqual(ran, ["z", "last"]);
});

test("a task that does not wait needs no timer", async (t) => {
  const timers = t.mock.method(globalThis, "setTimeout");
  const queue = createKeyedQueue();
  await Promise.all([queue.run("a", async () => {}), queue.run("b", async () => {})]);
  await queue.run("a", async () => {});
  assert.equal(timers.mock.callCount(), 0);
  await Promise.all([queue.run("a", async () => {}), queue.run("a", async () => {})]);
  assert.equal(timers.mock.callCount(), 1);
});
