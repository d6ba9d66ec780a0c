/** The worker of the hooks: its stop, and what it says about its end. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { HookWorker } from "../../../src/capabilities/code/hooks/hook-worker.ts";
import { makeFolder } from "../../folder.ts";

const place = "collections.things.hooks.before";

const input = {
  kind: "before",
  operation: "create",
  resource: "{}",
  previous: undefined,
  related: {},
  caller: undefined,
  now: 0,
} as const;

/** Starts the worker of a module, whose source this is. */
function startWorker(t: TestContext, source: string): HookWorker {
  const module = join(makeFolder(), "module.mjs");
  writeFileSync(module, source);
  const worker = new HookWorker({ module, hookMs: 1_000, memoryMb: 64 });
  t.after(() => worker.stop());
  return worker;
}

test("a call after the stop fails", async (t) => {
  const worker = startWorker(t, "export default { collections: { things: { hooks: { before() {} } } } };");
  await worker.ready();
  await worker.stop();
  assert.deepEqual(await worker.call(place, input), {
    kind: "failed",
    reason: "exit",
    message: "The service has stopped.",
  });
});

test("a stop waits for no module, and what waits for it continues", async (t) => {
  const worker = startWorker(t, "await new Promise(() => setInterval(() => {}, 1_000)); export default {};");
  const ready = worker.ready();
  const call = worker.call(place, input);
  await worker.stop();
  await ready;
  assert.equal((await call).kind, "failed");
});
