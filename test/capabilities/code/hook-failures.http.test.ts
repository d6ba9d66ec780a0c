/** What goes wrong in a hook: nothing is written, the client learns nothing about the code, and the next write works. */
import assert from "node:assert/strict";
import { readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { pino } from "pino";
import { HookWorker, type WorkerEnd } from "../../../src/capabilities/code/hooks/hook-worker.ts";
import { makeFolder } from "../../folder.ts";
import { startFor, startServiceForFile } from "../../http/service.ts";
import { until } from "../../until.ts";

/** Each value of `does` makes a hook fail in its own way. */
const config = `
import { defineConfig, refuse } from "holdfast";

const ways = {
  nothing: () => undefined,
  throw: () => { throw new Error("the secret of the cause"); },
  text: () => { throw "a text"; },
  promise: async () => undefined,
  rejection: async () => { throw new Error("rejected"); },
  number: () => 5,
  list: () => [],
  date: ({ resource }) => ({ ...resource, at: new Date(0) }),
  undefined: ({ resource }) => ({ ...resource, inner: { at: undefined } }),
  nan: ({ resource }) => ({ ...resource, count: Number.NaN }),
  large: ({ resource }) => ({ ...resource, count: 12345678901234567890 }),
  surrogate: ({ resource }) => ({ ...resource, text: "\\ud800" }),
  cycle: ({ resource }) => { resource.self = resource; return resource; },
  deep: ({ resource }) => { let deep = {}; for (let n = 0; n < 100_000; n++) deep = { deep }; return { ...resource, deep }; },
  getter: ({ resource }) => Object.defineProperty(resource, "x", { get: () => 1, enumerable: true }),
  proxy: ({ resource }) => new Proxy(resource, {}),
  id: ({ resource }) => ({ ...resource, id: "another" }),
  size: ({ resource }) => ({ ...resource, text: "x".repeat(2_000_000) }),
  forgotten: ({ resource }) => { resource.count = 1; },
  loop: () => { for (;;); },
  exit: () => process.exit(0),
  memory: () => { const all = []; for (;;) all.push(new Array(1_000_000).fill(all.length)); },
  pollution: ({ resource }) => { Object.prototype.polluted = "yes"; return resource; },
  code: () => refuse("count", "is wrong", { code: () => 1 }),
  unreadable: () => { throw Object.defineProperty(new Error("x"), "stack", { get: () => { throw new Error("y"); } }); },
  proto: ({ resource }) => JSON.parse('{"__proto__":{"does":"nothing"},"count":1}'),
};

export default defineConfig({
  code: { hookMs: 1_000, memoryMb: 32 },
  collections: {
    things: { hooks: { before: (call) => ways[call.resource.does]?.(call) } },
    judged: {
      hooks: {
        validate: ({ resource }) => {
          if (resource.does === "value") return false;
          if (resource.does === "change") resource.count = 1;
        },
      },
    },
  },
});
`;

const failing = {
  throw: /things.*the secret of the cause/s,
  text: /It threw a text: a text/,
  code: /refuse takes texts/,
  unreadable: /cannot be read/,
  promise: /returned a promise/,
  rejection: /returned a promise/,
  number: /before returned 5/,
  list: /before returned an array/,
  date: /at \/at is an object of Date.*toISOString/,
  undefined: /at \/inner\/at is undefined/,
  nan: /at \/count is NaN/,
  large: /integer outside/,
  surrogate: /surrogate/,
  cycle: /at \/self contains itself/,
  deep: /has more than 200 levels/,
  getter: /at \/x is a getter/,
  proxy: /a proxy/,
  id: /cannot set or change the id/,
  size: /more than 1048576 bytes/,
  forgotten: /returned nothing\. Return the resource/,
  loop: /took longer than 1000 ms/,
  exit: /process\.exit/,
  memory: /more than 32 MiB/,
};

const lines: string[] = [];
const log = pino({ level: "error" }, { write: (line: string) => lines.push(line) });
const { send, create } = await startServiceForFile({ module: config, log });

for (const [way, reason] of Object.entries(failing))
  test(`a hook that fails by ${way} writes nothing, and the log says why`, async () => {
    const before = (await send({ path: "/api/v1/things" })).text;
    const content = { does: way };
    const failed = await send({ method: "POST", path: "/api/v1/things", content }, { mayFail: true });
    const { code, instance } = failed.json as Record<string, string>;
    assert.deepEqual([failed.status, code], [500, "CODE_FAILED"], failed.text);
    assert.doesNotMatch(failed.text, /secret|things/);
    const logged = lines
      .map((line) => JSON.parse(line))
      .find((line) => `urn:uuid:${line.requestId}` === instance);
    assert.match(String(logged?.err), reason);
    assert.equal((await send({ path: "/api/v1/things" })).text, before);
    await create("things", { does: "nothing" });
  });

test("a hook that returns a value or changes its resource in validate fails the write", async () => {
  for (const does of ["value", "change"]) {
    const failed = await send(
      { method: "POST", path: "/api/v1/judged", content: { does } },
      { mayFail: true },
    );
    assert.equal(failed.status, 500, failed.text);
  }
});

test("nothing of a hook reaches the objects of the service", async () => {
  const { body } = await create("things", { does: "pollution" });
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  assert.equal(Object.hasOwn(body, "polluted"), false);
  const made = await send({ method: "POST", path: "/api/v1/things", content: { does: "proto" } });
  assert.match(made.text, /"__proto__":\{"does":"nothing"\}/);
});

test("calls behind an endless loop run on the next worker", async () => {
  const content = { does: "loop" };
  const looping = send({ method: "POST", path: "/api/v1/things", content }, { mayFail: true });
  const others = await Promise.all(Array.from({ length: 50 }, () => create("things", { does: "nothing" })));
  assert.equal((await looping).status, 500);
  assert.equal(others.length, 50);
});

test("a worker that is busy between calls is replaced", async (t) => {
  const busy = `
export default {
  code: { hookMs: 50 },
  collections: { things: { hooks: { validate: ({ resource }) => { if (resource.later) setTimeout(() => { for (;;); }, 1); } } } },
};
`;
  const { create } = await startFor(t, { module: busy });
  await create("things", { later: true });
  await create("things");
});

test("a resource that is larger than the limit of waiting calls can be changed", async (t) => {
  const large = `
export default {
  limits: { body: 33554432 },
  code: { hookMs: 1_000 },
  collections: { things: { hooks: { validate: () => {} } } },
};
`;
  const { send, create } = await startFor(t, { module: large });
  const { path } = await create("things", { text: "x".repeat(10_000_000) });
  assert.equal((await send({ method: "PATCH", path, content: { small: 1 } })).status, 200);
});

test("a task whose hook fails ends, and says so", async (t) => {
  const warnings: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => warnings.push(line) });
  const { send, create } = await startFor(t, { module: config, log });
  await create("things", { does: "nothing" });
  const begun = await send({
    method: "POST",
    path: "/api/v1/things/_bulk",
    headers: { Prefer: "respond-async" },
    content: { all: true, max: 10, patch: { does: "throw" } },
  });
  assert.equal(begun.status, 202, begun.text);
  const path = String(begun.headers.location);
  const task = async () => (await send({ path })).json as { state: string };
  await until("the task has ended", async () => (await task()).state === "failed");
  assert.match(warnings.join(), /the task \S+ failed: collections\.things\.hooks\.before/);
});

