import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { StepTaken } from "../../src/store/core/building.ts";
import { runPlan } from "../../src/store/postgres/connection/connections.ts";
import { smallWrite, transact } from "../../src/store/postgres/connection/transaction.ts";
import { building } from "../../src/store/postgres/tables/migrate.ts";
import { makePlace } from "../copy/places.ts";
import { openBelow } from "../http/below.ts";
import { until } from "../until.ts";
import {
  attributesOf,
  bare,
  begun,
  byN,
  filled,
  findings,
  idOf,
  idsOf,
  open,
  sorted,
  untilQuick,
} from "./building-fixture.ts";
import { commit, created, deleted, topic, updated } from "./contract/fixture.ts";

test("a step locks the resources that it reads, so it does not overwrite what is written meanwhile", async (t) => {
  const { address, connections, collection, state } = await begun(t);
  const below = await openBelow(address);
  const other = await openBelow(address);
  t.after(() => Promise.all([below.close(), other.close()]));
  // Other tests wait for locks in other databases of the server.
  const waiting = `select count(*) as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  const waits = async () => Number((await below.first(waiting)).n) > 0;
  let writing: Promise<unknown> | undefined;
  let isWritten = false;
  await transact(connections, smallWrite, (transaction) =>
    runPlan(building.step(collection, state), async (statement) => {
      const result = await transaction.run(statement);
      if (!/doc::text from holdfast_resources_1/.test(statement.sql)) return result;
      writing ??= other
        .run(`update holdfast_resources_1 set keys = array['\\x07'::bytea] where key = '${idOf(700)}'`)
        .then(() => {
          isWritten = true;
        });
      await until("the write waits or is done", async () => isWritten || (await waits()));
      return result;
    }),
  );
  await writing;
  const { key } = await below.first(
    `select encode(keys[1], 'hex') as key from holdfast_resources_1 where key = '${idOf(700)}'`,
  );
  assert.equal(key, 7); // "07" as a number
});

test("a step of an instance that does not know the present declaration writes nothing", async (t) => {
  const { address, connections, collection, state } = await begun(t);
  const { store } = await open(t, address);
  await store.migrate([{ ...byN, timestamps: true }]);
  await store.close();
  const step = () =>
    transact(connections, smallWrite, (transaction) => transaction.runPlan(building.step(collection, state)));
  await assert.rejects(step, StepTaken);
});

for (const kind of ["sqlite", "postgres"] as const)
  describe(`an index on ${kind}`, () => {
    test("of large resources is built in steps of few resources", async (t) => {
      const address = await makePlace(t, kind);
      const { store } = await open(t, address);
      const load = await store.load(bare);
      await load.add(
        Array.from({ length: 400 }, (_, n) => {
          const id = idOf(n);
          return { id, text: JSON.stringify({ id, ...attributesOf(n), long: "x".repeat(3_000) }) };
        }),
      );
      await load.finish();
      await store.migrate([byN]);
      await untilQuick(store);
      assert.equal((await store.list({ ...sorted, limit: 401 })).items.length, 400);
      assert.deepEqual(await findings(address), []);
    });

    test("has what is written while it is built, before and after the place that is built", async (t) => {
      const { store, address } = await filled(t, kind, 5_000);
      await store.migrate([byN]);
      await commit(store, [
        updated(topic(idOf(3)), 1, { n: -3 }),
        updated(topic(idOf(4_990)), 1, { n: -2 }),
        deleted(topic(idOf(4)), 1),
        deleted(topic(idOf(4_991)), 1),
        created(topic("a"), { n: -4 }),
        created(topic("z"), { n: -1 }),
      ]);
      assert.equal(store.isQuick(sorted), false);
      await untilQuick(store);
      assert.deepEqual((await idsOf(store)).slice(0, 4), ["a", idOf(3), idOf(4_990), "z"]);
      assert.equal((await store.list({ ...sorted, limit: 5_001 })).items.length, 5_000);
      assert.deepEqual(await findings(address), []);
    });
  });
