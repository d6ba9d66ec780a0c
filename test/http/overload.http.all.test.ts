/** As many requests as the service takes, and clients that go away at every moment. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createTurnBudget } from "../../src/store/core/turn-budget.ts";
import { until } from "../until.ts";
import { check } from "./check.ts";
import type { Connection } from "./connection.ts";
import { type Service, startFor } from "./service.ts";

const host = "Host: localhost\r\n";
const json = "Content-Type: application/json\r\n";
const livez = `GET /livez HTTP/1.1\r\n${host}\r\n`;
const unfinished = `POST /api/v1/topics HTTP/1.1\r\n${host}${json}Content-Length: 7\r\n\r\n{"n`;

/** A connection that sends this. */
async function open(service: Service, bytes: string): Promise<Connection> {
  const connection = await service.connect();
  connection.write(bytes);
  return connection;
}

async function statusOf(service: Service, path: string): Promise<number> {
  return (await service.send({ path }, { mayFail: true })).status;
}

/** Waits until as many requests are under way as may be. */
async function isFull(service: Service): Promise<void> {
  await until("no request is taken", async () => (await statusOf(service, "/api/v1/topics")) === 503);
}

/** Waits until the service responds normally to this many simultaneous requests. */
async function isItself(service: Service, requests: number): Promise<void> {
  await until("all is as before", async () => {
    const all = Array.from({ length: requests }, () => statusOf(service, "/api/v1/topics"));
    return (await Promise.all(all)).every((status) => status === 200);
  });
}

test("beyond the requests that may be under way the answer is 503, but for health, until there is room", async (t) => {
  const service = await startFor(t, { wireBounds: { maxRequests: 3 } });
  const held = await Promise.all([1, 2, 3].map(() => open(service, unfinished)));
  await isFull(service);
  for (const request of [
    { path: "/api/v1/topics" },
    { path: "/nowhere" },
    { method: "POST", path: "/api/v1/topics", content: {} },
  ]) {
    const answer = await service.send(request, { mayFail: true });
    check(answer, { status: 503, problem: "UNAVAILABLE", headers: { "Retry-After": "1" } });
  }
  for (const path of ["/livez", "/readyz"]) assert.equal((await service.send({ path })).status, 200);
  const [first, ...others] = held;
  first?.write('":1}');
  assert.equal((await first?.answer("POST"))?.status, 201);
  await isItself(service, 1);
  for (const connection of others) connection.close();
  await isItself(service, 3);
});

/** Sends requests until exactly so many are in progress. Returns their connections. */
async function fill(service: Service, most: number): Promise<Connection[]> {
  const all: Connection[] = [];
  const unanswered = () => all.filter(({ received }) => received === "");
  await until("no request is taken", async () => {
    if (unanswered().length < most) all.push(await open(service, unfinished));
    await statusOf(service, "/livez"); // so that the next request seldom comes first. If it does, this tries again
    return unanswered().length === most && (await statusOf(service, "/api/v1/topics")) === 503;
  });
  return unanswered();
}

test("pages that wait for events do not take the place of other requests, and count again when they end", async (t) => {
  const most = 6;
  const service = await startFor(t, {
    wireBounds: { maxRequests: most },
    limits: { streamsPerCaller: most },
  });
  await service.create("topics", {});
  const path = "/api/v1/topics/_events?since=now&wait=";
  const page = `GET ${path}60 HTTP/1.1\r\n${host}\r\n`;
  const waiting: Connection[] = [];
  await until("all pages wait", async () => {
    const unanswered = waiting.filter(({ received }) => received === "").length;
    if (unanswered < most) waiting.push(await open(service, page));
    await statusOf(service, "/livez"); // the next request, which may take the place of the page, comes on an older connection
    return unanswered >= most && (await statusOf(service, `${path}1`)) === 429;
  });
  const held = await fill(service, most);
  held[0]?.write('":1}'); // the change for which the pages wait
  assert.equal((await held[0]?.answer("POST"))?.status, 201);
  const statuses = await Promise.all(waiting.map(async (each) => (await each.answer()).status));
  assert.equal(statuses.filter((status) => status === 200).length, most, `${statuses}`);
  for (const connection of held) connection.close();
  await isItself(service, most);
  for (let n = 0; n < most; n++) (await open(service, page)).close();
  await isItself(service, most);
  for (const connection of await fill(service, most)) connection.close();
});

