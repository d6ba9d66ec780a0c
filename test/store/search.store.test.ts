/** Search in the SQLite store: the parts that the contract of stores does not cover. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Problem } from "../../src/errors.ts";
import type { Filter } from "../../src/query/filter.ts";
import { wordsVersion } from "../../src/query/search-words.ts";
import type { PageQuery } from "../../src/store/core/related.ts";
import { wordsAreSplitAgain } from "../../src/store/core/search-index.ts";
import type { ListQuery } from "../../src/store/port/page.ts";
import type { Store } from "../../src/store/port/store.ts";
import { selectPage } from "../../src/store/sqlite/list/select.ts";
import { PlanRunner, readCatalogue } from "../../src/store/sqlite/sqlite-dialect.ts";
import { Heads } from "../../src/store/sqlite/writer/heads.ts";
import { createMigrations } from "../../src/store/sqlite/writer/migrate.ts";
import { SearchTables } from "../../src/store/sqlite/writer/search-tables.ts";
import { ceilingMs, machineTime, until } from "../until.ts";
import { declaration } from "./contract/fixture.ts";
import { openSqliteFixture, untilAnswered } from "./sqlite-fixture.ts";

const declare = (...names: string[]) => declaration("topics", { search: names.map((name) => [name]) });

type Opened = Awaited<ReturnType<typeof openSqliteFixture>>;

/** The warnings of the stores. */
const warnings: string[] = [];

/** A store with many resources, and a second connection to its file. */
function onFile(
  { resources, queryMs = ceilingMs }: { resources: number; queryMs?: number },
  run: (opened: Opened, database: DatabaseSync) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const opened = await openSqliteFixture({ queryMs, onWarning: (text) => warnings.push(text) });
    const database = new DatabaseSync(opened.path, { timeout: ceilingMs });
    try {
      await fill(opened.store, resources);
      await run(opened, database);
    } finally {
      database.close();
      await opened.cleanup();
    }
  };
}

async function fill(store: Store, n: number): Promise<void> {
  const load = await store.load(declare("text"));
  await load.add(
    Array.from({ length: n }, (_, i) => {
      const id = `id${i}`;
      return { id, text: JSON.stringify({ id, n: i, text: `common word${i}`, other: "elsewhere" }) };
    }),
  );
  await load.finish();
  await turn(); // by then the store has looked for indexes to build, and found none
}

const find = (store: Store, words: string[], more: Partial<ListQuery> = {}) =>
  store.list({ collection: "topics", limit: 10, words, ...more });

const isProblem = (code: string, detail: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Problem, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, detail);
  return true;
};

const unavailable = isProblem("UNAVAILABLE", /search index of the collection is not complete/);

const tablesOf = (database: DatabaseSync) =>
  database
    .prepare("select name from sqlite_schema where name like 'search\\_%' escape '\\'")
    .all()
    .map(({ name }) => String(name));

const isIndexed = (database: DatabaseSync) =>
  database
    .prepare("select 1 from heads where built_to is null and words_version like '2, Unicode%'")
    .get() !== undefined;

