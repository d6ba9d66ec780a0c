/** Faults of the database server: no free connections, gone, or not started yet. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { quietPort } from "../ports.ts";
import { until } from "../until.ts";
import { databaseFor, query } from "./databases.ts";
import { startProxy } from "./fault-proxy.ts";
import { countOf, serveOn } from "./served.ts";
import { startPostgres } from "./server.ts";

test("with too many connections at the database the service answers 503, lives, and recovers", async (t) => {
  const server = await startPostgres(["max_connections=8", "superuser_reserved_connections=0"]);
  t.after(() => server.remove());
  const served = await serveOn(t, server.url);
  assert.equal((await served.ask("POST", "things", { n: 0 })).status, 201);
  const held = Array.from({ length: 12 }, () => query(server.url, "select pg_sleep(3)").catch(String));
  const asked = Array.from({ length: 40 }, (_, n) => served.ask("GET", `things?n=${n % 3}&sort=n`));
  for (const { status } of await Promise.all(asked))
    assert.ok(status === 200 || status === 503, String(status));
  assert.equal((await served.ask("GET", "/livez")).status, 200);
  assert.ok((await Promise.all(held)).some((end) => /too many/.test(String(end))));
  await until("it works again", async () => (await served.ask("POST", "things", { n: 1 })).status === 201);
});

test("a server that is restarted, or crashes, costs no more than the time that it is away", async (t) => {
  const server = await startPostgres(["fsync=on"]);
  t.after(() => server.remove());
  const served = await serveOn(t, server.url);
  for (const [n, how] of (["fast", "immediate"] as const).entries()) {
    assert.equal((await served.ask("POST", "things", { n })).status, 201);
    await server.stop(how);
    const answer = await served.ask("POST", "things", { n });
    assert.deepEqual([answer.status, answer.code], [503, "UNAVAILABLE"]);
    assert.equal((await served.ask("GET", "/readyz")).status, 503);
    await server.start();
    await until("it is ready", async () => (await served.ask("GET", "/readyz")).status === 200);
    assert.equal(await countOf(served, "things"), n + 1);
  }
});

test("a service whose database is not there yet is alive, not ready, and works as soon as it is", async (t) => {
  const url = await databaseFor(t);
  const port = await quietPort();
  const served = await serveOn(t, url.replace(new URL(url).port, String(port)));
  assert.equal((await served.ask("GET", "/livez")).status, 200);
  assert.equal((await served.ask("GET", "/readyz")).status, 503);
  for (const [method, path, content] of [
    ["GET", "things"],
    ["GET", "things/1"],
    ["POST", "things", { n: 1 }],
    ["DELETE", "things/1"],
  ] as const) {
    const { status, code } = await served.ask(method, path, content);
    assert.deepEqual([status, code], [503, "UNAVAILABLE"], `${method} ${path}`);
  }
  const way = await startProxy(Number(new URL(url).port), port);
  t.after(() => way.close());
  await until("it is ready", async () => (await served.ask("GET", "/readyz")).status === 200);
  assert.equal((await served.ask("POST", "things", { n: 1 })).status, 201);
});
