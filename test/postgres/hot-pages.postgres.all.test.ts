/** Pages that the service keeps, and that the database must confirm for each request. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port/store.ts";
import { openBelow } from "../http/below.ts";
import { declaration } from "../store/contract/fixture.ts";
import { mendChecksums } from "../store/mend-checksums.ts";
import { until } from "../until.ts";
import { openLists } from "./counted-lists.ts";
import { openDatabase, query } from "./databases.ts";
import { startPostgres } from "./server.ts";

test("a list that is read twice in one state is kept, and costs a read of the head from then on", async (t) => {
  const { put, ids, taken } = await openLists(t);
  await put("a", { n: 1 });
  const ask = () => ids({ limit: 10, filter: { kind: "in", path: ["n"], values: [1] } });
  for (let time = 0; time < 2; time++) assert.deepEqual(await ask(), ["a"]);
  assert.deepEqual(taken(), { pages: 2, heads: 0 });
  for (let time = 0; time < 5; time++) assert.deepEqual(await ask(), ["a"]);
  assert.deepEqual(taken(), { pages: 0, heads: 5 });
  await put("b", { n: 1 });
  assert.deepEqual(await ask(), ["a", "b"]);
  assert.deepEqual(taken(), { pages: 1, heads: 1 });
  await put("c", { n: 1 });
  assert.deepEqual(await ask(), ["a", "b", "c"]);
  assert.deepEqual(taken(), { pages: 1, heads: 0 }, "the page was read only once in its state");
});

test("different lists that wait together share the read of the head", async (t) => {
  const { put, ids, taken } = await openLists(t);
  await put("a");
  const askAll = () => Promise.all(Array.from({ length: 50 }, (_, n) => ids({ limit: n + 1 })));
  for (let time = 0; time < 2; time++) await askAll();
  assert.deepEqual(taken(), { pages: 100, heads: 0 });
  assert.deepEqual(await askAll(), Array(50).fill(["a"]));
  assert.deepEqual(taken(), { pages: 0, heads: 1 });
});

test("a request never uses a head that was read before it arrived", async (t) => {
  const { put, ids, taken, delay } = await openLists(t);
  await put("a");
  for (let time = 0; time < 3; time++) await ids({ limit: 10 });
  taken();
  const { promise, resolve: arrive } = Promise.withResolvers<void>();
  delay(promise);
  const underWay = ids({ limit: 10 });
  await until("the database has read the head", () => taken().heads === 1);
  await put("b");
  const later = ids({ limit: 10 });
  arrive();
  assert.deepEqual(await underWay, ["a"]);
  assert.deepEqual(await later, ["a", "b"]);
});

test("heavy pages are not kept, and many pages displace the oldest", async (t) => {
  const { put, ids, taken } = await openLists(t);
  await put("a", { n: 1, text: "x".repeat(100_000) });
  const times = async (limit: number, count: number) => {
    for (let time = 0; time < count; time++) await ids({ limit });
  };
  await times(1, 3);
  assert.deepEqual(taken(), { pages: 2, heads: 1 });
  for (let limit = 2; limit < 60; limit++) await times(limit, 2);
  taken();
  await times(1, 1);
  assert.deepEqual(taken(), { pages: 1, heads: 0 });
  await put("b", { n: 2, text: "x".repeat(300_000) });
  await times(59, 4);
  assert.deepEqual(taken(), { pages: 4, heads: 1 }, "the head showed once that the kept page was old");
});

test("a server that started later does not confirm pages, because it may lack the last changes", async (t) => {
  const server = await startPostgres();
  t.after(() => server.remove());
  const { put, ids, url } = await openLists(t, { server: server.url });
  await put("a");
  for (let time = 0; time < 3; time++) assert.deepEqual(await ids({ limit: 10 }), ["a"]);
  await server.stop();
  await server.start();
  await query(url, "update holdfast_resources_1 set key = 'b'"); // another change has the same number
  const below = await openBelow({ kind: "postgres", url });
  await mendChecksums(below);
  await below.close();
  await until("the list is there", async () => (await ids({ limit: 10 }).catch(() => [])).length === 1);
  assert.deepEqual(await ids({ limit: 10 }), ["b"]);
});

test("a server that does not flush commits confirms no pages", async (t) => {
  const { put, ids, taken } = await openLists(t, { settings: "-csynchronous_commit=off" });
  await put("a");
  for (let time = 0; time < 5; time++) await ids({ limit: 10 });
  assert.deepEqual(taken(), { pages: 5, heads: 0 });
});

const key = { collection: "topics", id: "a" };

async function openTwo(t: TestContext): Promise<[Store, Store]> {
  const { url, releaseLater } = await openDatabase();
  const open = () => openStore({ kind: "postgres", url });
  const stores: [Store, Store] = [await open(), await open()];
  t.after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    releaseLater();
  });
  await stores[0].migrate([declaration("topics")]);
  return stores;
}

/** Sets `n` of the only resource. */
async function set(store: Store, n: number): Promise<void> {
  const change = { key, expect: n === 1 ? ("absent" as const) : n - 1, next: JSON.stringify({ id: "a", n }) };
  await store.commit({ changes: [change], at: n });
}

/** The value in a list. */
async function seen(store: Store): Promise<number> {
  const { items } = await store.list({ collection: "topics", limit: 10 });
  return (JSON.parse(items[0]?.text ?? '{"n":0}') as { n: number }).n;
}

test("each list of one instance shows every write that another instance has confirmed", async (t) => {
  const [writer, reader] = await openTwo(t);
  for (let n = 1; n <= 300; n++) {
    await set(writer, n);
    for (let time = 0; time < 4; time++) assert.equal(await seen(reader), n); // the last two of the four are hot
  }
});

test("lists during writes show no less than what was confirmed, and no more than what was sent", async (t) => {
  const stores = await openTwo(t);
  let sent = 1;
  let confirmed = 1;
  let isOver = false;
  await set(stores[0], 1);
  const write = async () => {
    for (let n = 2; n <= 300; n++) {
      sent = n;
      await set(stores[n % 2] as Store, n);
      confirmed = n;
      for (let pause = n % 7; pause > 0; pause--) await seen(stores[0]); // time for pages to become hot
    }
  };
  const writing = write().finally(() => {
    isOver = true;
  });
  let lists = 0;
  const readings = Array.from({ length: 12 }, async (_, n) => {
    for (let last = 0; !isOver; lists++) {
      const least = Math.max(confirmed, last);
      last = await seen(stores[n % 2] as Store);
      assert.ok(last >= least && last <= sent, `${last} is not from ${least} to ${sent}`);
    }
  });
  await Promise.all([writing, ...readings]).finally(() => {
    isOver = true;
  });
  assert.ok(lists > 1_000, `only ${lists} lists`);
});
