/** What one connection, and all of them together, may ask of the service. */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { collectGarbage } from "../garbage.ts";
import { pause, until } from "../until.ts";
import { type Connection, parseAnswers } from "./connection.ts";
import { jsonType, type Service, type ServiceOptions, startService } from "./service.ts";
import { createPage, openUnread } from "./unread.ts";

const host = "Host: localhost\r\n";
const json = "Content-Type: application/json\r\n";
const get = (path: string) => `GET ${path} HTTP/1.1\r\n${host}\r\n`;

/** Hundreds of clients are in this thread too, and one turn of the event loop serves them all. */
const probe = { standstillMs: 500, rssBytes: 1_500_000_000 };

async function start(t: TestContext, options: ServiceOptions = {}): Promise<Service> {
  const service = await startService({ probe, ...options });
  t.after(async () => {
    for (const socket of unreadSockets.splice(0)) socket.destroy();
    await service.stop();
  });
  return service;
}

/** The connections of the test under way that do not read. */
const unreadSockets: Socket[] = [];

/** A connection that sends and never reads. */
async function unread({ port }: Service, bytes: string): Promise<Socket> {
  const socket = await openUnread(port, bytes);
  unreadSockets.push(socket);
  return socket;
}

function codeOf(body: string): string {
  return (JSON.parse(body) as { code: string }).code;
}

test("400 clients that ask for 2 MiB each and never read take no gigabytes, and small reads go on", async (t) => {
  const service = await start(t);
  const page = await createPage(service);
  const small = await service.create("small", { n: 1 });
  const memory = () => {
    collectGarbage();
    return process.memoryUsage().rss;
  };
  const before = memory();
  let most = 0;
  for (let n = 0; n < 400; n++) {
    await unread(service, get(page).repeat(n < 200 ? 3 : 1)); // the kernel holds the first ones
    if (n % 20 !== 0) continue;
    assert.equal((await service.send({ path: small.path })).status, 200);
    most = Math.max(most, memory() - before);
  }
  const large = () => service.send({ path: page }, { mayFail: true });
  let refused = await large();
  await until("there is no room", async () => {
    refused = await large();
    most = Math.max(most, memory() - before); // the probe counts garbage too
    return refused.status === 503;
  });
  assert.equal(codeOf(refused.text), "UNAVAILABLE");
  assert.equal(refused.headers["retry-after"], "1");
  assert.equal((await service.send({ path: small.path })).status, 200);
  const table = { path: "/api/v1/small", headers: { Accept: "text/csv" } };
  assert.equal((await service.send(table, { mayFail: true })).status, 200);
  assert.equal((await service.send({ method: "POST", path: "/api/v1/small", content: {} })).status, 201);
  most = Math.max(most, memory() - before);
  t.diagnostic(`${Math.round(most / 1e6)} MB`);
  assert.ok(most < 500_000_000, `${most} bytes`);
});

test("large answers are given again when those that were not read are gone", async (t) => {
  const service = await start(t, { wireBounds: { maxHeldBytes: 1_000_000 } });
  const page = await createPage(service);
  const status = async () => (await service.send({ path: page }, { mayFail: true })).status;
  const sockets = await Promise.all([1, 2, 3].map(() => unread(service, get(page).repeat(5))));
  await until("there is no room", async () => (await status()) === 503);
  for (const socket of sockets) socket.destroy();
  await until("there is room again", async () => (await status()) === 200);
});

test("large answers are given again when those that were waiting are read", async (t) => {
  const service = await start(t, { wireBounds: { maxHeldBytes: 1_000_000 } });
  const page = await createPage(service);
  const status = async () => (await service.send({ path: page }, { mayFail: true })).status;
  const socket = await unread(service, get(page).repeat(9));
  await until("there is no room", async () => (await status()) === 503);
  socket.resume();
  await until("there is room again", async () => (await status()) === 200);
});

const unfinished = (bytes: number) =>
  `POST /api/v1/bodies HTTP/1.1\r\n${host}${json}Content-Length: ${bytes + 1}\r\n\r\n"${"x".repeat(bytes - 1)}`;

