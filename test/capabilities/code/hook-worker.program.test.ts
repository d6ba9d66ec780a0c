/** The worker of the hooks: its stop, and what it says about its end. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { HookWorker, type WorkerEnd } from "../../../src/capabilities/code/hooks/hook-worker.ts";
import { makeFolder } from "../../folder.ts";
import { until } from "../../until.ts";

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

/** Starts the worker of a module, whose source this is, and notes its ends. */
function startWorker(t: TestContext, source: string) {
  const module = join(makeFolder(), "module.mjs");
  writeFileSync(module, source);
  const ends: { reason: WorkerEnd; message: string }[] = [];
  const onEnd = (reason: WorkerEnd, message: string) => void ends.push({ reason, message });
  const worker = new HookWorker({ module, hookMs: 1_000, memoryMb: 64, onEnd });
  t.after(() => worker.stop());
  return { worker, ends };
}

test("a call after the stop fails", async (t) => {
  const { worker } = startWorker(
    t,
    "export default { collections: { things: { hooks: { before() {} } } } };",
  );
  await worker.ready();
  await worker.stop();
  assert.deepEqual(await worker.call(place, input), {
    kind: "failed",
    reason: "exit",
    message: "The service has stopped.",
  });
});

test("a stop waits for no module, and what waits for it continues", async (t) => {
  const { worker } = startWorker(
    t,
    "await new Promise(() => setInterval(() => {}, 1_000)); export default {};",
  );
  const ready = worker.ready();
  const call = worker.call(place, input);
  await worker.stop();
  await ready;
  assert.equal((await call).kind, "failed");
});

for (const [thrown, expected] of [
  ['new Error("no luck")', /^Error: no luck\n.*module\.mjs:4/s],
  ["null", /^It threw null\. Throw an Error\.$/],
] as const)
  test(`the end of a worker between calls comes with what was thrown: ${thrown}`, async (t) => {
    const file = join(makeFolder(), "throws");
    const { worker, ends } = startWorker(
      t,
      `import { existsSync } from "node:fs";

const throwWhenAsked = () => {
  if (existsSync(${JSON.stringify(file)})) throw ${thrown};
};
setInterval(throwWhenAsked, 1);
export default {};
`,
    );
    await worker.ready();
    writeFileSync(file, "");
    await until("the worker has ended", () => ends.length > 0);
    assert.equal(ends[0]?.reason, "throw");
    assert.match(String(ends[0]?.message), expected);
  });

for (const [source, expected] of [
  ['throw new Error("no luck");', /^Error: no luck\n.*module\.mjs:1/s],
  ["process.exit();", /process\.exit/],
] as const)
  test(`the end of a worker that loads says so: ${source}`, async (t) => {
    const { worker, ends } = startWorker(t, source);
    await assert.rejects(worker.ready(), { message: expected });
    assert.equal(ends[0]?.reason, "load");
    assert.match(String(ends[0]?.message), expected);
  });
