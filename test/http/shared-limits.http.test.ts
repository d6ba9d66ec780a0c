/** Limits that all threads of the process count together. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { MessageChannel, Worker } from "node:worker_threads";
import fc from "fast-check";
import { createCounts } from "../../src/http/admission/counts.ts";
import { type Counting, startCounting } from "../../src/http/admission/exact-counts.ts";
import { createQuotas, keyOf } from "../../src/http/admission/quotas.ts";
import { defaultLimits, type HttpSettings } from "../../src/http/settings.ts";
import { answerCalls } from "../../src/server/calls.ts";
import { until } from "../until.ts";
import { countTogether } from "./admission.ts";
import { check } from "./check.ts";
import type { Connection } from "./connection.ts";
import type { Counting as ThreadCounting, Work } from "./counting-thread.ts";
import { follow } from "./follow.ts";
import { type Service, type ServiceOptions, startFor } from "./service.ts";

/** Lets other threads count. Returns the counts of this thread, which is the main one, when all others have ended. */
async function runThreads(
  t: TestContext,
  settings: Pick<HttpSettings, "rate" | "limits">,
  { threads, work, seen }: { threads: number; work: Work; seen: Int32Array },
): Promise<Counting> {
  const memory = createCounts(threads + 1);
  const main = startCounting(settings, memory);
  const workers = Array.from({ length: threads }, (_, index) => {
    const { port1, port2 } = new MessageChannel();
    answerCalls(port1, { ...main.exact });
    const workerData: ThreadCounting = { memory, thread: index + 1, port: port2, settings, work, seen };
    const file = new URL("./counting-thread.ts", import.meta.url);
    return new Worker(file, { workerData, transferList: [port2] });
  });
  t.after(() => Promise.all(workers.map((worker) => worker.terminate())));
  await Promise.all(workers.map((worker) => once(worker, "exit")));
  return main;
}

function sharedIntegers(length: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT));
}

describe("threads", () => {
  test("together never let a caller have more than its quota, and refuse it only after nine tenths", async (t) => {
    const callers = Array.from({ length: 7 }, (_, n) => `caller ${n}`);
    const settings = { rate: { requests: 5_000, perSeconds: 86_400 }, limits: defaultLimits };
    const seen = sharedIntegers(callers.length);
    // Each caller sends 5,714 requests, so it is refused.
    const { quotas } = await runThreads(t, settings, {
      threads: 4,
      work: { kind: "take", callers, times: 10_000 },
      seen,
    });
    for (const allowed of seen) assert.ok(allowed <= 5_000 && allowed > 4_500, `${allowed}`);
    assert.equal(quotas?.addresses.size, callers.length);
    assert.equal(quotas.principals.size, 0);
    assert.equal(quotas.addresses.look("caller 3").remaining, 0);
    assert.equal(quotas.addresses.look("another").remaining, 5_000);
  });

  test("together never have more streams than the limits, and none after all are closed", async (t) => {
    const limits = { ...defaultLimits, streams: 50, streamsPerCaller: 10 };
    const seen = sharedIntegers(9);
    const { counts, exact } = await runThreads(
      t,
      { rate: undefined, limits },
      {
        threads: 4,
        work: { kind: "stream", callers: 8, times: 2_000 },
        seen,
      },
    );
    assert.deepEqual([...seen], Array(9).fill(0));
    await until("the main thread has the last messages", () => counts.streams.all === 0);
    for (let caller = 0; caller < 5; caller++)
      for (let n = 0; n < 10; n++) assert.equal(typeof exact.stream(`${caller}`), "function");
    assert.equal(exact.stream("0"), "caller");
    assert.equal(exact.stream("5"), "all");
  });
});

