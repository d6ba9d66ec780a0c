/** Clients that read slowly keep their connection. Clients that do not read lose it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pass } from "node:timers/promises";
import { until } from "../until.ts";
import { client, get, readAll, start, statusOf } from "./slow-clients.ts";
import { createPage } from "./unread.ts";

// The kernel takes about 1.5 MB at a time, so a client that reads steadily looks idle for long stretches.
test("a client that reads slowly keeps its connection", async (t) => {
  const service = await start(t, { wireBounds: { stalledTimeoutMs: 20 } });
  const page = await createPage(service);
  const whole = (await service.send({ path: page })).text.length;
  const socket = await client(t, service, get(page).repeat(5));
  socket.on("data", () => {
    socket.pause();
    setTimeout(() => socket.resume(), 5);
  });
  const bytes = await readAll(socket, 5 * whole);
  assert.ok(bytes >= 5 * whole, `closed after ${bytes} of ${5 * whole} bytes`);
});

test("a request that arrives while the whole process pauses is answered", async (t) => {
  const service = await start(t, { wireBounds: { stalledTimeoutMs: 300 }, probe: { standstillMs: 2_000 } });
  // On a busy machine, the connection can be idle for too long before its request. Then this tries again.
  await until("a request of a pause is answered", async () => {
    const connection = await service.connect();
    await service.send({ path: "/api/v1/topics" }); // the service knows the first connection by now
    connection.write(get("/api/v1/topics"));
    const end = performance.now() + 600;
    while (performance.now() < end); // neither the service nor the client can do anything
    const answer = await connection.answer().catch(() => undefined);
    connection.close();
    return answer?.status === 200;
  });
});

test("a client that pauses for many time-outs keeps its connection while there is memory", async (t) => {
  const service = await start(t, { wireBounds: { stalledTimeoutMs: 20 } });
  const page = await createPage(service);
  const whole = (await service.send({ path: page })).text.length;
  const socket = await client(t, service, get(page).repeat(9));
  await pass(400); // on a busy machine, this causes fewer timeouts, but never a failure
  assert.ok((await readAll(socket, 9 * whole)) >= 9 * whole);
});

for (const [what, more, ends] of [
  ["a client that asks", "", false],
  ["a client that asks for an upgrade", "Connection: Upgrade\r\nUpgrade: websocket\r\n", false],
  ["a client that asks, closes its sending side", "", true],
] as const) {
  test(`${what} and never reads loses its connection when memory is used up`, async (t) => {
    const service = await start(t, { wireBounds: { stalledTimeoutMs: 300, maxHeldBytes: 1_000_000 } });
    const page = await createPage(service);
    const socket = await client(t, service, get(page, more).repeat(9));
    if (ends) socket.end();
    const status = async () => (await service.send({ path: page }, { mayFail: true })).status;
    await until("there is no room", async () => (await status()) === 503);
    await until("there is room again", async () => (await status()) === 200);
    assert.ok((await readAll(socket)) < 9 * 2_000_000, "it was given everything");
  });

  test(`${what} and never reads loses its connection in the end, even while there is memory`, async (t) => {
    // One connection for the client, and one for the request that makes the page.
    const wireBounds = { stalledTimeoutMs: 100, longestStallMs: 500, maxConnections: 2 };
    const service = await start(t, { wireBounds });
    const page = await createPage(service);
    const socket = await client(t, service, get(page, more).repeat(9));
    if (ends) socket.end();
    await until("another connection is taken", async () => (await statusOf(service, "/livez")) === 200);
    assert.ok((await readAll(socket)) < 9 * 2_000_000, "it was given everything");
  });
}

test("clients that never read are let go where others need the places of their requests", async (t) => {
  // Long enough that the places are still taken at the next request, also on a slow machine.
  const wireBounds = { stalledTimeoutMs: 4_000, longestStallMs: 600_000, maxRequests: 2 };
  const service = await start(t, { wireBounds });
  const page = await createPage(service);
  const status = async () => (await service.send({ path: "/api/v1" }, { mayFail: true })).status;
  await until("there is no place", async () => {
    const socket = await client(t, service, get(page).repeat(9)); // refused if there is no place
    await until("it is answered", () => socket.bytesRead > 0); // or the next request would take the place first
    return (await status()) === 503;
  });
  await until("there is a place again", async () => (await status()) === 200);
});

for (const accept of ["application/json", "text/csv"])
  test(`a client that reads ${accept} far too slowly is let go where others need the room`, async (t) => {
    // At this pace, no client is too slow if it reads a response within a timeout.
    const wireBounds = { stalledTimeoutMs: 1_000, maxHeldBytes: 1_000_000, slowestBytesPerSecond: 1e9 };
    const service = await start(t, { wireBounds });
    const page = await createPage(service);
    const socket = await client(t, service, get(page, `Accept: ${accept}\r\n`).repeat(900));
    socket.on("data", () => socket.pause());
    const reading = setInterval(() => socket.resume(), 70); // enough that the queue moves in every time-out
    t.after(() => clearInterval(reading));
    await until("it has lost its connection", () => socket.closed);
  });

test("a request keeps its connection while the service works on it for long", async (t) => {
  let perTurn = 8;
  const turnBudget = { noteRead: () => {}, perTurn: () => perTurn };
  const service = await start(t, { turnBudget, wireBounds: { stalledTimeoutMs: 20 } });
  await service.create("topics");
  perTurn = 0; // no write gets a turn
  const written = service.create("topics");
  await pass(200);
  perTurn = 8;
  await service.create("topics");
  await written;
});
