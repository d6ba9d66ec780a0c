/** Databases with standbys, and databases that can lose confirmed writes: the durability of a success, and the effects of a failover. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openStore } from "../../src/store/open.ts";
import { until } from "../until.ts";
import { databaseFor, query } from "./databases.ts";
import { startProxy } from "./fault-proxy.ts";
import { countOf, create, serveOn } from "./served.ts";
import { type PostgresServer, startPostgres, startStandby } from "./server.ts";

/** The warnings of a store on this database when it is opened. It reports "relaxed" exactly if it has such a warning. */
async function warningOf(url: string): Promise<string | undefined> {
  const warnings: string[] = [];
  const store = await openStore({ kind: "postgres", url }, { onWarning: (text) => warnings.push(text) });
  const { durability } = store.health();
  await store.close();
  assert.equal(durability, warnings.length > 0 ? "relaxed" : undefined);
  return warnings[0];
}

/** Sets what can be set while a server runs, and waits until it is so. */
async function set(url: string, name: string, value: string): Promise<void> {
  await query(url, `alter system set ${name} = '${value}'`);
  await query(url, "select pg_reload_conf()");
  await until(`${name} is ${value}`, async () => {
    const { rows } = await query(url, `show ${name}`);
    return rows[0][name] === value;
  });
}

async function startPrimary(t: TestContext): Promise<PostgresServer> {
  const primary = await startPostgres(["fsync=on"]);
  t.after(() => primary.remove());
  return primary;
}

async function follow(t: TestContext, primary: PostgresServer): Promise<PostgresServer> {
  const standby = await startStandby(primary);
  t.after(() => standby.remove());
  await until("the standby follows", async () => {
    const { rows } = await query(primary.url, "select 1 from pg_stat_replication where state = 'streaming'");
    return rows.length > 0;
  });
  return standby;
}

test("a database that may lose what it acknowledges when the power fails is told of", async (t) => {
  const url = await databaseFor(t);
  assert.match(String(await warningOf(url)), /has fsync off/);
  const served = await serveOn(t, url);
  assert.deepEqual((await served.ask("GET", "/readyz")).content, { status: "pass", durability: "relaxed" });
});

test("a database that does not wait for its standbys is told of, and one that does is not", async (t) => {
  const primary = await startPrimary(t);
  const { url } = primary;
  await query(url, "create role plain login; grant create on schema public to plain");
  const plain = url.replace("//holdfast@", "//plain@"); // sees less of the standbys
  assert.equal(await warningOf(plain), undefined);
  await follow(t, primary);
  assert.match(String(await warningOf(plain)), /does not wait for its standbys/);
  await set(url, "synchronous_standby_names", "*");
  assert.equal(await warningOf(plain), undefined);
  await set(url, "synchronous_commit", "local");
  assert.match(String(await warningOf(plain)), /does not wait for its standbys/);
  await set(url, "synchronous_commit", "off");
  assert.match(String(await warningOf(plain)), /has synchronous_commit off/);
});

test("a failover keeps what was acknowledged, is read from at once, and written to as soon as it may be", async (t) => {
  const primary = await startPrimary(t);
  const standby = await follow(t, primary);
  await set(primary.url, "synchronous_standby_names", "*");
  const proxy = await startProxy(primary.port);
  t.after(() => proxy.close());
  const served = await serveOn(t, proxy.urlOf(primary.url));
  const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => create(served, n)));
  await primary.stop("immediate");
  proxy.leadTo(standby.port);
  for (const id of ids) assert.equal((await served.ask("GET", `things/${id}`)).status, 200);
  const refused = await served.ask("POST", "things", { n: 20 });
  assert.deepEqual([refused.status, refused.code], [503, "UNAVAILABLE"]);
  assert.deepEqual((await served.ask("GET", "/readyz")).content, { status: "warn" });
  await query(standby.url, "select pg_promote()");
  await create(served, 20);
  assert.deepEqual((await served.ask("GET", "/readyz")).content, { status: "pass" });
  assert.equal(await countOf(served, "things"), 21);
});
