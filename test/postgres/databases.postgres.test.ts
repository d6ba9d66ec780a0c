/** The databases of tests: each test finds one that is as new, whatever the test before it did. */
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { openStore } from "../../src/store/open.ts";
import { commit, created, declaration, topic, unexpired } from "../store/contract/fixture.ts";
import { until } from "../until.ts";
import { openDatabase, query } from "./databases.ts";

const contents = `select (select string_agg(relname, ' ' order by relname) from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r') as tables,
  (select string_agg(format('%s=%s', name, value), ' ' order by name) from holdfast_meta where name not like 'secret%') as meta,
  (select string_agg(value::text, ' ' order by name) from holdfast_meta where name like 'secret%') as secret,
  (select count(*) from holdfast_folds) as folds,
  (select count(*) from holdfast_heads) + (select count(*) from holdfast_collections) + (select count(*) from holdfast_ids)
    + (select count(*) from holdfast_receipts) + (select count(*) from holdfast_keys) as others`;

test("a used database has the tables of every store, the folds and a new secret, and nothing else of the test before", async () => {
  const { url, release } = await openDatabase({ isEmpty: true });
  await (await openStore({ kind: "postgres", url })).close();
  const [{ secret, ...fresh }] = (await query(url, contents)).rows;
  const store = await openStore({ kind: "postgres", url });
  await store.migrate([declaration("topics", { search: [["title"]] })]);
  const receipt = { key: "k", fingerprint: "f", answer: "{}", expiresAt: unexpired };
  await commit(store, [created(topic("a"), { title: "A" })], { receipt });
  await store.reserveIds("topics", 3);
  await store.close();
  assert.notDeepEqual((await query(url, contents)).rows[0].tables, fresh.tables);
  await release();
  const again = await openDatabase();
  assert.equal(again.url, url);
  const [{ secret: other, ...emptied }] = (await query(url, contents)).rows;
  assert.deepEqual(emptied, fresh);
  assert.match(other, /^\d+ \d+ \d+$/);
  assert.notEqual(other, secret);
  await again.release();
});

test("a database is not used again if a test changed more than the contents of its store", async () => {
  const changes = [
    "alter table holdfast_keys drop column hash",
    "alter table holdfast_receipts add column more text",
    "alter table holdfast_heads alter column words drop not null",
    "drop index holdfast_receipts_by_expiry",
    "drop table holdfast_ids",
    "drop table holdfast_folds",
    "delete from holdfast_folds where character = (select max(character) from holdfast_folds)",
    "create table holdfast_copying (word text)",
    "create view names as select name from holdfast_collections",
    "create schema other",
    "create type mood as enum ('good')",
    "create function one() returns int language sql as 'select 1'",
    "grant select on holdfast_meta to public",
    "do $$ begin execute format('alter database %I set work_mem = 1024', current_database()); end $$",
  ];
  for (const change of changes) {
    const { url, release } = await openDatabase();
    await (await openStore({ kind: "postgres", url })).close();
    await query(url, change);
    await release();
    await assert.rejects(query(url, "select 1"), { code: "3D000" }, change);
  }
});

test("a database is released after the last connection to it has ended", async () => {
  const { url, release } = await openDatabase();
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  let isReleased = false;
  const released = release().then(() => {
    isReleased = true;
  });
  const looks =
    "select query_start from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
  const times = new Set<string>();
  await until("it looks for connections several times", async () => {
    for (const { query_start } of (await holder.query(looks)).rows) times.add(String(Number(query_start)));
    return times.size > 3;
  });
  assert.equal(isReleased, false);
  await holder.end();
  await released;
});
