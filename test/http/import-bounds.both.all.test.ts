/** What an import takes from others: memory, the event loop, other writes, and who can start one. */
import assert from "node:assert/strict";
import type { ClientRequest, IncomingMessage } from "node:http";
import { afterEach, describe, test } from "node:test";
import { check } from "./check.ts";
import { eventsOf, linkOf, sinceOf } from "./follow.ts";
import { type Service, startServiceForFile } from "./service.ts";
import { holdImport } from "./store-spy.ts";
import { isOnPostgres } from "./test-store.ts";

/** Not imported: see `src/http/protocol/node-http.ts`. */
const { request: httpRequest } = process.getBuiltinModule("node:http");

const mebibyte = 1_048_576;
const ndjson = { "Content-Type": "application/x-ndjson" };
const asTask = { Prefer: "respond-async" };

const service = await startServiceForFile();
const withLittleMemory = await startServiceForFile({ wireBounds: { maxHeldBytes: 8 * mebibyte } });
const withSmallImports = await startServiceForFile({ limits: { importBytes: 100_000 } });

let collections = 0;
/** The name of a collection that no other test uses. */
const fresh = () => `things${++collections}`;

// An import that a failed test leaves open would hold up the next one.
const requests: ClientRequest[] = [];
afterEach(() => {
  for (const request of requests.splice(0)) request.destroy();
});

interface Outcome {
  status: number;
  json: {
    id?: string;
    code?: string;
    imported?: number;
    invalid?: number;
    report?: { invalid: number; imported: number };
    detail?: string;
  };
}

/** An import whose body the test sends piece by piece. */
function open(
  collection: string,
  {
    headers = {},
    query = "",
    to = service,
  }: { headers?: Record<string, string>; query?: string; to?: Service } = {},
): { request: ClientRequest; outcome: Promise<Outcome> } {
  const request = httpRequest({
    port: to.port,
    host: "127.0.0.1",
    method: "POST",
    path: `/api/v1/${collection}/_import${query}`,
    headers: { ...ndjson, ...headers },
    agent: false,
  });
  requests.push(request);
  const outcome = new Promise<Outcome>((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response: IncomingMessage) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) }));
    });
  });
  outcome.catch(() => {});
  return { request, outcome };
}

/** Sends the same piece many times, as fast as the service takes it. */
async function repeat(request: ClientRequest, piece: Buffer, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    if (request.destroyed) return;
    if (!request.write(piece)) await new Promise((resolve) => request.once("drain", resolve));
  }
  request.end();
}

/** NDJSON of about this many bytes, in resources without an id of about `size` bytes. */
function piece(size: number, bytes: number): Buffer {
  const line = `${JSON.stringify({ n: 1, text: "x".repeat(Math.max(0, size - 20)) })}\n`;
  return Buffer.from(line.repeat(Math.max(1, Math.floor(bytes / line.length))));
}

const countOf = async (collection: string, of = service) => {
  const { headers } = await of.send({ path: `/api/v1/${collection}?limit=1&count=exact` });
  return Number(headers["x-total-count"]);
};