describe("a quota", () => {
  const rate = { requests: 100, perSeconds: 60 };

  test("is exact for a client with one connection, whichever thread answers it", async (t) => {
    for (const [thread, { quotas }] of countTogether(t, { rate, limits: defaultLimits }, 3).entries()) {
      const caller = `of thread ${thread}`;
      for (let left = 99; left >= 0; left--) {
        const { remaining, isExceeded } = (await quotas?.principals.take(caller)) ?? {};
        assert.deepEqual({ remaining, isExceeded }, { remaining: left, isExceeded: false });
      }
      assert.equal((await quotas?.principals.take(caller))?.isExceeded, true);
      assert.equal(quotas?.principals.look(caller).remaining, 0);
    }
  });

  test("of any run of requests in any threads is never exceeded, and nine tenths of it can be used", async () => {
    const steps = fc.array(
      fc.record({ thread: fc.nat(3), requests: fc.integer({ min: 1, max: 60 }), waitMs: fc.nat(20_000) }),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        let now = 0;
        const options = { threads: 4, clock: () => now };
        const main = createQuotas(rate, options);
        const lease = async (kind: "principals" | "addresses", key: string) => main[kind].lease(key);
        const others = [1, 2, 3].map(() => createQuotas(rate, { ...options, main: { lease } }));
        const threads = [main, ...others];
        let window = { begin: 0, allowed: 0 };
        for (const { thread, requests, waitMs } of all) {
          now += waitMs;
          if (now - window.begin >= 60_000 || window.allowed === 0) window = { begin: now, allowed: 0 };
          const taken = Array.from({ length: requests }, () => threads[thread]?.addresses.take("a"));
          for (const quota of await Promise.all(taken)) {
            if (quota?.isExceeded === false) window.allowed++;
            else assert.ok(window.allowed >= 90, `${window.allowed}`);
            assert.equal(quota?.resetSeconds, Math.ceil((window.begin + 60_000 - now) / 1_000));
          }
          assert.ok(window.allowed <= 100, `${window.allowed}`);
        }
      }),
    );
  });
});

test("streams of many callers are counted as if each had a counter", async (t) => {
  const limits = { ...defaultLimits, streams: 12, streamsPerCaller: 3 };
  const steps = fc.array(fc.record({ caller: fc.nat(9), opens: fc.boolean() }), { maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const threads = countTogether(t, { rate: undefined, limits }, 2);
      const open = new Map<number, (() => void)[]>();
      const total = () => [...open.values()].reduce((sum, { length }) => sum + length, 0);
      for (const [n, { caller, opens }] of all.entries()) {
        const own = open.get(caller) ?? [];
        open.set(caller, own);
        if (opens) {
          const given = await threads[n % 2]?.exact.stream(`${caller}`);
          if (own.length >= 3) assert.equal(given, "caller");
          else if (total() >= 12) assert.equal(given, "all");
          else own.push(given as () => void);
        } else {
          own.pop()?.();
          await threads[1]?.exact.creation().then((release) => release()); // the main thread has the message
        }
        assert.equal(threads[0]?.counts.streams.all, total());
        assert.equal(threads[1]?.counts.streams.all, total());
      }
    }),
    { numRuns: 50 },
  );
});

test("one request at a time creates a collection, in whichever thread", async (t) => {
  const threads = countTogether(t, { rate: undefined, limits: defaultLimits }, 3);
  let atWork = 0;
  let created = 0;
  const create = async ({ exact }: Counting) => {
    const release = await exact.creation();
    assert.equal(++atWork, 1);
    await nextTurn();
    atWork--;
    created++;
    release();
    release();
  };
  await Promise.all([...threads, ...threads, ...threads].map(create));
  assert.equal(created, 9);
});

test("the key of a caller is short, and differs for different names", () => {
  const names = fc.string({ unit: "binary", maxLength: 200 });
  fc.assert(
    fc.property(names, names, (name, other) => {
      assert.ok(keyOf(name).length <= 64);
      assert.equal(keyOf(name) === keyOf(other), name === other);
      assert.notEqual(keyOf(keyOf(`${name}${"x".repeat(64)}`)), keyOf(`${name}${"x".repeat(64)}`));
    }),
  );
  const long = ["\ud800", "\udfff", "\ufffd", "\\ud800"].map((end) => "x".repeat(100) + end);
  assert.equal(new Set(long.map(keyOf)).size, long.length);
});

/** Two services that count together, as two threads do. */
async function startTwo(t: TestContext, options: ServiceOptions): Promise<[Service, Service]> {
  const settings = { rate: options.rate, limits: { ...defaultLimits, ...options.limits } };
  const [main, other] = countTogether(t, settings, 2);
  const start = async (counting: Counting | undefined) => {
    const service = await startFor(t, { ...options, ...(counting && { counting }) });
    return service;
  };
  return [await start(main), await start(other)];
}

