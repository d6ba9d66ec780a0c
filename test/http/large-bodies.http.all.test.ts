/** Many large request bodies at once: they wait unread for their turns, and small requests run in between. */
import assert from "node:assert/strict";
import diagnostics from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { until } from "../until.ts";
import type { Connection } from "./connection.ts";
import { type Service, type ServiceOptions, startFor, startService } from "./service.ts";

const mebibyte = 1024 * 1024;

/** The most bytes of bodies that can arrive at the same time. */
const mostArriving = 48 * mebibyte;

/** The most bodies that can wait. */
const mostWaiting = 500;

const start = (t: TestContext, options: ServiceOptions = {}) =>
  startFor(t, { limits: { bodyBytes: mostArriving }, ...options });

/** The head of a create, for a body of this many bytes. */
function head(bytes: number, more = ""): string {
  return `POST /api/v1/topics HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}Content-Length: ${bytes}\r\n\r\n`;
}

function bodyOf(bytes: number): string {
  return `{"text":"${"x".repeat(bytes - 11)}"}`;
}

async function send(service: Service, bytes: string): Promise<Connection> {
  const connection = await service.connect();
  connection.write(bytes);
  return connection;
}

/** A body that takes all the space for arriving bodies and never ends. */
async function fill(service: Service): Promise<Connection> {
  const filling = await send(service, head(mostArriving));
  await isWaiting(service);
  return filling;
}

/** Waits until large bodies must wait: a client that waits for `100 Continue` does not get it. */
async function isWaiting(service: Service): Promise<void> {
  await until("large bodies wait", async () => {
    const connection = await send(service, head(100_000, "Expect: 100-continue\r\n"));
    await turns(service);
    connection.close();
    return connection.received === "";
  });
}

/** Gives the service enough turns to read everything that was sent before. */
async function turns(service: Service): Promise<void> {
  for (let n = 0; n < 10; n++) await service.send({ path: "/livez" });
}

async function createSmall(service: Service): Promise<void> {
  assert.equal((await service.send({ method: "POST", path: "/api/v1/topics", content: {} })).status, 201);
}

test("304 large writes at once all succeed within the memory limit, and small requests run in between", async (t) => {
  // Almost all of it is for arriving bodies. A body beyond it would be refused.
  const service = await start(t, {
    limits: {},
    wireBounds: { maxHeldBytes: mostArriving + 2 * mebibyte },
    probe: { standstillMs: 500 }, // the clients of this test write 91 MB
  });
  let isOver = false;
  const between = { "/livez": 0, "/api/v1/topics": 0 };
  const others = (["/livez", "/api/v1/topics"] as const).map(async (path) => {
    for (; !isOver; between[path]++) {
      if (path === "/livez") await service.send({ path });
      else await createSmall(service);
    }
  });
  const connections = await Promise.all(Array.from({ length: 304 }, () => service.connect()));
  const text = bodyOf(300_000);
  for (const connection of connections)
    connection.write(head(text.length, "Prefer: return=minimal\r\n") + text);
  const statuses = await Promise.all(
    connections.map((connection) => connection.answer("POST").then(({ status }) => status)),
  );
  isOver = true;
  await Promise.all(others);
  assert.deepEqual(new Set(statuses), new Set([201]));
  for (const [path, requests] of Object.entries(between))
    assert.ok(requests >= 304 / 16, `${path}: ${requests} requests beside 304 large writes`);
});

test("a large body that waits stays unread, and small bodies do not wait", async (t) => {
  const service = await start(t);
  const filling = await fill(service);
  const sockets: Socket[] = [];
  const note = (message: unknown) => sockets.push((message as { socket: Socket }).socket);
  diagnostics.subscribe("net.server.socket", note);
  t.after(() => diagnostics.unsubscribe("net.server.socket", note));
  const large = await send(service, head(4 * mebibyte) + "x".repeat(4 * mebibyte));
  for (let n = 0; n < 50; n++) await createSmall(service);
  const [socket] = sockets;
  assert.ok((socket?.bytesRead ?? 0) <= 256 * 1024, `${socket?.bytesRead} bytes of a waiting body are read`);
  assert.equal(large.received, "");
  filling.close();
  assert.equal((await large.answer("POST")).status, 400, "it is no JSON");
});