describe("while an import runs", () => {
  test("its body takes no memory from others, the event loop goes on, and readers see nothing or all", async () => {
    const service = withLittleMemory;
    const large = await service.create("others", { text: "x".repeat(100_000) });
    await service.create("things", {});
    const lines = piece(1_000, 300_000);
    const { request, outcome } = open("things", { to: service });
    const times = 3;
    const sent = repeat(request, lines, times);
    let isDone = false;
    void outcome.finally(() => (isDone = true));
    const seen = new Set<number>();
    let reads = 0;
    while (!isDone) {
      seen.add(await countOf("things", service));
      assert.equal((await service.send({ path: large.path })).status, 200);
      reads++;
    }
    await sent;
    const { status, json } = await outcome;
    assert.equal(status, 200, JSON.stringify(json));
    const all = Number(json.imported) + 1;
    assert.ok(Number(json.imported) > 800);
    assert.ok(reads > 1, `${reads} reads`);
    assert.deepEqual(
      [...seen].filter((count) => count !== 1 && count !== all),
      [],
    );
    assert.equal(await countOf("things", service), all);
  });

  test("as a task, a body of 30 MiB takes no memory from others, and the event loop goes on", async () => {
    const service = withLittleMemory;
    const large = await service.create("others", { text: "x".repeat(100_000) });
    const { request, outcome } = open("things", { to: service, headers: asTask });
    const sent = repeat(request, piece(1_000, mebibyte), 30);
    let isDone = false;
    void outcome.finally(() => (isDone = true));
    let reads = 0;
    while (!isDone) {
      assert.equal((await service.send({ path: large.path })).status, 200);
      reads++;
    }
    await sent;
    const { status, json } = await outcome;
    assert.equal(status, 202, JSON.stringify(json));
    assert.ok(Number(json.report?.imported) > 25_000);
    assert.ok(reads > 10, `${reads} reads`);
    const path = `/api/v1/_tasks/${json.id}`;
    check(await service.send({ method: "DELETE", path }), { status: 200 });
  });

  test("other writes go on while the body arrives, and wait only for the transaction", async () => {
    const things = fresh();
    const { request, outcome } = open(things);
    request.write('{"id":"a"}\n');
    for (let n = 0; n < 5; n++) await service.create(things, { n });
    const lines = piece(500, 450_000);
    let isDone = false;
    void outcome.finally(() => (isDone = true));
    void repeat(request, lines, 2);
    let created = 5;
    while (!isDone) {
      await service.create(things, {});
      created++;
    }
    const { imported = 0 } = (await outcome).json;
    assert.equal(await countOf(things), imported + created);
  });

  test("the transaction delays all writes with SQLite, and those to the same collection with PostgreSQL", async (t) => {
    const held = holdImport(t);
    const [things, others] = [fresh(), fresh()];
    await service.create(things, {});
    await service.create(others, {});
    const { request, outcome } = open(things);
    request.end('{"id":"a"}\n{"id":"b","n":1}\n');
    const { length, added, letGo } = await held;
    assert.equal(length, added, "the store knows how much will be added");
    const own = service.create(things, {});
    const other = service.create(others, { n: 1 });
    if (isOnPostgres) {
      const { path } = await other;
      check(await service.send({ method: "PATCH", path, content: { n: 2 } }), { status: 200 });
      const content = { filter: { n: 2 }, patch: { n: 3 }, max: 9 };
      const changed = await service.send({ method: "POST", path: `/api/v1/${others}/_bulk`, content });
      check(changed, { status: 200 });
      check(await service.send({ method: "DELETE", path }), { status: 205 });
      await service.create("unheard", {});
    }
    for (const name of [others, things])
      check(await service.send({ path: `/api/v1/${name}` }), { status: 200 });
    assert.equal(await countOf(things), 1);
    letGo();
    assert.equal((await outcome).json.imported, 2);
    await Promise.all([own, other]);
    assert.equal(await countOf(things), 4);
  });

  test("a follower of the feed gets each resource once, and nothing is missed", async () => {
    const things = fresh();
    await service.create(things, {});
    let page = await service.send({ path: `/api/v1/${things}/_events?since=start` });
    const { request, outcome } = open(things);
    const writing = repeat(request, piece(500, 300_000), 3);
    const seen = new Map<string, number>();
    const note = () => {
      for (const { subject = "" } of eventsOf(page)) seen.set(subject, (seen.get(subject) ?? 0) + 1);
    };
    note();
    let imported: number | undefined;
    void outcome.then(({ json }) => (imported = json.imported));
    while (imported === undefined || seen.size < imported + 1) {
      const next = sinceOf(linkOf(page, "next"));
      page = await service.send({ path: `/api/v1/${things}/_events?limit=1000&since=${next}&wait=1` });
      note();
    }
    await writing;
    assert.equal(seen.size, imported + 1);
    assert.deepEqual(
      [...seen.values()].filter((times) => times !== 1),
      [],
    );
  });

  test("a second one waits for the first", async () => {
    const things = fresh();
    const first = open(things);
    first.request.write('{"id":"a"}\n');
    const second = open(things);
    second.request.end('{"id":"b"}\n');
    await service.create(things, {});
    first.request.end();
    assert.equal((await first.outcome).json.imported, 1);
    assert.equal((await second.outcome).json.imported, 1);
    assert.equal(await countOf(things), 3);
  });

  test("a client that goes away leaves nothing behind", async () => {
    const things = fresh();
    const { request, outcome } = open(things);
    request.write('{"id":"a"}\n');
    await service.create("others", {});
    request.destroy();
    await assert.rejects(outcome);
    const next = open(things);
    next.request.end('{"id":"b"}\n');
    assert.equal((await next.outcome).json.imported, 1);
    assert.equal((await service.send({ path: `/api/v1/${things}/a` })).status, 404);
  });

  test("a client that goes away after its body can have imported everything or nothing", async () => {
    const things = fresh();
    await service.create(things, {});
    for (let n = 0; n < 4; n++) {
      const before = await countOf(things);
      const { request } = open(things);
      const lines = piece(500, 900_000);
      const isLeft = new Promise<void>((resolve) => request.end(lines, resolve)).then(async () => {
        for (let later = 0; later < 20 * n; later++) await service.send({ path: "/livez" });
        request.destroy();
      });
      const next = open(things, { query: "?dryRun=true" });
      next.request.end("{}\n");
      assert.equal((await next.outcome).status, 200);
      await isLeft;
      const all = before + lines.toString().split("\n").length - 1;
      assert.ok([before, all].includes(await countOf(things)), `${await countOf(things)}`);
    }
  });
});

