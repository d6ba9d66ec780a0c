/** Indexes and search words of large collections are built in steps, while the store serves. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";
import fc from "fast-check";
import { readIndexes } from "../../src/collection/indexes.ts";
import { compareBy } from "../../src/query/sort.ts";
import { StepTaken } from "../../src/store/core/building.ts";
import type { StoreAddress } from "../../src/store/open.ts";
import type { CollectionRecord } from "../../src/store/port/record.ts";
import type { Store } from "../../src/store/port/store.ts";
import { smallWrite, transact, transactionModes } from "../../src/store/postgres/connection/transaction.ts";
import { building, migrateServed } from "../../src/store/postgres/tables/migrate.ts";
import { openBelow } from "../http/below.ts";
import { seed } from "../seed.ts";
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
  steps,
  untilQuick,
} from "./building-fixture.ts";
import { commit, created, declaration, deleted, topic, updated } from "./contract/fixture.ts";

const both: CollectionRecord = { ...byN, search: [["title"]] };

const search = (store: Store, word: string) =>
  store.list({ collection: "topics", limit: 5, words: [word], count: true });

const canSearch = (store: Store) =>
  search(store, "word7").then(
    () => true,
    () => false,
  );

/** How far the collection is built. */
async function builtTo(address: StoreAddress): Promise<unknown> {
  const below = await openBelow(address);
  const { built_to: to } = await below.first(`select built_to from ${below.table("heads")} where number = 1`);
  await below.close();
  return to;
}

for (const kind of ["sqlite", "postgres"] as const)
  describe(`an index on ${kind}`, () => {
    test("of one collection is built although the build of another one fails, and a warning says why", async (t) => {
      const { store, address, warnings } = await filled(t, kind, 20_000);
      const load = await store.load(declaration("others"));
      await load.add(
        Array.from({ length: 1_000 }, (_, n) => ({ id: idOf(n), text: JSON.stringify({ id: idOf(n), n }) })),
      );
      await load.finish();
      await store.migrate([both]);
      const below = await openBelow(address);
      await below.run(`drop table ${kind === "sqlite" ? "search_1" : below.table("words_1")}`);
      await below.close();
      await store.migrate([{ ...byN, name: "others" }]);
      await untilQuick(store, { ...sorted, collection: "others" });
      assert.match(warnings.join("\n"), /building .*index.* failed: /);
      assert.equal(store.isQuick(sorted), false);
    });

    test("of 20,000 resources is not there after its declaration, and its lists become quick later", async (t) => {
      const { store, address, infos } = await filled(t, kind, 20_000);
      const first = [...Array(20_000).keys()]
        .map((n) => ({ id: idOf(n), ...attributesOf(n) }))
        .sort(compareBy(sorted.sort))
        .slice(0, 20)
        .map(({ id }) => id);
      await store.migrate([byN]);
      assert.equal(store.isQuick(sorted), false);
      assert.deepEqual(await idsOf(store), first);
      await commit(store, [created(topic("new"), { n: -1 })]);
      assert.equal(store.isQuick(sorted), false, "it was built before all requests");
      assert.equal(
        infos.some((text) => /built/.test(text)),
        false,
      );
      await untilQuick(store);
      assert.deepEqual(await idsOf(store), ["new", ...first.slice(0, 19)]);
      await until("it is said to be built", () => infos.some((text) => /built the index/.test(text)));
      assert.match(
        infos.join("\n"),
        /^topics: building the index \["n"\] from 2000\d resources.*\ntopics: built the index \["n"\] from 20001 resources$/,
      );
      assert.deepEqual(await findings(address), []);
    });

    test("of a few resources is there after its declaration", async (t) => {
      const { store, infos } = await filled(t, kind, 300);
      await store.migrate([both]);
      assert.equal(store.isQuick(sorted), true);
      assert.equal((await search(store, "word7")).total, 6);
      assert.deepEqual(infos, []);
    });

    test(`and search words agree with random writes beside the build (HOLDFAST_TEST_SEED=${seed})`, async (t) => {
      const { store, address } = await filled(t, kind, 4_000);
      const [writes = []] = fc.sample(
        fc.array(fc.record({ n: fc.nat(4_200), value: fc.nat(1_000), isDelete: fc.boolean() }), {
          minLength: 300,
          maxLength: 300,
        }),
        { seed, numRuns: 1 },
      );
      await store.migrate([both]);
      for (const { n, value, isDelete } of writes) {
        const key = topic(idOf(n));
        const before = await store.read(key);
        const next = { n: value, title: `other${value}` };
        if (before === undefined)
          await commit(store, [created(key, next)]).catch(() => {}); // it was deleted before
        else if (isDelete) await commit(store, [deleted(key, before.version)]);
        else await commit(store, [updated(key, before.version, next)]);
      }
      await untilQuick(store);
      assert.deepEqual(await findings(address), []);
      const resources: { id: string; n: number; title: string }[] = [];
      for await (const { text } of store.scan("topics")) resources.push(JSON.parse(text));
      const ids = resources.sort(compareBy(sorted.sort)).map(({ id }) => id);
      assert.deepEqual(await idsOf(store, { ...sorted, limit: 10_000 }), ids);
      for (const word of new Set(resources.map(({ title }) => title).slice(0, 40)))
        assert.equal(
          (await search(store, word)).total,
          resources.filter(({ title }) => title.startsWith(word)).length,
          word,
        );
    });

    test("is completed by the next start", async (t) => {
      const { store, address } = await filled(t, kind, 20_000);
      await store.migrate([both]);
      await store.close();
      const reached = await builtTo(address);
      assert.ok(reached !== null, "it was complete before the end");
      const again = await open(t, address);
      assert.equal(again.store.isQuick(sorted), false);
      await assert.rejects(search(again.store, "word7"), { code: "UNAVAILABLE" });
      await untilQuick(again.store);
      assert.equal((await search(again.store, "word7")).total, 400);
      assert.equal(await builtTo(address), null);
      assert.deepEqual(await findings(address), []);
    });

    test("is completed after a kill in the middle", async (t) => {
      const { store, address } = await filled(t, kind, 20_000);
      await store.close();
      const program = join(import.meta.dirname, "programs/build.ts");
      const { signal, stderr } = spawnSync(process.execPath, [
        program,
        JSON.stringify(address),
        JSON.stringify(both),
      ]);
      assert.equal(signal, "SIGKILL", String(stderr));
      assert.ok((await builtTo(address)) !== null);
      const again = await open(t, address);
      await untilQuick(again.store);
      assert.equal((await search(again.store, "word7")).total, 400);
      assert.deepEqual(await findings(address), []);
    });

    test("is complete also if the declaration changes again while it is built", async (t) => {
      const { store, address } = await filled(t, kind, 10_000);
      await store.migrate([both]);
      const byM = readIndexes(["m"], "indexes");
      await until("more than the first step is taken", async () => {
        const to = await builtTo(address);
        return to === null || (kind === "sqlite" ? Number(to) > 1_600 : String(to) > idOf(1_600));
      });
      await store.migrate([{ ...both, indexes: [...both.indexes, ...byM] }]);
      await commit(store, [deleted(topic(idOf(1_507)), 1), created(topic("new"), { title: "word7" })]);
      await until("the words are complete", () => canSearch(store));
      assert.equal((await search(store, "word7")).total, 200);
      await store.migrate([both]);
      await store.migrate([{ ...bare, indexes: byM }]);
      assert.equal(store.isQuick(sorted), false);
      const second = { ...sorted, sort: readIndexes(["m"], "sort")[0] ?? [] };
      await untilQuick(store, second);
      assert.equal(store.isQuick(sorted), false, "the first index is not declared any more");
      await store.migrate([both]);
      await untilQuick(store);
      await until("the words are complete", () => canSearch(store));
      assert.equal((await search(store, "word7")).total, 200);
      assert.deepEqual(await findings(address), []);
    });

    test("is built without a resource whose text is no JSON, which is reported", async (t) => {
      const { store, address } = await filled(t, kind, 2_000);
      await store.close();
      const below = await openBelow(address);
      const resources = below.table("resources_1");
      if (kind === "postgres") await below.run(`alter table ${resources} alter column doc type text`);
      await below.run(`update ${resources} set doc = '{"id":' where ${below.keyColumn} = '${idOf(1_500)}'`);
      await below.close();
      const again = await open(t, address);
      await again.store.migrate([both]);
      await untilQuick(again.store);
      assert.match(again.warnings.join("\n"), RegExp(`The resource topics/${idOf(1_500)} is damaged`));
      assert.equal(again.store.health().data, "damaged");
      assert.equal((await search(again.store, "word0")).total, 39);
      assert.equal((await again.store.list({ ...sorted, limit: 2_001 })).items.length, 1_999);
    });
  });

