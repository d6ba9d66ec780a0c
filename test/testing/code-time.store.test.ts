import assert from "node:assert/strict";
import { test } from "node:test";
import { defineConfig, route } from "../../src/index.ts";
import { startInMemoryFor } from "./service.ts";

/** A log that keeps its errors as texts. */
function keptLog() {
  const lines: string[] = [];
  const add = (...line: unknown[]) => void lines.push(JSON.stringify(line));
  return { lines, log: { warn: add, error: add } };
}

/** Uses the processor for so many milliseconds. */
function work(ms: number): void {
  const before = process.threadCpuUsage();
  for (;;) {
    const { user, system } = process.threadCpuUsage(before);
    if (user + system > ms * 1_000) return;
  }
}

/** Uses no processor for so many milliseconds. */
function rest(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const config = defineConfig({
  code: { hookMs: 30 },
  collections: {
    busy: { hooks: { validate: () => work(31) } },
    resting: { hooks: { validate: () => rest(60) } },
    computing: { computed: { found: { from: ["n"], value: () => work(31) } } },
  },
});

test("a hook that has used the processor for too long fails its write, and one that rested does not", async (t) => {
  const { lines, log } = keptLog();
  const service = await startInMemoryFor(t, config, { log });
  const { busy, resting, computing } = service.client();
  await resting.create({});
  assert.deepEqual(lines, []);
  await assert.rejects(busy.create({}), { status: 500, code: "CODE_FAILED" });
  assert.match(lines.splice(0).join(), /busy\.hooks\.validate: It took longer than 30 ms\./);
  assert.equal((await busy.list({}).all()).length, 0);
  await assert.rejects(computing.create({ n: 1 }), { code: "CODE_FAILED" });
  assert.match(lines.join(), /computing\.computed: It took longer than 30 ms\./);
});

test("a route that hangs has failed after its time, for which a test need not wait", async (t) => {
  const begun = Promise.withResolvers<AbortSignal>();
  const routed = defineConfig({
    routes: {
      hang: route({
        method: "POST",
        path: "hang",
        access: "public",
        timeoutMs: 20_000,
        run: ({ signal }) => {
          begun.resolve(signal);
          return new Promise(() => {});
        },
      }),
    },
  });
  const { lines, log } = keptLog();
  const service = await startInMemoryFor(t, routed, { now: 0, log });
  const failing = assert.rejects(service.client().$call.hang({}, undefined), { status: 503 });
  const signal = await begun.promise;
  await service.advance(19_000);
  assert.equal(signal.aborted, false);
  await service.advance(1_000);
  assert.equal((signal.reason as Error).message, "routes.hang.run has taken longer than 20000 ms.");
  await service.advance(5_000);
  await failing;
  assert.match(lines.join(), /routes\.hang\.run has taken longer than 20000 ms/);
});
