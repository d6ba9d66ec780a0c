/** Limits that all threads of the process count together. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, type TestContext, test } from "node:test";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { createCallerHash } from "../../src/http/limits/caller-hash.ts";
import { createQuotas } from "../../src/http/limits/rate-limit.ts";
import { createLimits, type LimitsMemory, openLimits, sizeFor } from "../../src/http/limits/shared.ts";
import { StreamCounts } from "../../src/http/limits/stream-counts.ts";
import { until } from "../until.ts";
import { check } from "./check.ts";
import type { Connection } from "./connection.ts";
import type { Counting, Work } from "./counting-thread.ts";
import { follow } from "./follow.ts";
import { plainSettings } from "./plain-settings.ts";
import { type Service, type ServiceOptions, startService } from "./service.ts";

/** Starts threads that count. Returns when all have ended. */
async function runThreads(
  t: TestContext,
  { memory, work, seen }: Pick<Counting, "memory" | "work" | "seen">,
): Promise<void> {
  const { threads } = memory;
  const started = sharedIntegers(1);
  const workers = Array.from({ length: threads }, (_, thread) =>
    startThread({ memory, thread, work, started, threads, seen }),
  );
  t.after(() => Promise.all(workers.map((worker) => worker.terminate())));
  await Promise.all(workers.map((worker) => once(worker, "exit")));
}

function startThread(workerData: Counting): Worker {
  return new Worker(new URL("./counting-thread.ts", import.meta.url), { workerData });
}

function sharedIntegers(length: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT));
}

describe("threads", () => {
  const rate = { requests: 1_000, perSeconds: 86_400 };

  test("together let each caller have exactly its quota", async (t) => {
    const callers = Array.from({ length: 7 }, (_, n) => `caller ${n}`);
    const memory = createLimits({ threads: 4, callers: 100_000, streams: 0 });
    const seen = sharedIntegers(callers.length);
    const large = { ...rate, requests: 50_000 };
    await runThreads(t, { memory, work: { kind: "take", rate: large, callers, times: 100_000 }, seen });
    assert.deepEqual(
      [...seen],
      callers.map(() => 50_000),
    );
    const { addresses, principals } = createQuotas(large, openLimits(memory, 0));
    assert.equal(addresses.size(), callers.length);
    assert.equal(principals.size(), 0);
    assert.equal(addresses.look("caller 3").remaining, 0);
    assert.equal(addresses.look("another").remaining, 50_000);
  });

  test("together never count more callers than the most", async (t) => {
    const callers = Array.from({ length: 2_000 }, (_, n) => `caller ${n}`);
    const memory = createLimits({ threads: 4, callers: 1_000, streams: 0 });
    const seen = sharedIntegers(callers.length);
    await runThreads(t, { memory, work: { kind: "take", rate, callers, times: 10_000 }, seen });
    const { addresses } = createQuotas(rate, openLimits(memory, 0));
    assert.equal(addresses.size(), 1_000);
    assert.equal(callers.filter((caller) => addresses.look(caller).remaining < 1_000).length, 1_000);
  });

  test("together never have more streams than the limits, and none after all are closed", async (t) => {
    const limits = { streams: 50, streamsPerCaller: 10 };
    const memory = createLimits({ threads: 4, callers: 0, streams: limits.streams });
    const seen = sharedIntegers(9);
    await runThreads(t, { memory, work: { kind: "stream", limits, callers: 8, times: 10_000 }, seen });
    assert.deepEqual([...seen], Array(9).fill(0));
    const counts = new StreamCounts(limits, openLimits(memory, 0));
    assert.equal(counts.count, 0);
    for (let caller = 0; caller < 5; caller++) for (let n = 0; n < 10; n++) counts.open(`${caller}`);
    assert.throws(() => counts.open("5"), { code: "UNAVAILABLE" });
    assert.throws(() => counts.open("0"), { code: "QUOTA_EXCEEDED" });
  });

  /** Starts a thread that holds the lock of a caller, and waits until it has it. */
  async function holdLock(t: TestContext, kind: "die" | "dawdle"): Promise<LimitsMemory> {
    const memory = createLimits({ threads: 2, callers: 10, streams: 0 });
    createQuotas(rate, openLimits(memory, 0), { clock: () => 0 }).addresses.take("b");
    const seen = sharedIntegers(1);
    const work: Work = { kind, rate, caller: "a" };
    const worker = startThread({ memory, thread: 1, work, started: sharedIntegers(1), threads: 1, seen });
    t.after(() => worker.terminate());
    const hasEnded = once(worker, "exit");
    if (kind === "die") await hasEnded;
    else await until("the thread has the lock", () => Atomics.load(seen, 0) === 1);
    return memory;
  }

  test("wait for one that counts", async (t) => {
    const memory = await holdLock(t, "dawdle");
    const { addresses } = createQuotas(rate, openLimits(memory, 0), { clock: () => 2 });
    assert.equal(addresses.take("a").remaining, 998);
  });

  test("do not wait for ever for one that died while it counted, and forget what it can have spoilt", async (t) => {
    const memory = await holdLock(t, "die");
    const { addresses } = createQuotas(rate, openLimits(memory, 0));
    assert.equal(addresses.take("a").remaining, 999);
    assert.equal(addresses.take("a").remaining, 998);
    assert.equal(addresses.size(), 1);
  });
});

