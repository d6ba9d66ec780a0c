/** Faults of the connection to the database: the service keeps running, responds in time, and never responds 2xx without a commit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore } from "../../src/store/open.ts";
import { startFor } from "../http/service.ts";
import { declaration } from "../store/contract/fixture.ts";
import { ceilingMs, machineTime, until } from "../until.ts";
import { databaseFor, openDatabase, query } from "./databases.ts";
import { startProxy } from "./fault-proxy.ts";
import { type Answer, commit, countOf, create, serveFaulty } from "./served.ts";

function requireUnavailable(answer: Answer): void {
  assert.deepEqual([answer.status, answer.code], [503, "UNAVAILABLE"]);
  assert.ok(answer.ms < ceilingMs, `${answer.ms} ms`);
}

test("connections cut while nobody uses them are not noticed by anybody", async (t) => {
  const service = await serveFaulty(t);
  const id = await create(service, 1);
  const reads = () => Promise.all(Array.from({ length: 20 }, () => service.ask("GET", `things/${id}`)));
  for (let round = 0; round < 5; round++) {
    await reads();
    service.proxy.cutAll();
    const isCut = () => {
      service.proxy.cutAll(); // what the service does by itself can have opened another one
      return service.proxy.open === 0;
    };
    if (round % 2 === 0) await until("both ends know", isCut);
    for (const { status } of await reads()) assert.equal(status, 200);
    service.proxy.cutAll();
    await create(service, round);
  }
});

test("connections that an administrator ends while nobody uses them are not noticed by anybody", async (t) => {
  const service = await serveFaulty(t);
  const id = await create(service, 1);
  for (let round = 0; round < 5; round++) {
    await query(
      service.database.url,
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'holdfast' and datname = current_database()",
    );
    assert.equal((await service.ask("GET", `things/${id}`)).status, 200);
    await create(service, round);
  }
});

test("a read cut off while the database works on it is made once more", async (t) => {
  const service = await serveFaulty(t);
  const id = await create(service, 1);
  for (const how of ["before", "after"] as const) {
    const gone = service.proxy.cutAt("where key = any", how);
    assert.equal((await service.ask("GET", `things/${id}`)).status, 200);
    await gone;
  }
});

test("a write cut off before its commit is made once more, and happens once", async (t) => {
  const service = await serveFaulty(t);
  await create(service, 0);
  for (const [n, how] of (["before", "after", "before"] as const).entries()) {
    const cut = service.proxy.cutAt("insert into holdfast_resources", how);
    await create(service, n + 1);
    await cut;
  }
  assert.equal(await countOf(service, "things"), 4);
});

for (const [how, happened] of [
  ["answered", 1],
  ["before", 0],
] as const) {
  const whether = happened === 1 ? "after it happened" : "before it arrived";
  test(`nobody knows of a commit that is cut off ${whether}, and the same key tells the truth`, async (t) => {
    const service = await serveFaulty(t);
    await create(service, 0);
    const cut = service.proxy.cutAt(commit, how);
    const key = { "idempotency-key": "cut" };
    const answer = await service.ask("POST", "things", { n: 1 }, key);
    await cut;
    assert.deepEqual([answer.status, answer.code], [503, "OUTCOME_UNKNOWN"]);
    await until("the transaction has ended", async () => {
      return (await countOf(service, "things")) === 1 + happened;
    });
    const again = await service.ask("POST", "things", { n: 1 }, key);
    assert.equal(again.status, 201);
    assert.equal(again.headers.get("idempotent-replayed"), happened === 1 ? "true" : null);
    assert.equal(await countOf(service, "things"), 2);
  });
}

test("a reservation of ids that is cut off in its commit is refused like a write that certainly did nothing", async (t) => {
  const { url, releaseLater } = await openDatabase();
  const store = await openStore({ kind: "postgres", url });
  t.after(async () => {
    await store.close();
    releaseLater();
  });
  await store.migrate([declaration("numbers", { idKind: "integer" })]);
  await query(
    url,
    `create function cut() returns trigger language plpgsql as $$ begin
      perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
    create constraint trigger cut after update on holdfast_ids deferrable initially deferred
      for each row execute function cut()`,
  );
  await assert.rejects(store.reserveIds("numbers", 1), { code: "UNAVAILABLE" });
  await query(url, "drop function cut cascade");
  assert.ok((await store.reserveIds("numbers", 1)) >= 1);
});

test("writes that were together in a commit nobody knows of are each told so, and kept or not kept together", async (t) => {
  const service = await serveFaulty(t);
  await create(service, 0);
  const cut = service.proxy.cutAt(commit, "answered");
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      service.ask("POST", "things", { n }, { "idempotency-key": `k${n}` }),
    ),
  );
  await cut;
  const unknown = answers.filter(({ code }) => code === "OUTCOME_UNKNOWN");
  assert.ok(unknown.length > 0);
  for (const { status, code } of answers) assert.ok(status === 201 || code === "OUTCOME_UNKNOWN");
  for (let n = 0; n < 30; n++) await create(service, n, { "idempotency-key": `k${n}` });
  assert.equal(await countOf(service, "things"), 31);
});

test("while no connection is accepted all is refused at once, and works as soon as one is", async (t) => {
  const service = await serveFaulty(t);
  const id = await create(service, 0);
  service.proxy.refuse();
  requireUnavailable(await service.ask("GET", `things/${id}`));
  requireUnavailable(await service.ask("POST", "things", { n: 1 }));
  requireUnavailable(await service.ask("GET", "things"));
  assert.equal((await service.ask("GET", "/readyz")).status, 503);
  assert.equal((await service.ask("GET", "/livez")).status, 200);
  service.proxy.heal();
  // No requests arrive, because the service is not ready. It checks the database itself.
  await until("it is ready", async () => (await service.ask("GET", "/readyz")).status === 200);
  assert.equal((await service.ask("GET", `things/${id}`)).status, 200);
  assert.equal(await countOf(service, "things"), 1);
});

test("every kind of request is refused with 503 while the database cannot be reached", async (t) => {
  const service = await serveFaulty(t);
  const id = await create(service, 1);
  const now = new Date(
    Date.parse((await service.ask("GET", `things/${id}/_changes`)).headers.get("date") ?? ""),
  ).toISOString();
  service.proxy.refuse();
  const operation = { method: "POST", path: "/things", body: { n: 2 } };
  const requests: [method: string, path: string, content?: unknown][] = [
    ["POST", "_rewind", { to: now, collections: ["things"], max: 5 }],
    ["GET", `things/${id}`],
    ["GET", `things/${id}?version=1`],
    ["GET", `things/${id}/_changes`],
    ["GET", "things"],
    ["GET", "things?n=1&sort=-n"],
    ["GET", "things/_deleted"],
    ["GET", "things/_events"],
    ["GET", "things?aggregate=count&group=n"],
    ["POST", "things", { n: 2 }],
    ["PUT", `things/${id}`, { id, n: 2 }],
    ["PATCH", `things/${id}`, { n: 2 }],
    ["DELETE", `things/${id}`],
    ["POST", "_batch", { operations: [operation] }],
    ["POST", "things/_bulk", { all: true, patch: { n: 3 }, max: 5 }],
    ["POST", `things/${id}/_restore`, { version: 1 }],
    ["POST", "things/_deleted/_restore", { all: true, max: 5 }],
  ];
  for (const [method, path, content] of requests) {
    const answer = await service.ask(method, path, content);
    assert.deepEqual([answer.status, answer.code], [503, "UNAVAILABLE"], `${method} ${path}`);
  }
});

test("a rewind of a declared collection is one of them", async (t) => {
  const url = await databaseFor(t);
  const proxy = await startProxy(Number(new URL(url).port));
  t.after(() => proxy.close());
  const store = { kind: "postgres", url: proxy.urlOf(url) } as const;
  const service = await startFor(t, { store, collections: { things: {} } });
  await service.create("things", { n: 1 });
  proxy.refuse();
  const request = {
    method: "POST",
    path: "/api/v1/_rewind",
    content: { to: new Date(machineTime()).toISOString(), max: 5 },
  };
  const { status, text } = await service.send(request, { mayFail: true });
  assert.deepEqual([status, JSON.parse(text).code], [503, "UNAVAILABLE"], text);
});
