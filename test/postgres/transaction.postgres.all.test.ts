/** Transactions whose statements are sent without waiting for those before. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Connections } from "../../src/store/postgres/connection/connections.ts";
import { smallWrite, transact } from "../../src/store/postgres/connection/transaction.ts";
import { openDatabase } from "./databases.ts";

test("every statement behind one that failed is told of that failure, and not that there was one", async (t) => {
  const { url, releaseLater } = await openDatabase();
  const connections = new Connections({ url, max: 1, connectTimeoutMs: 5_000, onIdleError: () => {} });
  t.after(async () => {
    await connections.close();
    releaseLater();
  });
  const work = transact(connections, smallWrite, async (transaction) => {
    const sent = ["select 1 / 0", "select 1"].map((sql) => transaction.run({ sql }));
    await Promise.allSettled(sent);
    await sent[1];
  });
  await assert.rejects(work, { code: "22012" });
});

test("a warning between the commit and its end makes the outcome unknown, and a notice does not", async (t) => {
  const { url, releaseLater } = await openDatabase();
  const connections = new Connections({ url, max: 1, connectTimeoutMs: 5_000, onIdleError: () => {} });
  t.after(async () => {
    await connections.close();
    releaseLater();
  });
  // As a cluster does whose node is lost after the others have committed.
  await connections.use(({ runAll }) =>
    runAll(`create table things (level text);
      create function report() returns trigger language plpgsql as $$ begin
        if new.level = 'warning' then raise warning using message = 'failed to commit', errcode = '08006'; end if;
        if new.level = 'plain warning' then raise warning 'failed to commit'; end if;
        if new.level = 'notice' then raise notice 'all is well'; end if;
        return new; end $$;
      create constraint trigger at_the_end after insert on things deferrable initially deferred
        for each row execute function report()`),
  );
  const insert = (level: string) =>
    transact(connections, smallWrite, (transaction) =>
      transaction.commit([{ sql: "insert into things values ($1)", values: [level] }]),
    );
  await insert("notice");
  for (const level of ["warning", "plain warning"])
    await assert.rejects(insert(level), { code: "OUTCOME_UNKNOWN", cause: new Error("failed to commit") });
  await insert("nothing");
  const { rows } = await connections.run({ sql: "select count(*) from things" });
  assert.deepEqual(rows, [["4"]]);
});
