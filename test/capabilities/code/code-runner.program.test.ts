/** The runners of functions that may wait: in a worker, and in the thread of the service. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { CallThread } from "../../../src/capabilities/code/calls/call-thread.ts";
import {
  type CodeBounds,
  type CodeCall,
  type CodeOutcome,
  type CodeRunner,
  codeBounds,
} from "../../../src/capabilities/code/calls/code-runner.ts";
import { CodeWorker } from "../../../src/capabilities/code/calls/code-worker.ts";
import { HereCodeRunner } from "../../../src/capabilities/code/calls/here-code-runner.ts";
import { startTimer } from "../../../src/clock.ts";
import { compileConfig } from "../../../src/config.ts";
import { createInside, type InsideFetch } from "../../../src/http/inside.ts";
import { openService } from "../../../src/server/open-service.ts";
import { makeFolder } from "../../folder.ts";
import { until } from "../../until.ts";

const source = `
let kept;
const forever = () => new Promise(() => {});
const aborted = (signal) => new Promise((resolve) => {
  const end = () => resolve(signal.reason.message);
  if (signal.aborted) end();
  else signal.addEventListener("abort", end);
});
export default {
  routes: {
    add: { run: async ({ a, b }) => ({ sum: a + b }) },
    nothing: { run: async () => {} },
    date: { run: async () => ({ at: { when: new Date(0) } }) },
    fail: { run: async () => { throw new Error("no luck"); } },
    text: { run: async () => { throw "text"; } },
    create: { run: async ({ client, title }) => (await client.notes.create({ title })).id },
    both: { run: async ({ client, service }) => [await client.$read("/notes"), await service.$read("/notes")].map((items) => items.length) },
    missing: { run: async ({ client }) => client.notes.get("nosuch").catch((error) => error.status) },
    many: { run: async ({ client, times }) => {
      let n = 0;
      try { for (; n < times; n++) await client.$read("/"); } catch (error) { return [n, error.message]; }
      return [n];
    } },
    keep: { run: async ({ client }) => { kept = client; } },
    late: { run: async () => kept.$read("/").catch((error) => error.message) },
    slow: { run: ({ signal }) => aborted(signal) },
    slowUse: { run: async ({ signal, client }) => { await aborted(signal); return client.$read("/").catch((error) => error.message); } },
    hang: { run: forever },
    loop: { run: async () => { for (;;); } },
    exit: { run: async () => { process.exit(); } },
    memory: { run: async () => { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)); } },
    stray: { run: async () => { void Promise.reject(new Error("nobody awaits this")); return "fine"; } },
    heard: { run: async ({ signal }) => { globalThis.heard = await aborted(signal); } },
    odd: { run: async () => { void Promise.reject(Object.create(null)); return "fine"; } },
    bytes: { run: async ({ client }) => client.notes.import(new Uint8Array([0x69, 0x64, 0x0a, 0xe9]), { type: "text/csv" }).catch((error) => String(error.cause ?? error)) },
    null: { run: async () => { setImmediate(() => { throw null; }); await forever(); } },
    crash: { run: async () => { setImmediate(() => { throw new Error("crashed"); }); await forever(); } },
  },
};
`;

const folder = makeFolder();
const module = join(folder, "module.js");
writeFileSync(module, source);
const configuration = ((await import(pathToFileURL(module).href)) as { default: object }).default;

const prefix = "/api/v1";

/** Bounds in which a test need not wait for long. */
const tight: CodeBounds = { ...codeBounds, graceMs: 20, busyMs: 300 };

function inWorker(t: TestContext, bounds: CodeBounds = tight) {
  const troubles: string[] = [];
  const tell = (what: string) => void troubles.push(what);
  const runner = new CodeWorker({ module, memoryMb: 32, prefix, bounds, onEnd: tell, onStray: tell });
  t.after(() => runner.stop());
  return { runner, troubles };
}

function here(t: TestContext, bounds: CodeBounds = tight) {
  const runner = new HereCodeRunner(configuration, { prefix, bounds, clock: { startTimer } });
  t.after(() => runner.stop());
  return { runner };
}

async function openInside(t: TestContext): Promise<InsideFetch> {
  const own = makeFolder();
  const config = await compileConfig({ store: `sqlite:${join(own, "store.db")}` }, own);
  const { service, close } = await openService(config);
  t.after(close);
  return createInside(service)({ principal: undefined });
}

const call = (name: string, more: Partial<CodeCall> = {}): CodeCall => ({
  place: `routes.${name}.run`,
  input: {},
  clients: {},
  timeoutMs: 60_000,
  ...more,
});

function failureOf(outcome: CodeOutcome): { reason: string; message: string } {
  assert.ok(outcome.kind === "failed", JSON.stringify(outcome));
  return outcome;
}

const resultOf = async (runner: CodeRunner, ...args: Parameters<typeof call>) => {
  const outcome = await runner.run(call(...args));
  assert.ok(outcome.kind === "done", JSON.stringify(outcome));
  return outcome.value;
};

