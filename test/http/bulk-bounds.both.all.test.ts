/**
 * The limits of bulk changes. The probe of each service bounds the standstills of the event loop and the memory, also while
 * 1,000 resources of almost 4 MiB are changed.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../until.ts";
import { seeds, send } from "./bulk-fixture.ts";
import { check } from "./check.ts";
import { startFor } from "./service.ts";

const mebibyte = 1024 * 1024;
const limit = 4 * mebibyte;

const update = { all: true, update: { n: { $set: 1 } }, max: 1_000 };

test("1,000 resources of almost 4 MiB are changed and deleted, within the bounds of memory and event loop", async (t) => {
  const service = await startFor(t, {
    collections: { things: {} },
    seeds: { things: seeds(1_000, limit - 10_000) },
    probe: { rssBytes: 400_000_000 },
  });
  const dry = await send(service, "things", { ...update, dryRun: true });
  assert.deepEqual([dry.status, (dry.json as { changed: number }).changed], [200, 1_000]);
  const changed = await send(service, "things", update);
  assert.deepEqual(
    [changed.status, (changed.json as { changed: number }).changed],
    [200, 1_000],
    changed.text,
  );
  const deleted = await send(service, "things", { all: true, delete: true, max: 1_000 });
  assert.deepEqual([deleted.status, (deleted.json as { changed: number }).changed], [200, 1_000]);
  check(await service.send({ path: "/api/v1/things" }), { status: 200, json: [] });
});

test("more than 4 MiB before the change is a 413 and changes nothing, and what is just within is changed", async (t) => {
  const service = await startFor(t, {
    collections: { within: {}, beyond: {} },
    seeds: { within: seeds(100, limit), beyond: seeds(100, limit + 1) },
    probe: { rssBytes: 400_000_000 },
  });
  for (const content of [
    { ...update, update: { odd: { $set: "" } } },
    { all: true, delete: true, max: 100 },
  ]) {
    const refused = await send(service, "beyond", content);
    check(refused, { status: 413, problem: "CONTENT_TOO_LARGE" });
    assert.match(
      (refused.json as { detail: string }).detail,
      /more than 4 MiB .* "Prefer: respond-async", which makes a task of it\.$/,
    );
    check(await send(service, "within", content), { status: 200 });
  }
  const { headers } = await service.send({ path: "/api/v1/beyond?limit=1&count=exact" });
  assert.equal(headers["x-total-count"], "100");
});

test("what follows from deletes counts as well", async (t) => {
  const books = { by: { collection: "authors", onDelete: "cascade" } } as const;
  const service = await startFor(t, {
    collections: { authors: {}, books: { references: books } },
    seeds: {
      authors: seeds(100, 1.5 * mebibyte),
      books: seeds(100, 2.5 * mebibyte + 1, { by: "id0000" }),
    },
    probe: { rssBytes: 400_000_000 },
  });
  const all = { all: true, delete: true, max: 100 };
  const refused = await send(service, "authors", all);
  check(refused, { status: 409, problem: "REFERENCED", more: ["resource"] });
  assert.match((refused.json as { detail: string }).detail, /more than 2,621,440 bytes of other resources/);
  const [book] = (await service.send({ path: "/api/v1/books?limit=1" })).json as { id: string }[];
  await service.send({ method: "PATCH", path: `/api/v1/books/${book?.id}`, content: { even: "" } });
  check(await send(service, "authors", all), { status: 200 });
  check(await service.send({ path: "/api/v1/books" }), { status: 200, json: [] });
});

test("while the memory is used up, a bulk change of large resources is a 503 and changes nothing", async (t) => {
  const service = await startFor(t, {
    collections: { things: {}, others: {} },
    seeds: { things: seeds(10, mebibyte), others: seeds(1, 200) },
    wireBounds: { maxHeldBytes: 400_000 },
  });
  const connection = await service.connect();
  const head = "POST /api/v1/things HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  connection.write(`${head}Content-Length: 500001\r\n\r\n${" ".repeat(500_000)}`);
  const statusOf = async () => (await send(service, "things", { ...update, dryRun: true })).status;
  // A patch of a small resource holds little, so the large body can arrive.
  const patch = { method: "PATCH", path: "/api/v1/others/id0000", content: { n: 1 } };
  await until(
    "the memory is used up",
    async () => (await service.send(patch, { mayFail: true })).status === 503,
  );
  check(await send(service, "things", update), { status: 503, problem: "UNAVAILABLE" });
  connection.close();
  await until("the memory is free", async () => (await statusOf()) === 200);
  assert.equal((await service.send({ path: "/api/v1/things/id0000" })).headers.etag, '"1"');
  for (let n = 1; n <= 3; n++) {
    const content = { ...update, update: { n: { $set: n } } };
    check(await send(service, "things", content), { status: 200 });
  }
});

test("many bulk changes at once leave the queues of other writes free", async (t) => {
  const service = await startFor(t, {
    collections: { things: {}, others: {} },
    seeds: { things: seeds(1_000, 300_000) },
  });
  const bulks = Array.from({ length: 30 }, (_, n) =>
    send(service, "things", { ...update, update: { [`n${n}`]: { $set: n } } }),
  );
  const creates = Array.from({ length: 50 }, () => service.create("others", { n: 1 }));
  await Promise.all(creates);
  const statuses = new Set((await Promise.all(bulks)).map(({ status }) => status));
  assert.ok(statuses.has(200) && [...statuses].every((status) => status === 200 || status === 503));
});

test("a read-only service refuses a bulk change, and a dry run", async (t) => {
  const service = await startFor(t, {
    collections: { things: {} },
    seeds: { things: seeds(2, 200) },
    readOnly: true,
  });
  for (const dryRun of [true, false])
    check(await send(service, "things", { ...update, dryRun }), { status: 503, problem: "UNAVAILABLE" });
});

test("without history, a bulk change works and leaves no event", async (t) => {
  const service = await startFor(t, {
    collections: { things: {} },
    seeds: { things: seeds(2, 200) },
    history: "none",
  });
  check(await send(service, "things", update), { status: 200 });
  check(await service.send({ path: "/api/v1/things/_events" }), { status: 404 });
  assert.equal((await service.send({ path: "/api/v1/things/id0000" })).headers.etag, '"2"');
});
