/** The typed client's feeds when connections break, stall or are refused: no event is lost. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "../../client/src/index.ts";
import { makeFolder } from "../folder.ts";
import { startService } from "../http/service.ts";
import { openTestStore } from "../http/test-store.ts";
import { until } from "../until.ts";
import { config } from "./config.ts";
import { randomBelow, readAll, retry, startFixture } from "./feeds.ts";
import { startStreamProxy } from "./stream-proxy.ts";

test("connections that are cut anywhere lose no event, and keep the order of each resource", async (t) => {
  const random = randomBelow(t);
  const { proxy, client, direct } = await startFixture(t);
  // The first connections are so short that there are several, however little is written.
  proxy.cutAfter = () => 200 + random(proxy.connections <= 6 ? 1_000 : 4_000);
  const feed = client.notes.events({ since: "start" });
  const reading = readAll(t, feed);
  const written: string[] = [];
  for (let n = 1; n <= 40; n++) {
    const { id } = await direct.notes.create({ n, text: "ä😀".repeat(random(200)) });
    written.push(`notes.created ${id}`);
    if (random(3) > 0) continue;
    const [, other] = await direct.$batch(({ notes }) => [notes.patch(id, { n: -n }), notes.create({ n })]);
    written.push(`notes.updated ${id}`, `notes.created ${other.id}`);
    await direct.notes.delete(id);
    written.push(`notes.deleted ${id}`);
  }
  const seen = () =>
    new Set(reading.received.map(({ type, data }) => `${type} ${(data as { id?: string }).id}`));
  await until("all events have arrived", () => seen().size >= written.length);
  assert.deepEqual([...seen()], written);
  assert.ok(proxy.connections > 5, `${proxy.connections} connections`);
  for (const event of reading.received) {
    if (event.type === "notes.created") assert.match(String(event.data.text ?? ""), /^(ä😀)*$/);
  }
});

test("a feed goes on when the service has restarted", async (t) => {
  const folder = makeFolder();
  const place = await openTestStore(folder);
  const start = () => startService({ collections: config.collections, store: place.address });
  let service = await start();
  const proxy = await startStreamProxy(service.port);
  t.after(async () => {
    await proxy.stop();
    await service.stop();
    place.release();
  });
  const client = createClient<typeof config>({ baseUrl: `${proxy.origin}/api/v1`, retry });
  const feed = client.notes.events();
  const reading = readAll(t, feed);
  await until("the feed has a position", () => feed.position !== undefined);
  await client.notes.create({ n: 1 });
  await reading.until(1);
  await service.stop();
  service = await start();
  const direct = createClient<typeof config>({ baseUrl: `${service.origin}/api/v1` });
  await direct.notes.create({ n: 2 });
  proxy.target = service.port;
  const events = await reading.until(2);
  assert.deepEqual(
    events.map(({ data }) => (data as { n?: number }).n),
    [1, 2],
  );
});

test("a position that is gone is an event, and the feed goes on after it", async (t) => {
  const { proxy, client, direct } = await startFixture(t);
  const other = await startFixture(t);
  const feed = client.notes.events();
  const reading = readAll(t, feed);
  await until("the feed has a position", () => feed.position !== undefined);
  await direct.notes.create({ n: 1 });
  await reading.until(1);
  proxy.target = other.service.port;
  proxy.cut();
  const [, resync] = await reading.until(2);
  assert.ok(resync?.type === "holdfast.resync");
  assert.match(resync.data.reason, /another store/);
  const made = await other.direct.notes.create({ n: 2 });
  const event = (await reading.until(3))[2];
  assert.ok(event?.type === "notes.created" && event.data.id === made.id);
});

test("a connection that is dead without an end is given up", async (t) => {
  const { proxy, client, direct } = await startFixture(t);
  const feed = client.notes.events({ idleTimeoutMs: 500 });
  const reading = readAll(t, feed);
  await until("the feed has a position", () => feed.position !== undefined);
  proxy.stall();
  await direct.notes.create({ n: 1 });
  await reading.until(1);
  await until("the dead connection is closed", () => proxy.open <= 1);
});

test("a slow loop is not sent more than fits into the buffers of its connection", async (t) => {
  const { proxy, client, direct } = await startFixture(t);
  const text = "x".repeat(500_000);
  const count = 64;
  const iterator = client.notes.events({ since: "start" })[Symbol.asyncIterator]();
  t.after(() => iterator.return());
  await direct.notes.create({ n: 0 });
  await iterator.next();
  for (let n = 1; n < count; n++) await direct.notes.create({ n, text });
  // Two others begin later, one after the other, and have read everything: there was time to send everything to the first.
  for (let n = 0; n < 2; n++) {
    let read = 0;
    for await (const event of direct.notes.events({ since: "start" })) {
      if (event.type === "notes.created" && ++read === count) break;
    }
  }
  assert.ok(proxy.sent < (count * text.length) / 2, `${proxy.sent} bytes were sent`);
  for (let n = 1; n < count; n++) {
    const { value } = await iterator.next();
    assert.equal((value?.data as { n?: number } | undefined)?.n, n);
  }
});