for (const [where, open] of [
  ["a worker", inWorker],
  ["the thread of the service", here],
] as const) {
  test(`in ${where}, a function gets its input and returns plain data`, async (t) => {
    const { runner } = open(t);
    assert.deepEqual(await resultOf(runner, "add", { input: { a: 1, b: 2 } }), { sum: 3 });
    assert.equal(await resultOf(runner, "nothing"), undefined);
    const date = failureOf(await runner.run(call("date")));
    assert.equal(date.reason, "result");
    assert.match(date.message, /^The result at \/at\/when is an object of Date\. Use its toISOString\(\)\.$/);
  });

  test(`in ${where}, what a function throws is its failure`, async (t) => {
    const { runner } = open(t);
    const failed = failureOf(await runner.run(call("fail")));
    assert.equal(failed.reason, "throw");
    assert.match(failed.message, /^Error: no luck\n.*module\.js/s);
    assert.match(failureOf(await runner.run(call("text"))).message, /^It threw a text: text/);
    assert.match(
      failureOf(await runner.run(call("nosuch"))).message,
      /routes\.nosuch\.run is not a function/,
    );
  });

  test(`in ${where}, clients send requests, each as its caller`, async (t) => {
    const { runner } = open(t);
    const fetch = await openInside(t);
    const seen: string[] = [];
    const client: InsideFetch = (request, signal) => {
      seen.push(`${request.method} ${request.target}`);
      return fetch(request, signal);
    };
    const id = await resultOf(runner, "create", { input: { title: "One" }, clients: { client } });
    assert.equal(typeof id, "string");
    assert.deepEqual(seen, ["POST /api/v1/notes"]);
    assert.deepEqual(await resultOf(runner, "both", { clients: { client, service: fetch } }), [1, 1]);
    assert.equal(await resultOf(runner, "missing", { clients: { client } }), 404);
  });

  test(`in ${where}, one call sends at most as many requests as it can`, async (t) => {
    const { runner } = open(t);
    const client = await openInside(t);
    const many = (times: number, requests?: number) =>
      resultOf(runner, "many", {
        input: { times },
        clients: { client },
        ...(requests !== undefined && { requests }),
      });
    assert.deepEqual(await many(100), [100]);
    assert.deepEqual(await many(101), [
      100,
      "One call of routes.many.run can send 100 requests. Send several operations in one request with $batch.",
    ]);
    assert.equal(((await many(3, 2)) as number[])[0], 2);
    assert.deepEqual(await many(101, 101), [101]);
  });

  test(`in ${where}, a client ends with its call`, async (t) => {
    const { runner } = open(t);
    await resultOf(runner, "keep", { clients: { client: await openInside(t) } });
    assert.match(
      String(await resultOf(runner, "late")),
      /^The call of routes\.keep\.run has ended\. Await each request in the function\. The function can send no more requests\./,
    );
  });

  test(`in ${where}, the signal of a function is aborted in time, and its clients end`, async (t) => {
    const { runner } = open(t, { ...tight, graceMs: 60_000 });
    assert.equal(
      await resultOf(runner, "slow", { timeoutMs: 1 }),
      "routes.slow.run has taken longer than 1 ms.",
    );
    const clients = { client: await openInside(t) };
    const used = String(await resultOf(runner, "slowUse", { timeoutMs: 1, clients }));
    assert.match(
      used,
      /^routes\.slowUse\.run has taken longer than 1 ms\. The function can send no more requests\./,
    );
    assert.equal(
      await resultOf(runner, "slow", { signal: AbortSignal.abort() }),
      "The client of the request has gone away.",
    );
    const gone = new AbortController();
    const slow = resultOf(runner, "slow", { signal: gone.signal });
    gone.abort();
    assert.equal(await slow, "The client of the request has gone away.");
  });

  test(`in ${where}, a call that does not end has failed`, async (t) => {
    const { runner } = open(t);
    const hung = failureOf(await runner.run(call("hang", { timeoutMs: 1 })));
    assert.deepEqual([hung.reason, hung.message], ["time", "routes.hang.run has taken longer than 1 ms."]);
    assert.deepEqual(await resultOf(runner, "add", { input: { a: 1, b: 2 } }), { sum: 3 });
  });

  test(`in ${where}, a call that the service ends early has failed soon, and one whose client has gone keeps its time`, async (t) => {
    const { runner } = open(t);
    const [gone, ended] = [new AbortController(), new AbortController()];
    let hasFailed = false;
    void runner.run(call("hang", { signal: gone.signal })).then(() => {
      hasFailed = true;
    });
    const hung = runner.run(call("hang", { signal: ended.signal }));
    await resultOf(runner, "nothing"); // both have begun
    gone.abort();
    ended.abort(new Error("The lease is lost."));
    const { reason, message } = failureOf(await hung);
    assert.deepEqual([reason, message, hasFailed], ["time", "The lease is lost.", false]);
  });

  test(`in ${where}, no call runs after the stop`, async (t) => {
    const { runner } = open(t);
    const running = runner.run(call("hang"));
    await runner.stop();
    assert.equal(failureOf(await running).reason, "exit");
    const { reason, message } = failureOf(await runner.run(call("nothing")));
    assert.deepEqual([reason, message], ["exit", "The service has stopped."]);
  });
}