test("a hook that ends its worker five times in a minute fails at once, and other hooks still run", async (t) => {
  const { send } = await startFor(t, { module: config });
  const write = (does: string, collection = "things") =>
    send({ method: "POST", path: `/api/v1/${collection}`, content: { does } }, { mayFail: true });
  for (let n = 0; n < 5; n++) assert.equal((await write("exit")).status, 500);
  assert.equal((await write("nothing")).status, 500);
  assert.equal((await write("nothing", "judged")).status, 201);
});

test("while the module cannot be loaded again, writes fail and readiness warns", async (t) => {
  const file = join(makeFolder(), "names.json");
  writeFileSync(file, "[]");
  const warnings: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) });
  const { send, create } = await startFor(t, {
    log,
    module: `
import { readFileSync } from "node:fs";
JSON.parse(readFileSync(${JSON.stringify(file)}, "utf8"));
export default { collections: { things: { hooks: { before: ({ resource }) => { if (resource.ends) process.exit(); } } }, plain: {} } };
`,
  });
  const readiness = async () => (await send({ path: "/readyz" })).json;
  const post = (content: object) =>
    send({ method: "POST", path: "/api/v1/things", content }, { mayFail: true });
  assert.deepEqual(await readiness(), { status: "pass" });
  unlinkSync(file);
  assert.equal((await post({ ends: true })).status, 500);
  assert.equal((await post({})).status, 500);
  assert.deepEqual(await readiness(), { status: "warn", failing: ["code"] });
  assert.match(
    warnings.join("\n"),
    /^The worker of the hooks cannot load the configuration: Error: ENOENT.*names\.json/m,
  );
  await create("plain");
  writeFileSync(file, "[]");
  assert.equal((await post({})).status, 201);
  assert.deepEqual(await readiness(), { status: "pass" });
});

test("a worker that ends without a call starts again with the next call", async (t) => {
  const folder = makeFolder();
  const [module, ends, starts] = ["module.mjs", "ends", "starts"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(
    module,
    `
import { appendFileSync, existsSync } from "node:fs";
appendFileSync(${JSON.stringify(starts)}, "x");
setInterval(() => existsSync(${JSON.stringify(ends)}) && process.exit(), 1);
export default { collections: { things: { hooks: { before: ({ resource }) => resource } } } };
`,
  );
  const ended: WorkerEnd[] = [];
  const onEnd = (reason: WorkerEnd) => ended.push(reason);
  const runner = new HookWorker({ module, hookMs: 1_000, memoryMb: 64, onEnd });
  t.after(() => runner.stop());
  await runner.ready();
  writeFileSync(ends, "");
  await until("the worker has ended", () => ended.length > 0);
  for (let n = 0; n < 3; n++) await startAndEnd(); // a worker that started at once would have ended again
  assert.deepEqual(ended, ["exit"]);
  unlinkSync(ends);
  const input = { kind: "before", operation: "create", resource: "{}", previous: undefined } as const;
  const output = await runner.call("collections.things.hooks.before", {
    ...input,
    related: {},
    caller: undefined,
    now: 0,
  });
  assert.deepEqual(output, { kind: "done", text: "{}" });
  assert.equal(readFileSync(starts, "utf8"), "xx");
});

/** Starts a thread, and waits until it has ended. */
async function startAndEnd(): Promise<void> {
  await new Promise((resolve) => new Worker("", { eval: true }).once("exit", resolve));
}
