/** What becomes of a service while its database has a bad day. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as pass } from "node:timers/promises";
import { type Answer, type Service, startService } from "../http/service.ts";
import { openDatabase, query } from "./databases.ts";
import { startProxy } from "./proxy.ts";
import { startPostgres } from "./server.ts";

async function start(t: TestContext, url: string): Promise<Service> {
  const service = await startService({ store: { kind: "postgres", url }, probe: { standstillMs: 2_000 } });
  t.after(() => service.stop());
  return service;
}

const create = (key?: string) => ({
  method: "POST",
  path: "/api/v1/topics",
  headers: key === undefined ? {} : { "Idempotency-Key": key },
  content: { title: "one" },
});

async function until(service: Service, path: string, status: number): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if ((await service.send({ path }, { mayFail: true })).status === status) return;
    await pass(25);
  }
  assert.fail(`${path} is not answered with ${status}`);
}

function codeOf(answer: Answer): string {
  assert.equal(answer.status, 503, answer.text);
  return (answer.json as { code: string }).code;
}

/** A service behind a proxy that can cut its way to the database. */
async function behindProxy(t: TestContext) {
  const { url, release } = await openDatabase();
  const proxy = await startProxy(Number(new URL(url).port));
  t.after(() => {
    proxy.close();
    release();
  });
  const through = new URL(url);
  through.port = String(proxy.port);
  return { service: await start(t, through.href), proxy, url };
}

test("without a database a service is alive and not ready, and begins by itself when there is one", async (t) => {
  const server = await startPostgres();
  t.after(() => server.remove());
  await server.stop();
  const service = await start(t, server.url);
  assert.equal((await service.send({ path: "/livez" })).status, 200);
  assert.equal((await service.send({ path: "/readyz" }, { mayFail: true })).status, 503);
  assert.equal(codeOf(await service.send(create(), { mayFail: true })), "UNAVAILABLE");
  await server.start();
  await until(service, "/readyz", 200);
  assert.equal((await service.send(create())).status, 201);
});

test("a database that ends and comes back is served again, with what was acknowledged", async (t) => {
  const server = await startPostgres();
  t.after(() => server.remove());
  const service = await start(t, server.url);
  const { path } = await service.create("topics", { title: "kept" });
  await server.stop("immediate");
  assert.equal(codeOf(await service.send({ path }, { mayFail: true })), "UNAVAILABLE");
  assert.equal(codeOf(await service.send(create(), { mayFail: true })), "UNAVAILABLE");
  assert.equal((await service.send({ path: "/readyz" }, { mayFail: true })).status, 503);
  await server.start();
  await until(service, path, 200);
  assert.equal((await service.send(create())).status, 201);
  assert.equal((await service.send({ path: "/readyz" })).status, 200);
});

test("connections that are cut while nobody uses them are noticed by nobody", async (t) => {
  const { service, proxy } = await behindProxy(t);
  const { path } = await service.create("topics");
  proxy.cut();
  await pass(50);
  assert.equal((await service.send({ path })).status, 200);
  proxy.cut();
  await pass(50); // a write on its way when the connection ends is another matter
  assert.equal((await service.send(create())).status, 201);
});

test("a connection lost after the commit was sent leaves nobody knowing, and the same key tells the truth", async (t) => {
  const { service, proxy } = await behindProxy(t);
  await service.create("topics");
  proxy.cutAfter("commit\0");
  assert.equal(codeOf(await service.send(create("once"), { mayFail: true })), "OUTCOME_UNKNOWN");
  const again = await service.send(create("once"));
  assert.equal(again.status, 201);
  const { headers } = await service.send({ path: "/api/v1/topics" });
  assert.equal(headers["x-total-count"], "2");
});

test("backends that are ended by an administrator cost nothing but the requests under way", async (t) => {
  const { service, url } = await behindProxy(t);
  const { path } = await service.create("topics");
  await query(
    url,
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  await pass(50);
  assert.equal((await service.send({ path })).status, 200);
});

test("a database that takes no writes answers reads, refuses writes, and takes them again", async (t) => {
  const { service, url } = await behindProxy(t);
  const { path } = await service.create("topics");
  const { pathname } = new URL(url);
  const name = pathname.slice(1);
  await query(url, `alter database ${name} set default_transaction_read_only = on`);
  await query(
    url,
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  assert.equal((await service.send({ path })).status, 200);
  assert.equal(codeOf(await service.send(create(), { mayFail: true })), "UNAVAILABLE");
  await query(url, `begin read write; alter database ${name} reset default_transaction_read_only; commit`);
  assert.equal((await service.send(create())).status, 201);
});