describe("search in a SQLite store", () => {
  test("without a history, deletes remove resources and their words", async () => {
    const { store, cleanup } = await openSqliteFixture({ history: "none" });
    try {
      await fill(store, 20);
      const key = (n: number) => ({ collection: "topics", id: `id${n}` });
      const deletes = Array.from({ length: 18 }, (_, n) => ({ key: key(n), expect: 1, next: undefined }));
      await Promise.all(deletes.map((change, n) => store.commit({ changes: [change], at: n + 1 })));
      await store.commit({
        changes: [{ key: key(18), expect: 1, next: '{"id":"id18","text":"common"}' }],
        at: 1,
      });
      const { items } = await find(store, ["common"]);
      assert.deepEqual(items.map(({ id }) => id).sort(), ["id18", "id19"]);
    } finally {
      await cleanup();
    }
  });

  test(
    "a search reads the resources that it finds and no others",
    onFile({ resources: 100 }, async (_, database) => {
      const topics = readCatalogue(database).get("topics");
      assert.ok(topics !== undefined);
      const filter: Filter = { kind: "gt", path: ["n"], values: [5] };
      const sort = [{ path: ["n"], descending: true }] as const;
      const queries: PageQuery[] = [
        { limit: 5, words: ["word"] },
        { limit: 5, words: ["word", "common"], filter },
        { limit: 5, words: ["word"], sort },
        { limit: 5, words: ["word"], sort, filter, after: [5, "id5"] },
      ];
      for (const query of queries) {
        const { sql, values } = selectPage(topics, query, { isInterruptible: false });
        const plan = database.prepare(`explain query plan ${sql}`).all(...values);
        const [first, second] = plan.map(({ detail }) => String(detail));
        assert.match(first ?? "", /^SCAN search_1 VIRTUAL TABLE INDEX 0:M/);
        assert.match(second ?? "", /^SEARCH resource USING INTEGER PRIMARY KEY/);
      }
    }),
  );

  test(
    "a search ends when its time is over, in its thread too",
    onFile({ resources: 30_000, queryMs: 200 }, async ({ store }) => {
      // One of them takes ten seconds and more, and three threads work on them: unless they end, no other query gets a turn for minutes.
      const filter: Filter = {
        kind: "or",
        filters: Array.from({ length: 900 }, (_, n) => ({
          kind: "contains",
          path: ["text"],
          values: [`no ${n}`],
        })),
      };
      const refused = isProblem("QUERY_TOO_EXPENSIVE", /fewer or longer words/);
      const busy = isProblem("UNAVAILABLE", /Too many slow lists are waiting/);
      const [first, ...others] = Array.from({ length: 30 }, () => find(store, ["common"], { filter }));
      await Promise.all([
        assert.rejects(first as (typeof others)[0], refused),
        ...others.map((each) =>
          assert.rejects(each, (error: Problem) => (error.code === "UNAVAILABLE" ? busy : refused)(error)),
        ),
      ]);
      const { items } = await untilAnswered(() => find(store, ["word29999"]));
      assert.deepEqual(
        items.map(({ id }) => id),
        ["id29999"],
      );
    }),
  );

  test(
    "resources that change while words are gathered are found by their new words",
    onFile({ resources: 10 }, async (_, database) => {
      database.exec(
        `begin immediate; update heads set words_version = null, built_to = 5; delete from search_1 where rowid > 5;
          update collections set slots = json_set(slots, '$.building',
            json('{"slots":[],"words":"${wordsVersion}","unused":[]}'))`,
      );
      const topics = readCatalogue(database).get("topics");
      assert.ok(topics !== undefined);
      const tables = new SearchTables(database);
      const next = JSON.stringify({ text: "changed" });
      database.exec(`update resources_1 set doc = '${next}' where key between 4 and 6`);
      for (const key of [4, 5, 6]) tables.update(topics, key, { before: "{}", next });
      const { building } = createMigrations(database, new Heads(database));
      const plans = new PlanRunner(database);
      const { after } = plans.run(building.step(topics, { number: 1, builtTo: 5, words: undefined }));
      assert.equal(after.numbers.building, undefined);
      const found = database.prepare("select rowid from search_1 where search_1 match 'changed'").all();
      database.exec("rollback");
      assert.deepEqual(
        found.map(({ rowid }) => rowid),
        [4, 5, 6],
      );
    }),
  );

  test(
    "words that another version of the program made are made anew",
    onFile({ resources: 1_000 }, async ({ store, reopen }, database) => {
      warnings.splice(0);
      database.exec("update heads set words_version = 'older'");
      await assert.rejects(find(store, ["common"]), unavailable);
      const again = await reopen();
      await until("the words are indexed", () => isIndexed(database));
      assert.deepEqual(warnings, [wordsAreSplitAgain]);
      assert.equal((await find(again, ["common"], { count: true })).total, 1_000);
    }),
  );

  test(
    "a collection that is not searched any more keeps no words, and cannot be searched",
    onFile({ resources: 10 }, async ({ store }, database) => {
      assert.notDeepEqual(tablesOf(database), []);
      await store.migrate([declare()]);
      assert.deepEqual(tablesOf(database), []);
      assert.equal(database.prepare("select words_version as v from heads").get()?.v, null);
      await assert.rejects(find(store, ["common"]));
      await store.migrate([declare("other")]);
      assert.equal((await find(store, ["elsewhere"], { count: true })).total, 10);
    }),
  );

  test(
    "the file is whole after changes of every kind",
    onFile({ resources: 600 }, async ({ store }, database) => {
      const at = machineTime();
      const changes = Array.from({ length: 300 }, (_, n) => ({
        key: { collection: "topics", id: `id${n}` },
        expect: 1,
        next: n % 2 === 0 ? undefined : JSON.stringify({ id: `id${n}`, text: "changed" }),
      }));
      for (const change of changes) await store.commit({ changes: [change], at });
      assert.equal((await find(store, ["changed"], { count: true })).total, 150);
      assert.equal((await find(store, ["common"], { count: true })).total, 300);
      assert.equal(database.prepare("select count(*) as n from search_1_docsize").get()?.n, 450);
      assert.equal(database.prepare("pragma integrity_check").get()?.integrity_check, "ok");
      assert.equal(database.prepare("pragma quick_check(search_1)").get()?.quick_check, "ok");
      assert.equal(store.health().kind, "ok");
    }),
  );
});
