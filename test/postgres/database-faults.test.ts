/** Bad days of the database itself, each brought about by a trigger, a setting or the end of the server. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openDatabase, query } from "./databases.ts";
import { startProxy } from "./fault-proxy.ts";
import { type Answer, countOf, type Served, serveOn, until } from "./served.ts";
import { freePort, startPostgres } from "./server.ts";

interface OnDatabase extends Served {
  url: string;
}

async function serveDatabase(t: TestContext): Promise<OnDatabase> {
  const { url, release } = await openDatabase();
  t.after(() => release());
  const served = await serveOn(t, url);
  assert.equal((await served.ask("POST", "things", { n: 0 })).status, 201);
  return { ...served, url };
}

/** What readiness says beside its status. */
function toldBy({ content }: Answer): string {
  return (content as { status: string }).status;
}

/** Has the database fail with a code so many times, where a resource is added; a sequence counts also what is taken back. */
async function failing({ url }: OnDatabase, code: string, times: number): Promise<() => Promise<unknown>> {
  const { rows } = await query(url, "select number from holdfast_collections where name = 'things'");
  const table = `holdfast_resources_${rows[0].number}`;
  await query(
    url,
    `create sequence failures;
     create function fail() returns trigger language plpgsql as $$ begin
       if nextval('failures') <= ${times} then raise exception 'a bad day' using errcode = '${code}'; end if;
       return new;
     end $$;
     create trigger failing before insert on ${table} for each row execute function fail()`,
  );
  return () => query(url, `drop trigger failing on ${table}; drop function fail; drop sequence failures`);
}

for (const code of ["40001", "40P01"]) {
  test(`what the database takes back with ${code} is tried again, and nobody notices`, async (t) => {
    const served = await serveDatabase(t);
    await failing(served, code, 3);
    assert.equal((await served.ask("POST", "things", { n: 1 })).status, 201);
    assert.equal(await countOf(served, "things"), 2);
  });
}

test("what the database takes back every time is refused in time, and works again later", async (t) => {
  const served = await serveDatabase(t);
  const heal = await failing(served, "40001", 1_000_000);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => served.ask("POST", "things", { n })),
  );
  for (const { status, code, ms } of answers) {
    assert.deepEqual([status, code], [503, "UNAVAILABLE"]);
    assert.ok(ms < 15_000, `${ms} ms`);
  }
  assert.equal((await served.ask("GET", "/readyz")).status, 200);
  await heal();
  assert.equal((await served.ask("POST", "things", { n: 1 })).status, 201);
  assert.equal(await countOf(served, "things"), 2);
});

test("a full disk refuses writes, not reads, and is over with the first write that succeeds", async (t) => {
  const served = await serveDatabase(t);
  const heal = await failing(served, "53100", 1_000_000);
  const refused = await served.ask("POST", "things", { n: 1 }, { "idempotency-key": "full" });
  assert.deepEqual([refused.status, refused.code], [503, "STORAGE_FULL"]);
  assert.equal(await countOf(served, "things"), 1);
  const warned = await served.ask("GET", "/readyz");
  assert.deepEqual([warned.status, toldBy(warned)], [200, "warn"]);
  await heal();
  const again = await served.ask("POST", "things", { n: 1 }, { "idempotency-key": "full" });
  assert.deepEqual([again.status, again.headers.get("idempotent-replayed")], [201, null]);
  assert.equal(toldBy(await served.ask("GET", "/readyz")), "pass");
});

test("a database that takes no writes any more is read, and written to again by itself when it does", async (t) => {
  const served = await serveDatabase(t);
  const { pathname } = new URL(served.url);
  const set = (value: string) =>
    query(
      served.url,
      `begin read write; alter database ${pathname.slice(1)} set default_transaction_read_only = ${value}; commit`,
    );
  await set("on");
  t.after(() => set("off"));
  await query(
    served.url,
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'holdfast' and datname = current_database()",
  );
  const refused = await served.ask("POST", "things", { n: 1 });
  assert.deepEqual([refused.status, refused.code], [503, "UNAVAILABLE"]);
  assert.equal(await countOf(served, "things"), 1);
  assert.equal(toldBy(await served.ask("GET", "/readyz")), "warn");
  await set("off");
  // The connections that are there were made to a server that takes no writes: they are given up for others.
  assert.equal((await served.ask("POST", "things", { n: 1 })).status, 201);
  assert.equal(toldBy(await served.ask("GET", "/readyz")), "pass");
});

test("while every connection is taken by work that is stuck, others are refused in time and health is told", async (t) => {
  const served = await serveDatabase(t);
  const { rows } = await query(served.url, "select number from holdfast_collections where name = 'things'");
  const table = `holdfast_resources_${rows[0].number}`;
  const lock = query(served.url, `begin; lock table ${table} in access exclusive mode; select pg_sleep(6)`);
  await until("the table is locked", async () => {
    const held = await query(
      served.url,
      `select 1 from pg_locks where relation = '${table}'::regclass and mode = 'AccessExclusiveLock' and granted`,
    );
    return held.rows.length > 0;
  });
  const asked = [
    ...Array.from({ length: 30 }, (_, n) => served.ask("GET", `things/${n}`)),
    ...Array.from({ length: 30 }, (_, n) => served.ask("GET", `things?n=${n}`)),
    ...Array.from({ length: 30 }, (_, n) => served.ask("POST", "things", { n: n + 1 })),
  ];
  const health = await served.ask("GET", "/livez");
  assert.equal(health.status, 200);
  const answers = await Promise.all(asked);
  for (const { status, ms } of answers) {
    assert.ok([200, 201, 404, 503].includes(status), String(status));
    assert.ok(ms < 15_000, `${ms} ms`);
  }
  assert.ok(answers.some(({ status }) => status === 503));
  await lock;
  await until("it works again", async () => (await served.ask("GET", "things")).status === 200);
  const created = answers.filter(({ status }) => status === 201).length;
  assert.ok((await countOf(served, "things")) >= 1 + created);
});

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
  const { url, release } = await openDatabase();
  t.after(() => release());
  const port = await freePort();
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
