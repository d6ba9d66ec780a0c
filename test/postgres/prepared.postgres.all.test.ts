/** Statements that come again and again are prepared, on connections that lead to one process of the database. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Connections } from "../../src/store/postgres/connection/connections.ts";
import { databaseFor } from "./databases.ts";
import { startBouncer, whyNoBouncer } from "./pgbouncer.ts";

/** One connection, so that all statements have the same. */
async function connect(t: TestContext, { throughBouncer = false } = {}): Promise<Connections> {
  const url = await databaseFor(t);
  const bouncer = throughBouncer ? await startBouncer(url, 2) : undefined;
  const connections = new Connections({
    url: bouncer?.url ?? url,
    max: 1,
    connectTimeoutMs: 30_000,
    onIdleError: () => {},
  });
  t.after(async () => {
    await connections.close();
    await bouncer?.stop();
  });
  return connections;
}

/** How often each prepared statement ran, from the least. */
async function uses(connections: Connections): Promise<number[]> {
  const sql = "select generic_plans + custom_plans from pg_prepared_statements order by 1";
  const { rows } = await connections.run({ sql });
  return rows.map(([count]) => Number(count));
}

test("a statement is prepared when it comes for the second time", async (t) => {
  const connections = await connect(t);
  const ask = async (value: number) => {
    const { rows } = await connections.run({ sql: "select $1::int + 1", values: [value], isRepeated: true });
    return Number(rows[0]?.[0]);
  };
  assert.equal(await ask(1), 2);
  assert.deepEqual(await uses(connections), []);
  for (let n = 2; n < 12; n++) assert.equal(await ask(n), n + 1);
  assert.deepEqual(await uses(connections), [10]);
  await connections.run({ sql: "select $1::int + 2", values: [1] });
  await connections.run({ sql: "select $1::int + 2", values: [1] });
  assert.deepEqual(await uses(connections), [10], "only statements that are marked");
});

test("a connection keeps a bounded number of statements, and those that were used last", async (t) => {
  const connections = await connect(t);
  const ask = async (n: number) => {
    const { rows } = await connections.run({ sql: `select $1::int + ${n}`, values: [1], isRepeated: true });
    assert.deepEqual(rows, [[String(n + 1)]]);
  };
  for (let n = 0; n < 100; n++) for (let time = 0; time < 3; time++) await ask(n);
  assert.equal((await uses(connections)).length, 32);
  for (let n = 0; n < 100; n++) await ask(n);
  assert.equal((await uses(connections)).length, 32);
});

test("a plan that the server refuses after a change of the table is made again", async (t) => {
  const connections = await connect(t);
  await connections.run({ sql: "create table things (a int)" });
  await connections.run({ sql: "insert into things values (1)" });
  const ask = async () => (await connections.run({ sql: "select * from things", isRepeated: true })).rows;
  for (let n = 0; n < 8; n++) assert.deepEqual(await ask(), [["1"]]);
  await connections.run({ sql: "alter table things add column b int default 2" });
  for (let n = 0; n < 8; n++) assert.deepEqual(await ask(), [["1", "2"]]);
  assert.ok((await uses(connections)).includes(7), "it is prepared again");
});

test("an error that a new preparation does not mend is tried once more, and not again", async (t) => {
  const connections = await connect(t);
  await connections.run({ sql: "create sequence calls" });
  await connections.run({
    sql: `create function refuse() returns int language plpgsql as $$ begin
        perform nextval('calls'); raise 'no' using errcode = 'feature_not_supported'; end $$`,
  });
  await assert.rejects(connections.run({ sql: "select refuse()", isRepeated: true }), { message: "no" });
  assert.deepEqual((await connections.run({ sql: "select last_value from calls" })).rows, [["2"]]);
});

test("a plan that was made for a small table does not read a large one from beginning to end", async (t) => {
  const connections = await connect(t);
  await connections.run({ sql: "create table things (a int primary key) with (autovacuum_enabled = off)" });
  await connections.run({ sql: "insert into things values (0)" });
  await connections.run({ sql: "analyze things" });
  const sql = "select a from things where a = any($1::int[])";
  const ask = () => connections.run({ sql, values: ["{0,7}"], isRepeated: true });
  for (let n = 0; n < 20; n++) await ask();
  await connections.run({ sql: "insert into things select generate_series(1, 20000)" });
  const scanned = async () => {
    await connections.run({ sql: "select pg_stat_force_next_flush()" });
    const found = "select seq_tup_read from pg_stat_user_tables where relname = 'things'";
    return Number((await connections.run({ sql: found })).rows[0]?.[0]);
  };
  const before = await scanned();
  assert.deepEqual((await ask()).rows, [["0"], ["7"]]);
  assert.equal(await scanned(), before);
});

test("no plan is compiled, from the first statement of a connection on", async (t) => {
  const connections = await connect(t);
  assert.deepEqual((await connections.run({ sql: "show jit" })).rows, [["off"]]);
});

test("nothing is prepared through a pooler, where each statement may come to another process", {
  skip: whyNoBouncer(),
}, async (t) => {
  const connections = await connect(t, { throughBouncer: true });
  const ask = async () => (await connections.run({ sql: "select 1", isRepeated: true })).rows;
  for (let n = 0; n < 8; n++) assert.deepEqual(await ask(), [["1"]]);
  assert.deepEqual(await uses(connections), []);
  const { rows } = await connections.run({ sql: "show enable_seqscan" });
  assert.deepEqual(rows, [["on"]]);
});

test("a prepared statement that is gone is not missed", async (t) => {
  const connections = await connect(t);
  const ask = async () => (await connections.run({ sql: "select 1", isRepeated: true })).rows;
  for (let n = 0; n < 8; n++) assert.deepEqual(await ask(), [["1"]]);
  await connections.run({ sql: "deallocate all" }); // as if another process responded
  for (let n = 0; n < 8; n++) assert.deepEqual(await ask(), [["1"]]);
  assert.deepEqual(await uses(connections), [], "nothing is prepared any more");
});