test("streams of many callers are counted as if each had a counter", () => {
  const limits = { streams: 12, streamsPerCaller: 3 };
  const steps = fc.array(fc.record({ caller: fc.nat(9), opens: fc.boolean() }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (all) => {
      const memory = createLimits({ threads: 2, callers: 0, streams: limits.streams });
      const threads = [0, 1].map((thread) => new StreamCounts(limits, openLimits(memory, thread)));
      const open = new Map<number, (() => void)[]>();
      const total = () => [...open.values()].reduce((sum, { length }) => sum + length, 0);
      for (const [n, { caller, opens }] of all.entries()) {
        const own = open.get(caller) ?? [];
        open.set(caller, own);
        const openOne = () => threads[n % 2]?.open(`${caller}`) as () => void;
        if (!opens) own.pop()?.();
        else if (own.length >= 3) assert.throws(openOne, { code: "QUOTA_EXCEEDED" });
        else if (total() >= 12) assert.throws(openOne, { code: "UNAVAILABLE" });
        else own.push(openOne());
        assert.equal(threads[0]?.count, total());
      }
    }),
  );
});

describe("the number of a caller", () => {
  test("is a whole number below 2⁵² that depends on the key and on the whole name", () => {
    const names = fc.string({ maxLength: 200 });
    fc.assert(
      fc.property(fc.string(), fc.string(), names, names, (key, otherKey, name, otherName) => {
        const number = createCallerHash(key)(name);
        assert.ok(Number.isInteger(number) && number >= 0 && number < 2 ** 52, `${number}`);
        assert.equal(createCallerHash(key)(name), number);
        assert.equal(createCallerHash(key)(otherName) === number, name === otherName);
        assert.equal(createCallerHash(otherKey)(name) === number, key === otherKey);
      }),
    );
  });

  test("differs for names with different lone surrogates", () => {
    const hash = createCallerHash("key");
    const names = ["\ud800", "\udfff", "\ufffd", "\\ud800"];
    assert.equal(new Set(names.map(hash)).size, names.length);
  });

  test("is another one with another key, and differs for 100,000 callers", () => {
    const callers = Array.from({ length: 100_000 }, (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
    const [first, second] = [0, 1].map(() => openLimits(createLimits(sizeFor(plainSettings, 1)), 0).hash);
    assert.equal(new Set(callers.map((caller) => first?.(caller))).size, callers.length);
    assert.equal(callers.filter((caller) => first?.(caller) === second?.(caller)).length, 0);
  });
});

/** Two services that count together, as two threads do. */
async function startTwo(t: TestContext, options: ServiceOptions): Promise<[Service, Service]> {
  const limits = createLimits({ threads: 2, callers: 100, streams: options.limits?.streams ?? 0 });
  const start = async (thread: number) => {
    const service = await startService({ ...options, shared: { limits, thread } });
    t.after(() => service.stop());
    return service;
  };
  return [await start(0), await start(1)];
}

describe("services that share the memory of their limits", () => {
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