test("SQLite removes the entries of an index that is not declared any more", async (t) => {
  const { store, address } = await filled(t, "sqlite", 3_000);
  await store.migrate([byN]);
  await untilQuick(store);
  const below = await openBelow(address);
  t.after(() => below.close());
  const entries = async () => Number((await below.first("select count(*) as n from entries_1")).n);
  assert.equal(await entries(), 3_000);
  await store.migrate([bare]);
  assert.ok((await entries()) >= 2_000, "one transaction removed them");
  await until("they are removed", async () => (await entries()) === 0);
});

test("two instances on PostgreSQL: both write while one has declared the index, and both use it later", async (t) => {
  const { store: one, address } = await filled(t, "postgres", 5_000);
  const { store: two } = await open(t, address);
  let isDone = false;
  let written = 0;
  const writing = (async () => {
    for (; !isDone || written === 0; written++)
      await commit(two, [updated(topic(idOf(written)), 1, { n: -written })]);
  })();
  await one.migrate([byN]);
  await until("the index is complete", async () => {
    await one.list(sorted); // the other instance can take the last step, and a read notices it
    return one.isQuick(sorted);
  });
  isDone = true;
  await writing;
  await two.list(sorted); // it notices the declaration
  assert.equal(two.isQuick(sorted), true);
  const least = Array.from({ length: Math.min(20, written) }, (_, n) => idOf(written - 1 - n));
  for (const store of [one, two]) assert.deepEqual((await idsOf(store)).slice(0, least.length), least);
  assert.deepEqual(await findings(address), []);
});

test("the step that ends the building of an index that is gone does not bring back an old declaration", async (t) => {
  const { address, connections } = await begun(t);
  const declare = (record: CollectionRecord) =>
    transact(connections, transactionModes.longWrite, (transaction) => migrateServed(transaction, [record]));
  await declare(bare);
  const { collection, state } = await steps(t, address);
  await declare({ ...bare, timestamps: true });
  const step = () =>
    transact(connections, smallWrite, (transaction) => transaction.runPlan(building.step(collection, state)));
  await assert.rejects(step, StepTaken);
  const now = await steps(t, address);
  assert.equal(now.collection.timestamps, true);
});