test("content that is still coming in takes room, and beyond it only small content is taken", async (t) => {
  const service = await start(t, { wireBounds: { maxHeldBytes: 899_000 } });
  const slow = await Promise.all([1, 2, 3].map(() => unread(service, unfinished(300_000))));
  const create = (text: string) =>
    service.send({ method: "POST", path: "/api/v1/bodies", content: { text } }, { mayFail: true });
  let refused = await create("x".repeat(100_000));
  await until("there is no room", async () => {
    if (refused.status !== 503) refused = await create("x".repeat(100_000));
    return refused.status === 503;
  });
  assert.equal(codeOf(refused.text), "UNAVAILABLE");
  assert.equal(refused.headers["retry-after"], "1");
  assert.equal(refused.headers.connection, "close");
  const small = await create("x");
  assert.equal(small.status, 201);
  const patch = { method: "PATCH", path: `/api/v1/bodies/${(small.json as { id: string }).id}` };
  const patched = await service.send(
    { ...patch, headers: { "Content-Type": "application/merge-patch+json" }, body: "{}" },
    { mayFail: true },
  );
  assert.equal(patched.status, 503, "what a patch leaves behind may be large");
  for (const socket of slow) socket.destroy();
  await until("there is room again", async () => (await create("x".repeat(100_000))).status === 201);
});

test("one request and its answer may be larger than all that may be held", async (t) => {
  const service = await start(t, { wireBounds: { maxHeldBytes: 100_000 } });
  const { path } = await service.create("large", { text: "x".repeat(900_000) });
  assert.equal((await service.send({ path })).text.length > 900_000, true);
});

test("content of requests that are answered takes no room", async (t) => {
  const service = await start(t, { wireBounds: { maxHeldBytes: 300_000 } });
  for (let n = 0; n < 10; n++) await service.create("bodies", { text: "x".repeat(100_000) });
  const tooLarge = { method: "POST", path: "/api/v1/bodies", headers: { "Content-Type": jsonType } };
  for (let n = 0; n < 5; n++)
    assert.equal((await service.send({ ...tooLarge, body: " ".repeat(200_000) })).status, 400);
  await service.create("bodies", { text: "x".repeat(100_000) });
});

test("connections beyond the maximum are closed at once, and room is made by those that go", async (t) => {
  const service = await start(t, { wireBounds: { maxConnections: 3 } });
  const ask = async (connection: Connection) => {
    connection.write(get("/livez"));
    return (await connection.answer()).status;
  };
  const first = [await service.connect(), await service.connect(), await service.connect()];
  for (const connection of first) assert.equal(await ask(connection), 200);
  const fourth = await service.connect();
  assert.equal(await fourth.untilClosed(), "");
  assert.equal(await ask(first[0] as Connection), 200);
  first[1]?.close();
  await until("another connection is taken", async () => {
    const next = await service.connect();
    return ask(next).then(
      (status) => status === 200,
      () => false,
    );
  });
});

test("a connection with more than 1,000 requests waiting is closed; one with fewer has every answer", async (t) => {
  const service = await start(t);
  const create = `POST /api/v1/piped HTTP/1.1\r\n${host}${json}Content-Length: 2\r\n\r\n{}`;
  const fine = await service.connect();
  fine.write(create + get("/livez").repeat(900));
  assert.equal((await fine.answer("POST")).status, 201);
  for (let n = 0; n < 900; n++) assert.equal((await fine.answer()).status, 200);
  const held = await service.connect();
  // The first is under way for as long as its content does not come.
  held.write(`${create}${get("/livez").repeat(1_300)}`);
  const text = await held.untilClosed();
  assert.ok((text.match(/HTTP\/1\.1 /g) ?? []).length < 1_000);
  assert.equal((await service.send({ path: "/livez" })).status, 200);
});