describe("services that count together", () => {
  const path = "/api/v1/topics";
  const host = "Host: localhost\r\n";

  test("count the requests of a caller together", async (t) => {
    const [first, second] = await startTwo(t, { rate: { requests: 3, perSeconds: 60 } });
    const told = (remaining: number) => ({ RateLimit: new RegExp(`^"default";r=${remaining};t=(60|5\\d)$`) });
    check(await first.send({ path }), { status: 200, headers: told(2) });
    check(await second.send({ path }), { status: 200, headers: told(1) });
    assert.equal((await second.send({ path: "/livez" })).status, 200);
    check(await first.send({ path }), { status: 200, headers: told(0) });
    check(await second.send({ path }), { status: 429, headers: told(0) });
    check(await first.send({ path }), { status: 429, headers: told(0) });
  });

  test("count connections together", async (t) => {
    const [first, second] = await startTwo(t, { wireBounds: { maxConnections: 3 } });
    const ask = async (connection: Connection) => {
      connection.write(`GET /livez HTTP/1.1\r\n${host}\r\n`);
      return (await connection.answer()).status;
    };
    const held = [await first.connect(), await first.connect(), await second.connect()];
    for (const connection of held) assert.equal(await ask(connection), 200);
    for (const service of [first, second]) assert.equal(await (await service.connect()).untilClosed(), "");
    held[0]?.close();
    await until("the other service accepts a connection", async () => {
      const next = await second.connect();
      return ask(next).then(
        (status) => status === 200,
        () => false,
      );
    });
    assert.equal(await (await first.connect()).untilClosed(), "");
  });

  test("count requests in progress together", async (t) => {
    const [first, second] = await startTwo(t, { wireBounds: { maxRequests: 2 } });
    const statusOf = async (service: Service) => (await service.send({ path }, { mayFail: true })).status;
    const start = async (service: Service) => {
      const connection = await service.connect();
      const json = "Content-Type: application/json\r\n";
      connection.write(`POST ${path} HTTP/1.1\r\n${host}${json}Content-Length: 7\r\n\r\n{"n`);
      return connection;
    };
    const held = [await start(first), await start(second)];
    for (const service of [first, second])
      await until("no request is accepted", async () => (await statusOf(service)) === 503);
    held[0]?.close();
    await until("the other service accepts a request", async () => (await statusOf(second)) === 200);
    held[1]?.close();
  });

  test("count held bytes together", async (t) => {
    const [first, second] = await startTwo(t, { wireBounds: { maxHeldBytes: 200_000 } });
    const connection = await first.connect();
    const length = 300_000;
    const head = `POST ${path} HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
    connection.write(`${head}${" ".repeat(length - 2)}`);
    const large = { method: "POST", path, content: { text: "x".repeat(50_000) } };
    await until("the other service has no memory", async () => {
      return (await second.send(large, { mayFail: true })).status === 503;
    });
    connection.write("{}");
    assert.equal((await connection.answer("POST")).status, 201);
    assert.equal((await second.send(large)).status, 201);
  });

  test("count streams together", async (t) => {
    const limits = { streams: 3, streamsPerCaller: 2 };
    const [first, second] = await startTwo(t, { limits, trustProxy: ["127.0.0.1"] });
    const events = `${path}/_events`;
    const from = (n: number) => ({ "x-forwarded-for": `10.0.0.${n}` });
    for (const service of [first, second]) await service.create("topics");
    const streams = [await follow(first, events, from(1)), await follow(second, events, from(1))];
    t.after(() => {
      for (const stream of streams) stream.close();
    });
    for (const service of [first, second]) assert.equal((await follow(service, events, from(1))).status, 429);
    streams.push(await follow(second, events, from(2)));
    assert.equal((await follow(first, events, from(3))).status, 503);
    streams[0]?.close();
    await until("the other service has room", async () => {
      const stream = await follow(second, events, from(1));
      streams.push(stream);
      return stream.status === 200;
    });
  });
});