test("a body beyond the end of the queue gets 503, and its connection stays usable", async (t) => {
  const service = await start(t);
  const filling = await fill(service);
  const waiting = await Promise.all(Array.from({ length: mostWaiting }, () => send(service, head(100_000))));
  const refused = await untilRefused(service);
  assert.equal(refused.headers["retry-after"], "1");
  assert.match(refused.body, /"500 large request bodies are already waiting\. Try again\."/);
  await createSmall(service);
  // A client that goes away frees its place at once.
  waiting.pop()?.close();
  const text = bodyOf(100_000);
  const last = await untilQueued(service, head(text.length) + text);
  for (const connection of [filling, ...waiting]) connection.close();
  assert.equal((await last.answer("POST")).status, 201);
});

/** The response to a large body when the queue is full. */
async function untilRefused(service: Service): Promise<Awaited<ReturnType<Connection["answer"]>>> {
  const connection = await send(service, head(100_000));
  await until("it is refused", () => connection.received !== "");
  const refused = await connection.answer("POST");
  assert.equal(refused.status, 503);
  connection.write(`${bodyOf(100_000)}GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  assert.equal((await connection.answer()).status, 200);
  connection.close();
  return refused;
}

/** A connection whose body has a place in the queue. */
async function untilQueued(service: Service, bytes: string): Promise<Connection> {
  let queued: Connection | undefined;
  await until("a place is free", async () => {
    const connection = await send(service, bytes);
    await turns(service);
    if (connection.received === "") queued = connection;
    else connection.close();
    return queued !== undefined;
  });
  return queued as Connection;
}

test("clients that go away while their bodies wait, or arrive, hold up nobody", async (t) => {
  const service = await start(t);
  const filling = await fill(service);
  const half = bodyOf(3 * mebibyte).slice(0, mebibyte);
  const gone = await Promise.all([1, 2, 3].map(() => send(service, head(40 * mebibyte) + half)));
  for (let n = 0; n < 5; n++) await createSmall(service);
  for (const connection of gone) connection.close();
  filling.close();
  const next = await send(service, head(40 * mebibyte, "Expect: 100-continue\r\n"));
  await until("the next body has its turn", () => next.received.startsWith("HTTP/1.1 100 Continue"));
});

test("a body of unknown length waits when it turns out to be large", async (t) => {
  const service = await start(t);
  const filling = await fill(service);
  const chunked = (text: string) =>
    `${head(0).replace("Content-Length: 0", "Transfer-Encoding: chunked")}${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
  const small = await send(service, chunked(bodyOf(60_000)));
  assert.equal((await small.answer("POST")).status, 201);
  const large = await send(service, chunked(bodyOf(400_000)));
  for (let n = 0; n < 20; n++) await createSmall(service);
  assert.equal(large.received, "");
  filling.close();
  assert.equal((await large.answer("POST")).status, 201);
});

test("a body that waits too long gets 503", async (t) => {
  const service = await start(t, { limits: { bodyBytes: mostArriving, handlerTimeoutMs: 1_000 } });
  const filling = await fill(service);
  const { status, headers, body } = await (await send(service, head(100_000))).answer("POST");
  assert.deepEqual([status, headers["retry-after"]], [503, "1"]);
  assert.match(body, /Other large request bodies came first for 1000 ms\. Try again\./);
  filling.close();
});

test("a service that stops answers the large writes that wait", async (t) => {
  const service = await startService({ limits: { bodyBytes: mostArriving } });
  const filling = await fill(service);
  const text = bodyOf(200_000);
  const waiting = await Promise.all([1, 2, 3].map(() => send(service, head(text.length) + text)));
  for (let n = 0; n < 5; n++) await createSmall(service);
  const stopped = service.stop({ keepConnections: true });
  t.after(() => stopped);
  filling.close();
  const statuses = waiting.map((connection) => connection.answer("POST").then(({ status }) => status));
  assert.deepEqual(await Promise.all(statuses), [201, 201, 201]);
  await stopped;
});
