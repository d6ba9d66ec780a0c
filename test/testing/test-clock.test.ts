import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { TestClock } from "../../src/testing/clock.ts";

test("a clock that stands still wakes what waits when it is moved far enough", async () => {
  const clock = new TestClock(1_000);
  const woken: string[] = [];
  const aborter = new AbortController();
  const wait = (name: string, at: number) =>
    clock.until(at, aborter.signal).then(() => void woken.push(name));
  const all = [wait("past", 0), wait("first", 1_010), wait("second", 1_020), wait("never", 9_999)];
  assert.deepEqual(woken, []); // also what is over waits for a turn of the event loop
  await all[0];
  clock.move(9);
  await setImmediate();
  assert.deepEqual(woken, ["past"]);
  clock.move(1);
  await all[1];
  clock.move(100);
  await all[2];
  assert.deepEqual(woken, ["past", "first", "second"]);
  aborter.abort();
  await all[3];
  await clock.until(9_999, aborter.signal);
});

test("a clock that follows the machine also wakes what waits by itself", async () => {
  const clock = new TestClock(undefined);
  const { signal } = new AbortController();
  const at = clock.now() + 3;
  await clock.until(at, signal);
  assert.ok(clock.now() >= at);
  const far = clock.until(clock.now() + 1e12, signal);
  clock.move(1e12);
  await far;
});

test("a timer ends by itself, and earlier if the clock is moved, unless it is cancelled", async () => {
  const clock = new TestClock(0);
  const calls: string[] = [];
  await new Promise<void>((resolve) => clock.startTimer(3, resolve));
  clock.startTimer(1e9, () => {
    calls.push("first");
    clock.startTimer(1e9, () => calls.push("second"));
  });
  const cancel = clock.startTimer(1e9, () => calls.push("cancelled"));
  cancel();
  clock.move(1e9 - 1e6);
  assert.deepEqual(calls, []);
  clock.move(1e6);
  assert.deepEqual(calls, ["first"]);
  clock.move(1e9);
  assert.deepEqual(calls, ["first", "second"]);
});