describe("the size of an import", () => {
  test("is limited by Content-Length before the body is read", async () => {
    const { request, outcome } = open("things", {
      to: withSmallImports,
      headers: { "Content-Length": "100001" },
    });
    request.flushHeaders();
    const { status, json } = await outcome;
    assert.deepEqual([status, json.code], [413, "CONTENT_TOO_LARGE"]);
    request.destroy();
  });

  test("is limited while a body without a length arrives", async () => {
    const { request, outcome } = open("things", { to: withSmallImports });
    request.write(piece(100, 150_000));
    const { status, json } = await outcome;
    assert.deepEqual([status, json.code], [413, "CONTENT_TOO_LARGE"]);
    request.destroy();
    const exact = open("things", { to: withSmallImports });
    const line = `${JSON.stringify({ text: "x".repeat(49_988) })}\n`;
    assert.equal(line.length, 50_000);
    exact.request.end(line.repeat(2));
    assert.equal((await exact.outcome).json.imported, 2);
  });

  test("is limited to a commit for which others wait only a moment, unless it is a task", async () => {
    const things = fresh();
    const long = JSON.stringify({ text: "x".repeat(999_000) });
    for (const [line, count] of [
      ["{}", 2_000],
      [long, 1],
    ] as const) {
      const fits = open(things);
      fits.request.end(`${line}\n`.repeat(count));
      assert.equal((await fits.outcome).json.imported, count);
      for (const query of ["", "?dryRun=true"]) {
        const before = await countOf(things);
        const larger = open(things, { query });
        larger.request.end(`${line}\n`.repeat(count + 1));
        const { status, json } = await larger.outcome;
        assert.deepEqual([status, json.code], [413, "CONTENT_TOO_LARGE"]);
        assert.match(
          json.detail ?? "",
          /^An import in one commit .* "Prefer: respond-async", and it becomes a task\.$/,
        );
        assert.equal(await countOf(things), before);
      }
      const task = open(things, { headers: asTask });
      task.request.end(`${line}\n`.repeat(count + 1));
      const { status, json } = await task.outcome;
      assert.equal(status, 202);
      check(await service.send({ method: "DELETE", path: `/api/v1/_tasks/${json.id}` }), { status: 200 });
    }
  });

  test("a header of CSV has limits too, so that no request holds up others", async () => {
    const things = fresh();
    for (const [header, says] of [
      ["n,".repeat(400_000), /The header has 400001 columns\. The limit is 10000\./],
      [
        `id,${"a.".repeat(400_000)}a`,
        /Column 2 of the header has more than 64 names with dots between them\./,
      ],
      [
        Array.from({ length: 5_001 }, (_, n) => `a.b.c.d${n}`).join(","),
        /The columns have 20004 names with dots between them\. The limit is 20000\./,
      ],
    ] as const) {
      const { request, outcome } = open(things, { headers: { "Content-Type": "text/csv" } });
      request.end(`${header}\n`);
      const { status, json } = await outcome;
      assert.deepEqual([status, json.code], [400, "INVALID_IMPORT"]);
      assert.match(json.detail ?? "", says);
    }
  });

  test("a row of CSV that is too long is refused before it is complete", async () => {
    const things = fresh();
    for (const [begin, rest] of [
      ["", ","],
      ["n,text\n", ","],
      ["n,text\n", `"${"x".repeat(1_000)}",`],
    ] as const) {
      const { request, outcome } = open(things, { headers: { "Content-Type": "text/csv" } });
      request.write(begin);
      // The row has no end. Its first mebibyte is enough for the report.
      await repeat(request, Buffer.from(rest.repeat(Math.ceil(65_536 / rest.length))), 20);
      const { status, json } = await outcome;
      assert.deepEqual([status, json.code], [400, "INVALID_IMPORT"]);
      assert.match(JSON.stringify(json), /is larger than the limit of 1048576 bytes/);
    }
    const empty = open(things, { headers: { "Content-Type": "text/csv" } });
    const names = Array.from({ length: 9_000 }, (_, n) => `n${n}`).join(",");
    empty.request.end(`${names}\n${`${",".repeat(8_999)}\n`.repeat(200)}1${",".repeat(8_999)}\n`);
    assert.equal((await empty.outcome).json.imported, 1);
  });

  test("a body that cannot be read is received to its end, so that the client gets the answer", async () => {
    const things = fresh();
    const { request, outcome } = open(things, { headers: { "Content-Type": "application/json" } });
    request.write('[{"id":"a"} oops');
    await repeat(request, piece(1_000, mebibyte), 10);
    const { status, json } = await outcome;
    assert.deepEqual([status, json.code], [400, "INVALID_IMPORT"]);
  });
});