test("a call that hangs ends no other call", async (t) => {
  const { runner, troubles } = inWorker(t);
  const stop = new AbortController();
  const other = runner.run(call("slow", { signal: stop.signal }));
  assert.equal(failureOf(await runner.run(call("hang", { timeoutMs: 1 }))).reason, "time");
  assert.deepEqual(await resultOf(runner, "add", { input: { a: 1, b: 2 } }), { sum: 3 });
  stop.abort();
  assert.equal((await other).kind, "done");
  assert.deepEqual(troubles, []);
});

test("too many workers with calls that hang are ended", async (t) => {
  const { runner } = inWorker(t);
  const others: Promise<CodeOutcome>[] = [];
  for (let n = 0; n < 3; n++) {
    others.push(runner.run(call("slow")));
    await runner.run(call("hang", { timeoutMs: 1 }));
  }
  assert.equal(
    failureOf((await others[0]) as CodeOutcome).message,
    "Other calls did not end in time, so the service has ended this thread.",
  );
});

for (const [name, reason, message] of [
  ["loop", "time", /code that never waits, such as an endless loop/],
  ["exit", "exit", /such as with process\.exit\(\)/],
  ["memory", "memory", /more than 32 MiB of memory/],
  ["crash", "exit", /Error: crashed/],
  ["null", "exit", /It threw null/],
] as const)
  test(`a worker that ends takes its calls with it, and the next call has a new one: ${name}`, async (t) => {
    // On a busy machine, memory costs much processor time.
    const { runner, troubles } = inWorker(t, name === "loop" ? tight : { ...tight, busyMs: 60_000 });
    const other = runner.run(call("hang"));
    const failed = failureOf(await runner.run(call(name)));
    assert.equal(failed.reason, reason);
    assert.match(failed.message, message);
    assert.equal(failureOf(await other).reason, reason);
    assert.equal(troubles.length, 1);
    assert.deepEqual(await resultOf(runner, "add", { input: { a: 1, b: 2 } }), { sum: 3 });
  });

test("a rejection that nothing handles is told, and ends no call", async (t) => {
  const { runner, troubles } = inWorker(t);
  assert.equal(await resultOf(runner, "stray"), "fine");
  await until("the rejection is told", () => troubles.length === 1);
  assert.match(troubles[0] ?? "", /^Nothing handles an error of the code: Error: nobody awaits this/);
  assert.equal(await resultOf(runner, "odd"), "fine");
  await until("a value that is no error is told too", () => troubles.length === 2);
  assert.match(troubles[1] ?? "", /It threw an object/);
  assert.equal(await resultOf(runner, "stray"), "fine");
});

test("a client refuses bytes that are not UTF-8, because they would change", async (t) => {
  const { runner } = inWorker(t);
  const clients = { client: await openInside(t) };
  assert.match(String(await resultOf(runner, "bytes", { clients })), /can only send text in UTF-8/);
});

test("a module that cannot be loaded fails its calls, and the next call loads it again", async (t) => {
  const own = join(makeFolder(), "module.js");
  writeFileSync(own, 'throw new Error("no module");');
  const runner = new CodeWorker({ module: own, memoryMb: 32, prefix, bounds: tight });
  t.after(() => runner.stop());
  const failed = failureOf(await runner.run(call("add")));
  assert.equal(failed.reason, "load");
  assert.match(failed.message, /Error: no module/);
  writeFileSync(own, source);
  assert.deepEqual(await resultOf(runner, "add", { input: { a: 1, b: 2 } }), { sum: 3 });
});

for (const [where, open] of [
  ["a worker", inWorker],
  ["the thread of the service", here],
] as const)
  test(`in ${where}, a call that must end before it begins does not begin`, async (t) => {
    const { runner } = open(t);
    await resultOf(runner, "nothing"); // the worker has loaded the module
    const signal = AbortSignal.abort(new Error("The test wants it."));
    const { message } = failureOf(await runner.run(call("add", { input: { a: 1, b: 2 }, signal })));
    assert.equal(message, "The test wants it.");
  });

test("in the thread of the service, a stop aborts the signals of calls", async (t) => {
  const { runner } = here(t);
  const heard = () => (globalThis as { heard?: string }).heard;
  const ended = runner.run(call("heard"));
  await runner.stop();
  assert.equal(failureOf(await ended).message, "The service has stopped.");
  await until("the function learns of it", () => heard() === "The service has stopped.");
});

test("a worker that is being ended gets no further calls", async () => {
  let isEnding = false;
  const { promise: hasEnded, resolve: onEnd } = Promise.withResolvers<unknown>();
  const onEnding = () => {
    isEnding = true;
  };
  const owner = { onHung: () => {}, onEnding, onStray: () => {}, onEnd };
  const thread = new CallThread({ module, memoryMb: 32, prefix, bounds: tight }, owner);
  const ended = thread.end("The test is over.");
  assert.ok(isEnding, "the owner learns of it before the worker has ended");
  await ended;
  assert.equal(await hasEnded, undefined);
});
