/** The feeds of the typed client: their events, start and end. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import {
  createClient,
  etagOf,
  HoldfastError,
  NetworkError,
  NotFoundError,
  ProblemError,
} from "../../client/src/index.ts";
import { until } from "../until.ts";
import { readAll, retry, startFixture } from "./feeds.ts";

test("a feed gives what a collection's subscriber sees, and resources can be replaced by it", async (t) => {
  const { direct } = await startFixture(t);
  const { articles } = direct;
  const filter = { views: { gte: 10 } };
  const { position } = await articles.list({ filter }).page();
  const made = await articles.create({ title: "One", views: 5 });
  await articles.patch(made.id, { views: 10 });
  await articles.patch(made.id, { title: "Two" });
  await articles.patch(made.id, { views: 1 });
  const reading = readAll(t, articles.events({ filter, since: position as string }));
  const events = await reading.until(3);
  assert.deepEqual(
    events.map(({ type, data }) => [type, JSON.parse(JSON.stringify(data))]),
    [
      ["articles.created", { id: made.id, title: "One", views: 10, status: "draft" }],
      ["articles.updated", { id: made.id, title: "Two", views: 10, status: "draft" }],
      ["articles.deleted", { id: made.id }],
    ],
  );
  const other = await articles.create({ title: "Three", views: 10 });
  const event = (await reading.until(4))[3];
  assert.ok(event?.type === "articles.created");
  assert.equal(event.subject, other.id);
  assert.equal(event.version, "1");
  assert.equal(etagOf(event.data), '"1"');
  assert.equal((await articles.replace({ ...event.data, views: 11 })).views, 11);
});

test("a feed with chosen attributes gives these, and they cannot replace a resource", async (t) => {
  const { direct } = await startFixture(t);
  await direct.articles.create({ title: "One", views: 5 });
  for await (const event of direct.articles.events({ since: "start", fields: ["title"] })) {
    assert.ok(event.type === "articles.created");
    assert.deepEqual(Object.keys(event.data), ["id", "title"]);
    await assert.rejects(direct.articles.replace(event.data), /read with fields/);
    break;
  }
});

test("the feed of several collections gives the events of these", async (t) => {
  const { direct } = await startFixture(t);
  const { articles, books, notes } = direct;
  await articles.create({ title: "One" });
  await notes.create({ n: 1 });
  await books.create({ title: "Emma" });
  const some = readAll(t, direct.$events({ collections: ["articles", "books"], since: "start" }));
  const types = (await some.until(2)).map(({ type }) => type);
  assert.deepEqual([...types].sort(), ["articles.created", "books.created"]);
  const all = readAll(t, direct.$events({ since: "start" }));
  assert.equal((await all.until(3)).length, 3);
  await notes.create({ n: 2 });
  assert.equal((await all.until(4))[3]?.type, "notes.created");
});

test("a feed continues from the position of an event, in another loop or another feed", async (t) => {
  const { direct } = await startFixture(t);
  for (const n of [1, 2, 3, 4]) await direct.notes.create({ n });
  const feed = direct.notes.events({ since: "start" });
  const first: unknown[] = [];
  for await (const event of feed) {
    assert.equal(feed.position, event.position);
    if (first.push(event.data) === 2) break;
  }
  const rest = async (events: typeof feed) => {
    const numbers: unknown[] = [];
    for await (const { data } of events) if (numbers.push((data as { n?: number }).n) === 2) break;
    return numbers;
  };
  const since = feed.position as string;
  assert.deepEqual(await rest(feed), [3, 4]);
  assert.deepEqual(await rest(direct.notes.events({ since })), [3, 4]);
});

test("the position moves on while no event matches", async (t) => {
  const { direct } = await startFixture(t);
  const feed = direct.notes.events({ filter: { n: 1 } });
  const reading = readAll(t, feed);
  await until("the feed has a position", () => feed.position !== undefined);
  await direct.notes.create({ n: 2 });
  const now = (await direct.notes.list().page()).position;
  await direct.notes.create({ n: 1 });
  await reading.until(1);
  assert.notEqual(feed.position, now);
});

test("a request that the service refuses ends the feed with its error", async (t) => {
  const { direct, service } = await startFixture(t, { history: "none" });
  const reasonOf = (events: AsyncIterable<unknown>) => readAll(t, events).ended;
  assert.ok((await reasonOf(direct.articles.events())) instanceof NotFoundError);
  assert.equal((await direct.articles.list().page()).position, undefined);
  const open = await startFixture(t);
  const wrong = (await reasonOf(open.direct.notes.events({ since: "yesterday" }))) as ProblemError;
  assert.deepEqual([wrong.status, wrong.code], [400, "INVALID_CURSOR"]);
  const untyped = createClient({ baseUrl: `${open.service.origin}/api/v1` });
  const filter = (await reasonOf(
    untyped.articles?.events({ filter: { titel: "a" } }) as never,
  )) as ProblemError;
  assert.deepEqual([filter.status, filter.code], [400, "INVALID_PARAMETER"]);
  const page = createClient({ baseUrl: `${service.origin}/docs#` });
  const none = await reasonOf(page.articles?.events() as never);
  assert.ok(none instanceof HoldfastError && /text\/event-stream/.test(none.message), String(none));
});

test("a service that is not there ends the feed after the usual number of tries", async (t) => {
  const { proxy } = await startFixture(t);
  await proxy.stop();
  const client = createClient({ baseUrl: `${proxy.origin}/api/v1`, retry: { ...retry, attempts: 2 } });
  assert.ok((await readAll(t, client.notes?.events() as never).ended) instanceof NetworkError);
});

test("an aborted signal ends the feed at once: while it waits, while it connects, and before the next event", async (t) => {
  const { proxy, client, direct } = await startFixture(t);
  const reason = new Error("enough");
  const waiting = new AbortController();
  const feed = client.notes.events({ signal: waiting.signal });
  const reading = readAll(t, feed);
  await until("the feed has a position", () => feed.position !== undefined);
  waiting.abort(reason);
  assert.equal(await reading.ended, reason);
  await until("the connection is closed", () => proxy.open === 0);

  for (const n of [1, 2]) await direct.notes.create({ n });
  const busy = new AbortController();
  const seen: unknown[] = [];
  const loop = async () => {
    for await (const event of client.notes.events({ since: "start", signal: busy.signal })) {
      seen.push(event);
      busy.abort(reason);
    }
  };
  await assert.rejects(loop(), reason);
  assert.equal(seen.length, 1);

  const connecting = new AbortController();
  const patient = createClient({
    baseUrl: `${proxy.origin}/api/v1`,
    retry: { baseMs: 600_000, maxMs: 600_000 },
  });
  const lost = patient.notes?.events({ signal: connecting.signal }) as typeof feed;
  const retrying = readAll(t, lost);
  await until("the feed has a position", () => lost.position !== undefined);
  const waits = t.mock.method(globalThis, "setTimeout");
  await proxy.stop();
  await until("the feed waits before it connects again", () => waits.mock.callCount() > 0);
  connecting.abort(reason);
  assert.equal(await retrying.ended, reason);
  assert.equal(await readAll(t, client.notes.events({ signal: AbortSignal.abort(reason) })).ended, reason);
});

test("a loop that is left closes the connection, and return ends a next that waits", async (t) => {
  const { proxy, client, direct } = await startFixture(t);
  await direct.notes.create({ n: 1 });
  for await (const _ of client.notes.events({ since: "start" })) break;
  await until("the connection is closed", () => proxy.open === 0);
  const iterator = client.notes.events()[Symbol.asyncIterator]();
  const next = iterator.next();
  await until("the connection is open", () => proxy.open === 1);
  await iterator.return();
  assert.equal((await next).done, true);
  await until("the connection is closed", () => proxy.open === 0);
});

/** A service that answers each request for a feed as the test says. */
async function startStandIn(t: TestContext, answers: readonly ((response: ServerResponse) => void)[]) {
  const asked: { at: number; last: string | undefined; url: string | undefined }[] = [];
  const server = createServer(({ headers, url }, response) => {
    asked.push({ at: performance.now(), last: headers["last-event-id"] as string | undefined, url });
    answers[asked.length - 1]?.(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    asked,
    feed: createClient({ baseUrl, retry: { ...retry, maxMs: 100 } }).notes?.events() as AsyncIterable<{
      type: string;
      position: string;
    }>,
  };
}

const streams = (text: string) => (response: ServerResponse) =>
  response.writeHead(200, { "content-type": "text/event-stream" }).write(`retry: 1\n${text}`);
const ends = (text: string) => (response: ServerResponse) => {
  streams(text)(response);
  response.end();
};
const refuses = (status: number, retryAfter: string, code?: string) => (response: ServerResponse) =>
  response
    .writeHead(status, { "content-type": "application/problem+json", "retry-after": retryAfter })
    .end(JSON.stringify({ code, detail: "Not now." }));

test("429 and 503 are tried again after Retry-After, however long that is", async (t) => {
  const event = 'id: b\ndata: {"type":"notes.created","source":"/notes","data":{"id":"1"}}\n\n';
  const { asked, feed } = await startStandIn(t, [
    ends("id: a\n\n"),
    refuses(429, "1"),
    refuses(503, "1", "UNAVAILABLE"),
    streams(event),
  ]);
  const [received] = await readAll(t, feed).until(1);
  assert.deepEqual([received?.type, received?.position], ["notes.created", "b"]);
  const gaps = asked.map(({ at }, n) => at - (asked[n - 1]?.at ?? at));
  assert.ok((gaps[2] ?? 0) >= 990 && (gaps[3] ?? 0) >= 990, String(gaps));
  assert.deepEqual(
    asked.map(({ last }) => last),
    [undefined, "a", "a", "a"],
  );
});

test("410 is an event: it has the position after which the feed continues", async (t) => {
  const { asked, feed } = await startStandIn(t, [
    ends("id: a\n\n"),
    refuses(410, "0", "POSITION_GONE"),
    streams("id: b\n\n"),
  ]);
  const [received] = await readAll(t, feed).until(1);
  assert.deepEqual([received?.type, received?.position], ["holdfast.resync", "b"]);
  assert.deepEqual([asked[2]?.last, asked[2]?.url], [undefined, "/notes/_events?since=now"]);
});

test("403 and 404 after a connection end the feed", async (t) => {
  for (const status of [403, 404]) {
    const { feed } = await startStandIn(t, [ends("id: a\n\n"), refuses(status, "0")]);
    const error = await readAll(t, feed).ended;
    assert.ok(error instanceof ProblemError && error.status === status);
  }
});
