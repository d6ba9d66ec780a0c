/** The order of the change log: a later sequence is never committed before an earlier one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { eventsOf, linkOf } from "../http/follow.ts";
import { startService } from "../http/service.ts";
import { until } from "../until.ts";
import { openDatabase, query } from "./databases.ts";

/** A commit that changes this resource waits for the lock 7, after it has its sequence and before its end. */
const stall = (id: string) => `
  create function stall() returns trigger language plpgsql as $$
    begin
      if new.id = '${id}' then perform pg_advisory_xact_lock_shared(7); end if;
      return new;
    end $$;
  create trigger stall before insert on holdfast_changes_1 for each row execute function stall()`;

const waitingSql = `select query from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()`;

test("a commit that has its sequence holds back later ones, so that nobody reads beyond it", async (t) => {
  const { url, releaseLater } = await openDatabase();
  const start = () => startService({ store: { kind: "postgres", url } });
  const services = [await start(), await start()] as const;
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  t.after(async () => {
    await holder.end();
    for (const service of services) await service.stop();
    releaseLater();
  });
  const [one, other] = services;
  const [slow, quick] = [await one.create("topics", { n: 0 }), await one.create("topics", { n: 0 })];
  const from = linkOf(await other.send({ path: "/api/v1/topics/_events?since=now" }), "next");
  await query(url, stall(slow.id));
  await holder.query("select pg_advisory_lock(7)");
  const waiting = async () => (await query(url, waitingSql)).rows.map((row) => String(row.query));

  const first = one.send({ method: "PATCH", path: slow.path, content: { n: 1 } });
  await until("the first commit has its sequence", async () =>
    (await waiting()).some((sql) => sql.includes("holdfast_changes_1")),
  );
  let isConfirmed = false;
  const second = other.send({ method: "PATCH", path: quick.path, content: { n: 2 } }).then((answer) => {
    isConfirmed = true;
    return answer;
  });
  await until("the second commit waits for the head", async () => {
    assert.equal(isConfirmed, false, "the second commit has come first");
    return (await waiting()).some((sql) => sql.includes("update holdfast_heads"));
  });
  assert.deepEqual(eventsOf(await other.send({ path: from })), []);

  await holder.query("select pg_advisory_unlock(7)");
  assert.deepEqual([(await first).status, (await second).status], [200, 200]);
  const events = eventsOf(await one.send({ path: from }));
  const expected = new Map([
    [slow.id, 1],
    [quick.id, 2],
  ]);
  assert.deepEqual(new Map(events.map(({ subject, data }) => [subject, data.n])), expected);
});
