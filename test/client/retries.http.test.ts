/** Retries of the typed client: responses that are lost, late, or ask for a later attempt. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, describe, type TestContext, test } from "node:test";
import {
  type Client,
  ConflictError,
  createClient,
  etagOf,
  NetworkError,
  NotFoundError,
  ProblemError,
  ResultHiddenError,
  TimeoutError,
} from "../../client/src/index.ts";
import { waitMs } from "../../client/src/retry.ts";
import { type Service, startFor, startService } from "../http/service.ts";
import { machineTime, until } from "../until.ts";
import { config } from "./config.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

describe("when the answer is lost after the commit, the client", () => {
  let service: Service;
  let proxy: FaultProxy;
  let client: Client<typeof config>;
  before(async () => {
    service = await startService({ collections: config.collections });
    proxy = await startFaultProxy(service.port);
    client = createClient<typeof config>({ baseUrl: `${proxy.origin}/api/v1`, retry: { baseMs: 5 } });
  });
  beforeEach(() => proxy.loseAnswers(0));
  after(async () => {
    await proxy.stop();
    await service.stop();
  });

  test("creates once", async () => {
    const sent = proxy.requests;
    proxy.loseAnswers(2);
    const { id } = await client.articles.create({ title: "Created once" });
    assert.equal(proxy.requests - sent, 3);
    const found = await client.articles.list({ filter: { title: "Created once" } }).all();
    assert.deepEqual(
      found.map((article) => article.id),
      [id],
    );
  });

  test("patches once", async () => {
    const { id } = await client.articles.create({ title: "Patched", tags: [] });
    proxy.loseAnswers(1);
    const patched = await client.articles.patch(id, [{ op: "add", path: "/tags/-", value: "a" }]);
    assert.deepEqual([patched.tags, etagOf(patched)], [["a"], '"2"']);
  });

  test("counts once", async () => {
    const { id } = await client.articles.create({ title: "Counted" });
    proxy.loseAnswers(2);
    const updated = await client.articles.update(id, { views: { $increment: 1 } });
    assert.deepEqual([updated.views, etagOf(updated)], [1, '"2"']);
  });

  test("changes many once", async () => {
    const { id } = await client.articles.create({ title: "Many" });
    proxy.loseAnswers(1);
    const { ids } = await client.articles.bulk({
      filter: { title: "Many" },
      update: { views: { $increment: 1 } },
      max: 1,
    });
    assert.deepEqual([ids, (await client.articles.get(id)).views], [[id], 1]);
  });

  test("finds that its replacement has been made", async () => {
    const article = await client.articles.create({ title: "One", author: { name: "Ann" } });
    proxy.loseAnswers(1);
    const replaced = await client.articles.replace({ ...article, title: "Two", views: undefined as never });
    assert.deepEqual([replaced.title, etagOf(replaced)], ["Two", '"2"']);
    const book = await client.books.create({ title: "Emma" });
    proxy.loseAnswers(1);
    assert.equal((await client.books.replace({ ...book, year: 1815 })).year, 1815);
  });

  test("takes nobody else's replacement for its own", async () => {
    const article = await client.articles.create({ title: "One" });
    const direct = createClient<typeof config>({ baseUrl: `${service.origin}/api/v1` });
    proxy.loseAnswers(1, () => direct.articles.patch(article.id, { views: 9 }));
    await assert.rejects(
      client.articles.replace({ ...article, title: "Two" }),
      (error) => error instanceof ConflictError && (error.current as typeof article).views === 9,
    );
  });

  test("deletes once, what it has read", async () => {
    const article = await client.articles.create({ title: "One" });
    proxy.loseAnswers(1);
    await client.articles.delete(article);
  });

  test("carries out a batch once", async () => {
    proxy.loseAnswers(1);
    await client.$batch(({ articles }) => [
      articles.create({ title: "Batch" }),
      articles.create({ title: "Batch" }),
    ]);
    assert.equal((await client.articles.list({ filter: { title: "Batch" } }).all()).length, 2);
  });

  test("does not repeat what could undo the writes of others", async () => {
    const article = await client.articles.create({ title: "One" });
    for (const write of [
      () => client.articles.replace({ ...article, title: "Two" }, { ifMatch: "*" }),
      () => client.articles.delete(article.id),
    ]) {
      const sent = proxy.requests;
      proxy.loseAnswers(1);
      await assert.rejects(write(), NetworkError);
      assert.equal(proxy.requests - sent, 1);
    }
  });

  test("gives up in the end", async () => {
    const sent = proxy.requests;
    proxy.loseAnswers(100);
    await assert.rejects(client.articles.list().page(), NetworkError);
    assert.equal(proxy.requests - sent, 5);
  });
});

test("the client comes back when the rate limit lets it", async (t) => {
  const service = await startFor(t, { rate: { requests: 1, perSeconds: 1 } });
  const client = createClient({ baseUrl: `${service.origin}/api/v1`, retry: { baseMs: 5, attempts: 20 } });
  for (const n of [1, 2, 3]) await client.notes?.create({ n });
});

test("the client does not wait longer for the rate limit than it may", async (t) => {
  const service = await startFor(t, { rate: { requests: 1, perSeconds: 600 } });
  const client = createClient({ baseUrl: `${service.origin}/api/v1` });
  await client.notes?.create({});
  await assert.rejects(
    async () => client.notes?.create({}),
    (error) => error instanceof ProblemError && error.code === "QUOTA_EXCEEDED",
  );
});

/** Something on the way to the service that answers by itself. */
async function startStandIn(t: TestContext, answers: readonly (number | "nothing")[]) {
  const seen: { method: string; key: string | undefined; token: string | undefined }[] = [];
  const server = createServer((request, response) => {
    const answer = answers[seen.length] ?? 200;
    const { "idempotency-key": key, authorization: token } = request.headers;
    seen.push({ method: request.method ?? "", key: key as string | undefined, token });
    if (answer === "nothing") return;
    response
      .writeHead(answer, { "content-type": "application/json" })
      .end(answer === 200 ? '{"id":"1"}' : "<html>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test("a proxy's 502 and 503 are tried again with the same key and a new token", async (t) => {
  const { seen, baseUrl } = await startStandIn(t, [503, 502]);
  let asked = 0;
  const client = createClient({ baseUrl, token: async () => `t${++asked}`, retry: { baseMs: 1 } });
  await client.notes?.create({});
  assert.deepEqual(
    seen.map(({ token }) => token),
    ["Bearer t1", "Bearer t2", "Bearer t3"],
  );
  assert.equal(new Set(seen.map(({ key }) => key)).size, 1);
  assert.match(seen[0]?.key ?? "", /^[0-9a-f]{32}$/);
});

test("a proxy's 503 to what must not be repeated is an error", async (t) => {
  const { seen, baseUrl } = await startStandIn(t, [503, 503]);
  const client = createClient({ baseUrl, token: "fixed", retry: { baseMs: 1 } });
  await assert.rejects(
    async () => client.notes?.delete("1"),
    (error) => error instanceof ProblemError && error.code === undefined,
  );
  assert.deepEqual(seen, [{ method: "DELETE", key: undefined, token: "Bearer fixed" }]);
});

test("a proxy's 429 had no effect, so a 404 after it is an error", async (t) => {
  const { seen, baseUrl } = await startStandIn(t, [429, 404]);
  const client = createClient({ baseUrl, retry: { baseMs: 1 } });
  await assert.rejects(async () => client.notes?.delete("1", { ifMatch: '"1"' }), NotFoundError);
  assert.equal(seen.length, 2);
});

test("a call that fails before its request leaves no timer", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;
  const before = timers();
  const reason = new Error("no token");
  const token = () => Promise.reject(reason);
  const client = createClient({ baseUrl: "http://127.0.0.1:9", token });
  await assert.rejects(async () => client.notes?.get("1"), reason);
  assert.equal(timers(), before);
});

test("a token that never comes ends with the time limit or the signal of the call, and nothing is sent", async (t) => {
  const { seen, baseUrl } = await startStandIn(t, []);
  const client = createClient({ baseUrl, token: () => new Promise<string>(() => {}), timeoutMs: 20 });
  await assert.rejects(async () => client.notes?.get("1"), TimeoutError);
  const stop = new AbortController();
  const reason = new Error("stopped");
  const call = client.notes?.get("1", { signal: stop.signal, timeoutMs: 100_000 });
  stop.abort(reason);
  await assert.rejects(async () => call, reason);
  assert.deepEqual(seen, []);
});

test("a stream is sent once", async (t) => {
  const { seen, baseUrl } = await startStandIn(t, [503, 429]);
  const client = createClient({ baseUrl, retry: { baseMs: 1 } });
  for (const status of [503, 429])
    await assert.rejects(
      async () => {
        const body = ReadableStream.from([Buffer.from("{}")]);
        await client.notes?.import(body, { type: "application/x-ndjson", dryRun: true });
      },
      (error) => error instanceof ProblemError && error.status === status,
    );
  assert.equal(seen.length, 2);
});

test("what is not answered in time is tried again, and is an error in the end", async (t) => {
  const once = await startStandIn(t, ["nothing", ...Array(100).fill(200)]);
  const patient = { timeoutMs: 500, retry: { baseMs: 1, attempts: 100 } };
  await createClient({ baseUrl: once.baseUrl, ...patient }).notes?.get("1");
  assert.ok(once.seen.length >= 2); // more on a machine where an answer takes half a second
  const never = await startStandIn(t, ["nothing", "nothing"]);
  const client = createClient({ baseUrl: never.baseUrl, timeoutMs: 500, retry: { baseMs: 1, attempts: 2 } });
  await assert.rejects(async () => client.notes?.get("1"), TimeoutError);
  assert.equal(never.seen.length, 2);
});

test("who calls can call it off, during a request and between two", async (t) => {
  const { seen, baseUrl } = await startStandIn(t, ["nothing", 503, 503]);
  const reason = new Error("enough");
  const baseMs = 19_000;
  const client = createClient({ baseUrl, retry: { baseMs } });
  const timers = t.mock.method(globalThis, "setTimeout");
  const waits = () =>
    timers.mock.calls
      .map(({ arguments: [, ms] }) => Number(ms))
      .filter((ms) => ms >= baseMs / 2 && ms <= baseMs);
  for (const count of [1, 2]) {
    const controller = new AbortController();
    const reading = client.notes?.get("1", { signal: controller.signal });
    await until("the request has arrived", () => seen.length >= count);
    await until("it waits before the second try", () => waits().length === count - 1);
    controller.abort(reason);
    await assert.rejects(async () => reading, reason);
  }
  assert.equal(seen.length, 2);
});

test("waits grow, vary, heed Retry-After and have an end", () => {
  const options = { attempts: 5, baseMs: 100, maxMs: 1_000 };
  for (const [failures, most] of [
    [1, 100],
    [3, 400],
    [9, 1_000],
  ] as const) {
    const waits = Array.from({ length: 50 }, () => waitMs(failures, null, options) ?? 0);
    assert.ok(waits.every((ms) => ms >= most / 2 && ms <= most));
    assert.ok(new Set(waits).size > 10);
  }
  assert.ok((waitMs(1, "0", options) ?? 0) <= 100);
  assert.ok((waitMs(1, "1", { ...options, maxMs: 5_000 }) ?? 0) >= 1_000);
  const soon = new Date(machineTime() + 90_000).toUTCString();
  assert.ok((waitMs(1, soon, { ...options, maxMs: 100_000 }) ?? 0) >= 30_000);
  assert.equal(waitMs(1, "2", options), undefined);
});

test("a retry that must not see the stored response throws ResultHiddenError, and the write took effect", async (t) => {
  const service = await startFor(t, {
    collections: config.collections,
    trustProxy: ["127.0.0.1"],
  });
  // Without a credential, the service shows a stored response only to the address of the first request.
  const direct = createClient<typeof config>({ baseUrl: `${service.origin}/api/v1` });
  const { id } = await direct.articles.create({ title: "Hidden result", views: 1 });
  const client = () => {
    let tries = 0;
    return createClient<typeof config>({
      baseUrl: `${service.origin}/api/v1`,
      retry: { baseMs: 5 },
      fetch: async (url, init) => {
        const address = `192.0.2.${++tries}`;
        const response = await fetch(url, {
          ...init,
          headers: { ...(init?.headers as Record<string, string>), "X-Forwarded-For": address },
        });
        if (tries === 1) throw new TypeError("The answer is lost.");
        return response;
      },
    });
  };
  const isHidden = (error: unknown) =>
    error instanceof ResultHiddenError && /took effect/.test(error.message);
  const update = { views: { $increment: 1 } };
  await assert.rejects(client().articles.bulk({ filter: { views: { gte: 1 } }, update, max: 1 }), isHidden);
  await assert.rejects(
    client().$batch(({ articles }) => [articles.update(id, update)]),
    isHidden,
  );
  assert.equal((await direct.articles.get(id)).views, 3);
});