test("a list that is asked for behind a create on the same connection has what that created", async (t) => {
  const service = await start(t);
  const connection = await service.connect();
  for (let n = 1; n <= 20; n++) {
    const content = `{"n":${n}}`;
    connection.write(
      `POST /api/v1/seen HTTP/1.1\r\n${host}${json}Content-Length: ${content.length}\r\n\r\n${content}${get("/api/v1/seen")}`,
    );
    const created = await connection.answer("POST");
    const list = await connection.answer();
    assert.equal(created.status, 201);
    assert.equal(list.headers["x-total-count"], String(n));
    assert.deepEqual((JSON.parse(list.body) as unknown[]).at(-1), JSON.parse(created.body));
  }
});

for (const zero of ["0", "00", "000"]) {
  test(`Content-Length: ${zero} is no content`, async (t) => {
    const service = await start(t);
    const made = await service.create("things", { n: 1 });
    const ends = `Content-Length: ${zero}\r\n\r\n`;
    const connection = await service.connect();
    // Without content there is nothing whose type could be wrong.
    for (const type of ["", json, "Content-Type: text/plain\r\n"]) {
      for (const [method, path] of [
        ["POST", "/api/v1/things"],
        ["PUT", made.path],
        ["PATCH", made.path],
      ]) {
        connection.write(`${method} ${path} HTTP/1.1\r\n${host}${type}${ends}`);
        const answer = await connection.answer();
        assert.equal(answer.status, 400, `${method} ${type}`);
        assert.equal(codeOf(answer.body), method === "PATCH" ? "INVALID_PATCH" : "BODY_REQUIRED");
      }
    }
    connection.write(`GET ${made.path} HTTP/1.1\r\n${host}${ends}`);
    assert.equal((await connection.answer()).status, 200);
    connection.write(`DELETE ${made.path} HTTP/1.1\r\n${host}${ends}${get(made.path)}`);
    assert.equal((await connection.answer()).status, 205);
    assert.equal((await connection.answer()).status, 404);
  });
}

test("Transfer-Encoding in HTTP/1.0 is faulty framing: 400, and the connection closes", async (t) => {
  const service = await start(t);
  const made = await service.create("things", { n: 1 });
  for (const more of ["", "Connection: keep-alive\r\n"]) {
    const bytes =
      `POST /api/v1/old HTTP/1.0\r\n${host}${json}${more}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n` +
      `DELETE ${made.path} HTTP/1.1\r\n${host}\r\n`;
    const answers = parseAnswers(await service.raw(bytes), "POST");
    assert.equal(answers.length, 1);
    assert.equal(answers[0]?.status, 400);
    assert.equal(answers[0]?.headers.connection, "close");
    assert.equal(codeOf(answers[0]?.body ?? ""), "INVALID_REQUEST");
  }
  assert.equal((await service.send({ path: "/api/v1/old" })).text, "[]");
  assert.equal((await service.send({ path: made.path })).status, 200);
});

const upgrade = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";

test("a request with Upgrade is answered like any other, and so are those around it, in their order", async (t) => {
  const service = await start(t);
  const large = await service.create("large", { text: "x".repeat(500_000) });
  const withUpgrade = (path: string) => `GET ${path} HTTP/1.1\r\n${host}${upgrade}\r\n`;
  const content = '{"n":1}';
  const create = `POST /api/v1/up HTTP/1.1\r\n${host}${json}Content-Length: 7\r\n\r\n${content}`;
  const connection = await service.connect();
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  t.after(() => process.off("warning", onWarning));
  for (let n = 1; n <= 15; n++) {
    connection.write(
      create +
        withUpgrade("/api/v1/up") +
        create +
        get(large.path) +
        withUpgrade(large.path) +
        withUpgrade("/nowhere") +
        get("/livez"),
    );
    assert.equal((await connection.answer("POST")).status, 201);
    const list = await connection.answer();
    assert.equal(list.headers["x-total-count"], String(2 * n - 1));
    assert.equal((await connection.answer("POST")).status, 201);
    assert.equal(JSON.parse((await connection.answer()).body).id, large.id);
    assert.equal(JSON.parse((await connection.answer()).body).id, large.id);
    assert.equal((await connection.answer()).status, 404);
    assert.equal((await connection.answer()).status, 200);
  }
  // And when nothing is behind it.
  connection.write(withUpgrade(large.path));
  assert.equal((await connection.answer()).status, 200);
  await pause(20);
  connection.write(get("/livez"));
  assert.equal((await connection.answer()).status, 200);
  assert.deepEqual(warnings, [], "listeners are left behind");
});

