/** Streams of events: their frames, their ends, and their limits. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fastify } from "fastify";
import { holdfast } from "../../src/index.ts";
import { makeFolder } from "../folder.ts";
import { ceilingMs, until } from "../until.ts";
import { check } from "./check.ts";
import { eventsOf, follow, linkOf, type OpenStream } from "./follow.ts";
import { type Service, startFor, startService } from "./service.ts";

async function open(
  t: TestContext,
  service: Pick<Service, "port">,
  path: string,
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  const stream = await follow(service, path, headers);
  t.after(() => stream.close());
  return stream;
}

const path = "/api/v1/topics/_events";
const numbers = (stream: OpenStream) => stream.events().map(({ data }) => data.n);

test("a stream begins with the position, and sends each event when it happens", async (t) => {
  const service = await startFor(t);
  await service.create("topics", { n: 0 });
  const stream = await open(t, service, path);
  assert.equal(stream.status, 200);
  const expected = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(stream.headers[name], value, name);
  assert.equal(stream.headers["content-encoding"], undefined);
  await until("the first frame has come", () => stream.frames().length > 0);
  const [first] = stream.frames();
  assert.deepEqual(Object.keys(first ?? {}), ["retry", "id"]);
  assert.equal(first?.retry, "3000");
  await service.create("topics", { n: 1, text: "a\nb\u2028c" });
  await service.create("topics", { n: 2 });
  const events = await stream.take(2);
  assert.deepEqual(numbers(stream), [1, 2], "by default a stream begins now");
  assert.equal(events[0]?.data.text, "a\nb\u2028c");
  for (const frame of stream.frames().slice(1)) assert.deepEqual(Object.keys(frame), ["id", "data"]);
  assert.doesNotMatch(stream.text(), /^event:/m, "onmessage fires for each event");
  const page = await service.send({ path });
  assert.deepEqual(eventsOf(page).slice(1), events, "a page has the same events");
});

test("a client that connects again with the last id misses nothing, at any event", async (t) => {
  const service = await startFor(t);
  const first = await open(t, service, `${path}?since=start`);
  for (let n = 0; n < 3; n++) await service.create("topics", { n });
  const operations = [3, 4, 5].map((n) => ({ method: "POST", path: "/topics", body: { n } }));
  const sent = await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
  assert.equal(sent.status, 200, sent.text);
  await service.create("topics", { n: 6 });
  await first.take(7);
  const frames = first.frames().filter(({ data }) => data !== undefined);
  // Inside a commit the position is that before it, so its events come again.
  const expected = [1, 2, 3, 3, 3, 6, 7];
  for (const [at, { id = "" }] of frames.entries()) {
    const again = await open(t, service, path, { "last-event-id": id });
    await again.take(7 - (expected[at] ?? 0));
    assert.deepEqual(numbers(again), [0, 1, 2, 3, 4, 5, 6].slice(expected[at]), `after event ${at}`);
    again.close();
  }
});

test("a stream of several collections follows those that it names", async (t) => {
  const service = await startFor(t);
  await service.create("topics", { n: 0 });
  await service.create("users", { n: 0 });
  const stream = await open(t, service, "/api/v1/_events?collection=topics,users&since=start&fields=n");
  await stream.take(2);
  await service.create("others", { n: 1 });
  await service.create("users", { n: 2, more: 1 });
  await service.create("topics", { n: 3, more: 1 });
  const events = await stream.take(4);
  assert.deepEqual(events.map(({ type, data }) => [type, data.n, data.more]).sort(), [
    ["topics.created", 0, undefined],
    ["topics.created", 3, undefined],
    ["users.created", 0, undefined],
    ["users.created", 2, undefined],
  ]);
  const page = await service.send({ path: `/api/v1/_events?collection=users&since=${stream.lastId()}` });
  check(page, { status: 400, problem: "INVALID_CURSOR", headers: { "Cache-Control": "no-store" } });
  const refusals: [string, RegExp][] = [
    [`collection=${Array.from({ length: 51 }, (_, n) => `c${n}`).join(",")}`, /at most 50/],
    ["collection=", /must name at least one collection/],
    ["collection=a%2Fb", /does not exist/],
    ["collection=topics&n=1", /no filters/],
    ["n=1", /no filters/],
    ["q=word", /no filters/],
  ];
  for (const [query, detail] of refusals) {
    const answer = await service.send({ path: `/api/v1/_events?${query}` });
    check(answer, { status: 400, problem: "INVALID_PARAMETER", headers: { "Cache-Control": "no-store" } });
    assert.match(answer.text, detail, query);
  }
});

test("in open mode, a new collection joins from its first change, also over a cut", async (t) => {
  const service = await startFor(t);
  await service.create("a", { n: 0 });
  const stream = await open(t, service, "/api/v1/_events");
  await until("the first frame has come", () => stream.lastId() !== undefined);
  const position = stream.lastId() ?? "";
  for (let n = 0; n < 3; n++) await service.create("b", { n });
  await stream.take(3);
  assert.deepEqual(numbers(stream), [0, 1, 2]);
  const again = await open(t, service, "/api/v1/_events", { "last-event-id": position });
  await again.take(3);
  assert.deepEqual(numbers(again), [0, 1, 2], "the position does not have the collection");
  const page = await service.send({ path: `/api/v1/_events?since=${position}` });
  assert.deepEqual(
    eventsOf(page).map(({ type }) => type),
    ["b.created", "b.created", "b.created"],
  );
  const now = linkOf(await service.send({ path: "/api/v1/_events?since=now" }), "next");
  const waiting = service.send({ path: `${now}&wait=60` });
  await service.create("c", { n: 7 });
  assert.deepEqual(
    eventsOf(await waiting).map(({ type }) => type),
    ["c.created"],
  );
});

test("more than 50 collections need names, and a stream of all ends when there are more", async (t) => {
  const service = await startFor(t);
  for (let n = 0; n < 50; n++) await service.create(`c${n}`);
  const stream = await open(t, service, "/api/v1/_events");
  await until("the first frame has come", () => stream.frames().length > 0);
  assert.equal((await service.send({ path: "/api/v1/_events" })).status, 200);
  await service.create("one-more");
  await stream.untilEnded();
  const answer = await service.send({ path: "/api/v1/_events" });
  check(answer, { status: 400, problem: "INVALID_PARAMETER", headers: { "Cache-Control": "no-store" } });
  assert.match(answer.text, /more than 50 collections/);
  const some = Array.from({ length: 50 }, (_, n) => `c${n}`).join(",");
  assert.equal((await service.send({ path: `/api/v1/_events?collection=${some}` })).status, 200);
});

test("without history there is no feed, and lists link to none", async (t) => {
  const service = await startFor(t, { history: "none" });
  await service.create("topics", { n: 0 });
  for (const target of [path, "/api/v1/_events"])
    check(await service.send({ path: target }), { status: 404, headers: { "Cache-Control": "no-store" } });
  assert.doesNotMatch((await service.send({ path: "/api/v1/topics" })).headers.link ?? "", /monitor/);
});

test("without history, a service inside an application says so in the log of the application", async () => {
  const folder = makeFolder();
  const lines: string[] = [];
  const app = fastify({ logger: { stream: { write: (line: string) => void lines.push(line) } } });
  app.register(holdfast, { store: join(folder, "store.db"), collections: { topics: {} }, history: "none" });
  await app.ready();
  assert.equal((await app.inject(path)).statusCode, 404);
  await app.close();
  assert.match(lines.join(""), /history is \\"none\\": .*_events is 404/);
});

test("streams and waiting pages are counted, in all and for each caller", async (t) => {
  const service = await startFor(t, {
    limits: { streams: 3, streamsPerCaller: 2 },
    trustProxy: ["127.0.0.1"],
  });
  const from = (n: number) => ({ "x-forwarded-for": `10.0.0.${n}` });
  const streams = [await open(t, service, path, from(1)), await open(t, service, path, from(1))];
  const own = await service.send({ path: `${path}?wait=60&since=now`, headers: from(1) });
  check(own, { status: 429, problem: "QUOTA_EXCEEDED", headers: { "Retry-After": /^\d+$/ } });
  const now = linkOf(await service.send({ path: `${path}?since=now` }), "next");
  const waiting = service.send({ path: `${now}&wait=60`, headers: from(2) });
  await until("the waiting page counts", async () => {
    const probe = await follow(service, path, from(3));
    probe.close();
    return probe.status === 503;
  });
  const full = await service.send({ path: `${path}?wait=1&since=now`, headers: from(3) }, { mayFail: true });
  check(full, { status: 503, problem: "UNAVAILABLE", headers: { "Retry-After": /^\d+$/ } });
  assert.equal((await service.send({ path, headers: from(1) })).status, 200, "a page that does not wait");
  assert.equal((await service.send({ method: "HEAD", path, headers: from(1) })).status, 200);
  await service.create("topics", { n: 1 });
  eventsOf(await waiting);
  for (const stream of streams) stream.close();
  await until("the places are free again", async () => {
    const again = await Promise.all([follow(service, path, from(4)), follow(service, path, from(4))]);
    for (const each of again) each.close();
    return again.every(({ status }) => status === 200);
  });
});

test("when the service stops, streams end, each with another time to wait", async () => {
  const service = await startService();
  const streams = await Promise.all(Array.from({ length: 12 }, () => follow(service, path)));
  await until("all have begun", () => streams.every((stream) => stream.frames().length > 0));
  const waiting = await service.connect();
  waiting.write(`GET ${path}?wait=60&since=now HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await service.send({ path: "/api/v1/topics" }); // the waiting request was sent before
  await service.stop({ keepConnections: true });
  const page = await waiting.answer();
  assert.deepEqual([page.status, page.body], [200, "[]"], "a waiting page is answered");
  const retries = streams.map((stream) => {
    assert.ok(stream.hasEnded());
    return Number(stream.frames().at(-1)?.retry);
  });
  assert.ok(
    retries.every((ms) => ms >= 0 && ms <= 5_000),
    String(retries),
  );
  assert.ok(new Set(retries).size > 6, String(retries));
});

test("a client that takes nothing is cut off, and its place is free", async (t) => {
  const service = await startFor(t, { wireBounds: { stalledTimeoutMs: 500 }, limits: { streams: 1 } });
  const socket = connect({ host: "127.0.0.1", port: service.port });
  t.after(() => socket.destroy());
  socket.on("error", () => {});
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`);
  const isFree = async () => {
    const probe = await follow(service, path);
    probe.close();
    return probe.status === 200;
  };
  await until("the stream counts", async () => !(await isFree()));
  const pad = "x".repeat(900_000);
  for (let n = 0; n < 20; n++) await service.create("topics", { n, pad }); // more than the kernel holds
  await until("the place is free", isFree);
});

test("a client that takes nothing does not keep the service from stopping", async () => {
  const service = await startService({ wireBounds: { stalledTimeoutMs: 10 * ceilingMs } });
  const pad = "x".repeat(900_000);
  for (let n = 0; n < 20; n++) await service.create("topics", { n, pad });
  const socket = connect({ host: "127.0.0.1", port: service.port });
  socket.on("error", () => {});
  socket.write(`GET ${path}?since=start HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`);
  await once(socket, "readable");
  socket.pause();
  await service.stop({ keepConnections: true });
  socket.destroy();
});

test("web pages of allowed origins can follow a stream", async (t) => {
  const service = await startFor(t, { corsOrigins: ["https://app.example"] });
  const origin = "https://app.example";
  const stream = await open(t, service, path, { origin });
  assert.equal(stream.headers["access-control-allow-origin"], origin);
  const other = await open(t, service, path, { origin: "https://other.example" });
  assert.equal(other.headers["access-control-allow-origin"], undefined);
  const preflight = await service.send({
    method: "OPTIONS",
    path,
    headers: {
      origin,
      "access-control-request-method": "GET",
      "access-control-request-headers": "last-event-id",
    },
  });
  assert.match(preflight.headers["access-control-allow-headers"] ?? "", /Last-Event-ID/i);
});

test("a service inside an application has the feed too, and ends streams with the application", async () => {
  const folder = makeFolder();
  const app = fastify();
  app.register(holdfast, { store: join(folder, "store.db"), collections: { topics: {} } });
  const origin = await app.listen({ host: "127.0.0.1", port: 0 });
  const stream = await follow({ port: Number(new URL(origin).port) }, path);
  const created = await fetch(`${origin}/api/v1/topics`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"n":1}',
  });
  assert.equal(created.status, 201);
  await stream.take(1);
  await app.close();
  await stream.untilEnded();
  assert.match(stream.text(), /retry: \d+\n\n$/);
});