test("a refused request leaves its connection usable, whatever content it had", async (t) => {
  const service = await startFor(t, { wireBounds: { maxRequests: 1 } });
  const held = await open(service, unfinished);
  await isFull(service);
  const connection = await open(
    service,
    `POST /api/v1/topics HTTP/1.1\r\n${host}${json}Content-Length: ${livez.length}\r\n\r\n${livez}${livez}`,
  );
  assert.equal((await connection.answer("POST")).status, 503);
  assert.equal((await connection.answer()).status, 200);
  held.close();
  await isItself(service, 1);
  connection.write(`GET /nowhere HTTP/1.1\r\n${host}\r\n`);
  assert.equal((await connection.answer()).status, 404, "its content was read as a request");
});

test("services in one process count waiting requests separately", async (t) => {
  let perTurn = 0;
  const turnBudget = () => ({ ...createTurnBudget(), perTurn: () => perTurn });
  const startOne = () => startFor(t, { turnBudget: turnBudget() });
  const create = `POST /api/v1/topics HTTP/1.1\r\n${host}${json}Content-Length: 2\r\n\r\n{}`;
  const fill = async (service: Service) =>
    Promise.all(Array.from({ length: 10 }, () => open(service, create + livez.repeat(950))));
  const [first, second] = await Promise.all([startOne(), startOne()]);
  const all = [...(await fill(first)), ...(await fill(second))];
  for (const service of [first, second]) assert.equal(await statusOf(service, "/livez"), 200);
  assert.equal(all.filter(({ closed }) => closed).length, 0);
  for (const connection of all) connection.close();
  perTurn = 100;
  await Promise.all([first, second].map((each) => each.create("topics", {}))); // and all that waits has its turn
});

// What one of these left behind would be missing in the next.
for (const ending of ["go away", "are answered", "are answered again"]) {
  test(`requests that wait on all connections together are bounded, until their clients ${ending}`, async (t) => {
    let perTurn = 0;
    const service = await startFor(t, {
      turnBudget: { ...createTurnBudget(), perTurn: () => perTurn },
    });
    const create = `POST /api/v1/topics HTTP/1.1\r\n${host}${json}Content-Length: 2\r\n\r\n{}`;
    const crowd = Array.from({ length: 12 }, () => open(service, create + livez.repeat(950)));
    const all = await Promise.all(crowd);
    const stillOpen = () => all.filter(({ closed }) => !closed);
    await until("two connections are closed", () => stillOpen().length <= 10);
    const kept = stillOpen();
    assert.equal(kept.length, 10);
    if (ending === "go away") for (const connection of kept) connection.close();
    perTurn = 100;
    await service.create("topics", {}); // and all that waits has its turn
    if (ending !== "go away") for (const connection of kept) await hasAll(connection, 950);
  });
}

async function hasAll(connection: Connection, reads: number): Promise<void> {
  await until("all is answered", () => count(connection) > reads);
  assert.equal(count(connection), reads + 1);
}

function count({ received }: Connection): number {
  return received.match(/HTTP\/1\.1 20/g)?.length ?? 0;
}

test("clients that go away at any moment leave nothing behind", async (t) => {
  const service = await startFor(t, { wireBounds: { maxRequests: 4, maxHeldBytes: 300_000 } });
  const { path } = await service.create("large", { text: "x".repeat(900_000) });
  const small = `POST /api/v1/topics HTTP/1.1\r\n${host}${json}Content-Length: 7\r\n\r\n{"n":1}`;
  const moments = {
    "before anything": "",
    "in the headers": `GET /api/v1/topics HTTP/1.1\r\nHost: loc`,
    "in the content": `${unfinished.replace("7", "200000")}${"x".repeat(100_000)}`,
    "before the answer to a read": `GET ${path} HTTP/1.1\r\n${host}\r\n`,
    "before the answer to a write": small,
    "while a write waits for its turn": small.repeat(3),
    "with requests waiting": unfinished.replace("7", "3") + livez.repeat(50),
    "in the middle of many answers": `GET ${path} HTTP/1.1\r\n${host}\r\n`.repeat(5),
  };
  for (const [moment, bytes] of Object.entries(moments)) {
    for (let n = 0; n < 12; n++) {
      const connection = await open(service, bytes);
      for (let later = 0; later < 5 * (n % 3); later++) await statusOf(service, "/livez");
      connection.close();
    }
    await isItself(service, 4).catch((error: Error) => assert.fail(`${moment}: ${error.message}`));
    const { status } = await service.send({ path }, { mayFail: true });
    assert.equal(status, 200, moment);
  }
});
