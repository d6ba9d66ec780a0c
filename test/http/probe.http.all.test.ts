/** The probe that every service of a test runs with: it must be able to fail. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startProbe } from "./probe.ts";
import { startService } from "./service.ts";

function work(ms: number): void {
  const before = process.threadCpuUsage();
  for (;;) {
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= ms * 1000) return;
  }
}

test("a test fails when the event loop stood still while its service ran", async () => {
  const service = await startService({ probe: { standstillMs: 100 } });
  await service.create("topics", {});
  work(900);
  await assert.rejects(
    service.stop(),
    /the event loop stood still for \d{3} ms of processor time; 100 are allowed/,
  );
});

test("so it does when that was long ago, or in the turn in which it ends", async () => {
  const early = await startProbe({ standstillMs: 100 });
  work(900);
  await delay(100);
  assert.throws(() => early.stop(), /stood still/);
  const late = await startProbe({ standstillMs: 100 });
  await delay(20);
  work(900);
  assert.throws(() => late.stop(), /stood still/);
});

test("work in many short turns is no standstill, however long it is altogether", async () => {
  const probe = await startProbe();
  for (let n = 0; n < 30; n++) {
    work(10);
    await delay(6);
  }
  probe.stop();
});

test("waiting is no standstill: another program may have the processor", async () => {
  const probe = await startProbe();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  probe.stop();
});

test("a test fails when the memory of the process passed its bound while its service ran", async () => {
  const before = process.memoryUsage.rss();
  const service = await startService({
    probe: { rssBytes: 50_000_000, standstillMs: Number.POSITIVE_INFINITY },
  });
  // Garbage of earlier tests can become free at the same time, so the memory of the process decides.
  const enough = Math.max(before, process.memoryUsage.rss()) + 200_000_000;
  const held: Buffer[] = [];
  while (process.memoryUsage.rss() < enough) held.push(Buffer.alloc(20_000_000, 1));
  await delay(50);
  assert.ok(held.length > 0);
  await assert.rejects(service.stop(), /the process took \d+ bytes; 50000000 are allowed/);
});