test("a request with Upgrade and content is carried out, and its connection closes", async (t) => {
  const service = await start(t);
  const made = await service.create("up", { n: 1 });
  const lost = `DELETE ${made.path} HTTP/1.1\r\n${host}\r\n`;
  for (const framed of [
    "Content-Length: 2\r\n\r\n{}",
    "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
  ]) {
    const bytes = `POST /api/v1/up HTTP/1.1\r\n${host}${json}${upgrade}${framed}${lost}`;
    const answers = parseAnswers(await service.raw(bytes), "POST");
    assert.equal(answers.length, 1);
    assert.equal(answers[0]?.status, 201);
    assert.equal(answers[0]?.headers.connection, "close");
  }
  assert.equal((await service.send({ path: made.path })).status, 200);
});

test("a request with Upgrade that asks to close is the last one of its connection", async (t) => {
  const service = await start(t);
  const made = await service.create("up", { n: 1 });
  const bytes =
    `GET ${made.path} HTTP/1.1\r\n${host}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n` +
    `DELETE ${made.path} HTTP/1.1\r\n${host}\r\n`;
  const answers = parseAnswers(await service.raw(bytes));
  assert.equal(answers.length, 1);
  assert.equal(answers[0]?.status, 200);
  assert.equal((await service.send({ path: made.path })).status, 200);
});

test("clients that go away in the middle of a request with Upgrade do no harm", async (t) => {
  const service = await start(t);
  const page = await createPage(service);
  for (let n = 0; n < 40; n++) {
    const socket = await unread(service, `GET ${page} HTTP/1.1\r\n${host}${upgrade}\r\n`.repeat(3));
    if (n % 2 === 0) await pause(n);
    if (n % 3 === 0) socket.end();
    else socket.resetAndDestroy();
  }
  await pause(100);
  assert.equal((await service.send({ path: page })).status, 200);
});

test("while a service that stops still listens, every answer closes its connection, old or new", async (t) => {
  const service = await startService({ drainDelayMs: 3_000 });
  const idle = await service.connect();
  const old = await service.connect();
  for (const connection of [idle, old]) {
    connection.write(get("/livez"));
    assert.equal((await connection.answer()).headers.connection, "keep-alive");
  }
  const stopped = service.stop({ keepConnections: true });
  t.after(() => stopped);
  old.write(get("/livez"));
  const fresh = await service.connect();
  fresh.write(get("/livez"));
  for (const connection of [old, fresh]) {
    const answer = await connection.answer();
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.connection, "close");
    await connection.untilClosed();
  }
  assert.equal(idle.closed, false, "it may still send a request");
  await stopped;
  assert.equal(await idle.untilClosed(), "");
  await assert.rejects(service.connect(), { code: "ECONNREFUSED" });
});

test("connections that wait to be accepted when the listener closes are accepted and answered", async (t) => {
  const drainDelayMs = 300;
  // The test itself holds up the thread for that long.
  const service = await startService({ drainDelayMs, probe: { standstillMs: 3 * drainDelayMs } });
  await service.create("things", { n: 1 });
  const end = performance.now() + drainDelayMs + 20;
  const stopped = service.stop({ keepConnections: true });
  t.after(() => stopped);
  const connections = Array.from({ length: 40 }, () => service.connect());
  // The kernel queues the connections, and the service does not accept them until the delay is over.
  process.nextTick(() => {
    while (performance.now() < end);
  });
  const endings = connections.map(async (connecting) => {
    const connection = await connecting;
    connection.write(get("/api/v1/things"));
    return (await connection.answer()).status;
  });
  const results = await Promise.allSettled(endings);
  assert.deepEqual(
    results.map((result) => (result.status === "fulfilled" ? result.value : String(result.reason))),
    results.map(() => 200),
  );
});
