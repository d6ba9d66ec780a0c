/** Bad days of the database itself, each brought about by a trigger, a setting or a lock. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import pg from "pg";
import { makeFolder } from "../folder.ts";
import { ceilingMs, until } from "../until.ts";
import { databaseFor, query } from "./databases.ts";
import { type Answer, countOf, create, type Served, serveOn } from "./served.ts";

interface OnDatabase extends Served {
  url: string;
}

async function serveDatabase(t: TestContext, how: Parameters<typeof serveOn>[2] = {}): Promise<OnDatabase> {
  const url = await databaseFor(t);
  const served = await serveOn(t, url, how);
  assert.equal((await served.ask("POST", "things", { n: 0 })).status, 201);
  return { ...served, url };
}

/** What readiness says beside its status. */
function toldBy({ content }: Answer): string {
  return (content as { status: string }).status;
}

/** Makes the next inserts of resources fail with a code, this many times. A sequence counts them, because a rollback does not change it. */
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
    assert.ok(ms < ceilingMs, `${ms} ms`);
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
  const id = await create(served, 1);
  const letGo = await lockThings(t, served);
  const asked = Array.from({ length: 30 }, (_, n) => [
    served.ask("GET", `things/${n}`),
    served.ask("GET", `things/${id}?version=1`),
    served.ask("GET", `things?n=${n}`),
    served.ask("POST", "things", { n }),
  ]).flat();
  assert.equal((await served.ask("GET", "/livez")).status, 200);
  for (const { status, ms, headers } of await Promise.all(asked)) {
    assert.equal(status, 503);
    assert.ok(headers.has("retry-after"));
    assert.ok(ms < ceilingMs, `${ms} ms`);
  }
  await letGo();
  await until("it works again", async () => (await served.ask("GET", "things")).status === 200);
  assert.equal(await countOf(served, "things"), 2);
});

test("a list that takes too long says nothing of the database, whatever its attributes are called", async (t) => {
  const served = await serveDatabase(t, { storeOptions: { queryMs: 200 } });
  const letGo = await lockThings(t, served);
  for (const name of ["closed", "connection", "timeout"]) {
    const { code } = await served.ask("GET", `things?${name}=x`);
    assert.equal(code, "QUERY_TOO_EXPENSIVE");
    assert.deepEqual((await served.ask("GET", "/readyz")).status, 200);
  }
  await letGo();
});

test("a list of deleted resources and a sort by a related resource end when their time is over", async (t) => {
  const folder = makeFolder();
  const config = join(folder, "holdfast.config.json");
  const references = { parentId: { collection: "things", as: "parent" } };
  await writeFile(config, JSON.stringify({ collections: { things: { references } } }));
  const served = await serveDatabase(t, { config, storeOptions: { queryMs: 200 } });
  await served.ask("DELETE", `things/${await create(served, 1)}`);
  const letGo = await lockThings(t, served);
  for (const path of ["things/_deleted?n=1", "things?sort=parent.n"])
    assert.equal((await served.ask("GET", path)).code, "QUERY_TOO_EXPENSIVE", path);
  await letGo();
  for (const path of ["things/_deleted?n=1", "things?sort=parent.n"])
    await until(`${path} is answered`, async () => (await served.ask("GET", path)).status === 200);
});

/** Locks the resources until it is released. */
async function lockThings(t: TestContext, { url }: OnDatabase): Promise<() => Promise<void>> {
  const { rows } = await query(url, "select number from holdfast_collections where name = 'things'");
  const { number } = rows[0];
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const letGo = () => client.end();
  t.after(letGo);
  await client.query(`begin; lock table holdfast_resources_${number}, holdfast_changes_${number}`);
  return letGo;
}
