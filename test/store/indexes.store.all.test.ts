/** Declared indexes: which lists they serve, and how they come and go. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import type { Scalar } from "../../src/query/conditions.ts";
import type { Filter } from "../../src/query/filter.ts";
import { accessPathOf } from "../../src/store/core/access-path.ts";
import type { PageQuery } from "../../src/store/core/related.ts";
import type { CollectionRecord } from "../../src/store/port/record.ts";
import { selectPage } from "../../src/store/sqlite/list/select.ts";
import { interruptFunction } from "../../src/store/sqlite/list/sqlite-lists.ts";
import { Reader } from "../../src/store/sqlite/read/reader.ts";
import { readCatalogue } from "../../src/store/sqlite/sqlite-dialect.ts";
import { until } from "../until.ts";
import { declaration } from "./contract/fixture.ts";
import { all, dated, declare, fill, is, sortBy } from "./indexes-fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

const long = "l".repeat(127);

const and = (...filters: Filter[]): Filter => ({ kind: "and", filters });

describe("a list that an index serves", () => {
  let fixture: Awaited<ReturnType<typeof openSqliteFixture>>;
  let database: DatabaseSync;
  before(async () => {
    fixture = await openSqliteFixture();
    await fill(fixture.store, all, 2_000);
    database = new DatabaseSync(fixture.path, { readOnly: true });
  });
  after(async () => {
    database.close();
    await fixture.cleanup();
  });

  function planOf(query: Omit<PageQuery, "limit">): string[] {
    const collection = readCatalogue(database).get("articles");
    assert.ok(collection !== undefined);
    const { sql, values } = selectPage(collection, { limit: 20, ...query }, { isInterruptible: false });
    const steps = database.prepare(`explain query plan ${sql}`).all(...values);
    return steps.map(({ detail }) => String(detail));
  }

  const published = is("status", "published");
  const day = "2026-01-05";
  const shapes: [what: string, query: Omit<PageQuery, "limit">][] = [
    ["everything, by id", {}],
    ["everything, by id, from a cursor on", { after: ["id-000500"] }],
    ["dates, sorted", { sort: [dated] }],
    ["dates, from a cursor on", { sort: [dated], after: [["2026-01-05T00:00:00.000Z"], "id-000500"] }],
    [
      "a range of dates",
      {
        filter: { kind: "gte", path: ["at"], values: ["2026-01-05T00:00:00.000Z"], as: "date" },
        sort: [dated],
      },
    ],
    [
      "an equal date",
      { filter: { kind: "in", path: ["at"], values: ["2026-01-05T00:00:00.000Z"], as: "date" } },
    ],
    ["everything, by id, backwards", { sort: [{ path: ["id"], descending: true }] }],
    ["some ids", { filter: is("id", "id-000001", "id-000002") }],
    ["an equal value", { filter: is("name", "name 5") }],
    [
      "an equal value, by id backwards",
      { filter: is("name", "name 5"), sort: [{ path: ["id"], descending: true }] },
    ],
    [
      "an equal value, by id backwards, from a cursor on",
      { filter: is("name", "name 5"), sort: [{ path: ["id"], descending: true }], after: ["id-000500"] },
    ],
    ["an equal value, from a cursor on", { filter: is("name", "name 5"), after: ["id-000500"] }],
    ["a sort", { sort: sortBy("name") }],
    ["a sort, from a cursor on", { sort: sortBy("name"), after: ["name 5", "id-000500"] }],
    ["a sort downwards", { sort: sortBy("-rating") }],
    ["a sort downwards, from a cursor on", { sort: sortBy("-rating"), after: [7, "id-000500"] }],
    [
      "a range in the order of the sort",
      { filter: { kind: "gte", path: ["name"], values: ["name 5"] }, sort: sortBy("name") },
    ],
    ["an equal value with a sort", { filter: published, sort: sortBy("-publishedAt") }],
    [
      "an equal value with a sort, from a cursor on",
      { filter: published, sort: sortBy("-publishedAt"), after: [day, "id-000500"] },
    ],
    [
      "an equal value with a range and a sort",
      {
        filter: and(published, { kind: "lt", path: ["publishedAt"], values: [day] }),
        sort: sortBy("-publishedAt"),
      },
    ],
    [
      "two equal values with a sort, a nested one",
      { filter: and(is("kind", "kind 2"), published), sort: sortBy("author.name") },
    ],
    [
      "two equal values, sorted by one of them too",
      { filter: and(is("kind", "kind 2"), published), sort: sortBy("status", "author.name") },
    ],
    [
      "three equal values",
      {
        filter: and(is("kind", "kind 2"), published, {
          kind: "in",
          path: ["author", "name"],
          values: ["author 3"],
        }),
      },
    ],
  ];
  for (const [what, query] of shapes) {
    test(`reads neither everything nor sorts: ${what}`, () => {
      const plan = planOf(query);
      assert.ok(plan.length > 0);
      for (const step of plan) {
        assert.doesNotMatch(step, /TEMP B-TREE/);
        // Without filter, sort and cursor the ids are walked from their beginning.
        assert.match(
          step,
          /^(SCAN|SEARCH) resource USING INDEX|^SEARCH resource_entry USING PRIMARY KEY|^CO-ROUTINE resource_entry|^SCAN resource_entry$|^SEARCH resource USING INTEGER PRIMARY KEY/,
        );
      }
    });
  }

  /** How many resources, or entries of an index, are looked at for a page. */
  function lookedAt(query: Omit<PageQuery, "limit">): number {
    const collection = readCatalogue(database).get("articles");
    assert.ok(collection !== undefined);
    let looks = 0;
    database.function(interruptFunction, { deterministic: false }, () => {
      looks++;
      return 1;
    });
    const { sql, values } = selectPage(collection, { limit: 20, ...query }, { isInterruptible: true });
    database.prepare(sql).all(...values);
    return looks;
  }

  const ranged = (kind: "gt" | "gte" | "lt" | "lte", path: string, value: Scalar): Filter => ({
    kind,
    path: [path],
    values: [value as string | number],
  });
  const far: [what: string, query: Omit<PageQuery, "limit">][] = [
    [
      "a cursor from before the range",
      { filter: ranged("gte", "name", "name 5"), sort: sortBy("name"), after: ["name 1", "id-000500"] },
    ],
    [
      "a range, far from its beginning",
      { filter: ranged("gte", "name", "name 1"), sort: sortBy("name"), after: ["name 9", "id-000500"] },
    ],
    [
      "a range with two ends, far from its beginning",
      {
        filter: and(ranged("gt", "name", "name 1"), ranged("lt", "name", "name 95")),
        sort: sortBy("name"),
        after: ["name 9", "id-000500"],
      },
    ],
    [
      "a range downwards, far from its beginning",
      { filter: ranged("lte", "rating", 48), sort: sortBy("-rating"), after: [3, "id-001999"] },
    ],
    [
      "an equal value with a range, far from its beginning",
      {
        filter: and(published, ranged("lt", "publishedAt", "2026-01-27")),
        sort: sortBy("-publishedAt"),
        after: ["2026-01-02", "id-001999"],
      },
    ],
    [
      "the end of a range",
      {
        filter: and(ranged("gte", "name", "name 1"), ranged("lt", "name", "name 9")),
        sort: sortBy("name"),
        after: ["name 89", "id-001900"],
      },
    ],
    [
      "the end of a range downwards",
      { filter: ranged("gte", "rating", 3), sort: sortBy("-rating"), after: [3, "id-001950"] },
    ],
    [
      "the end of an equal value by which it is sorted too",
      {
        filter: published,
        sort: sortBy("status", "-publishedAt"),
        after: ["published", "2026-01-01", "id-001990"],
      },
    ],
  ];
  for (const [what, query] of far)
    test(`looks at no more than the page: ${what}`, () => {
      assert.notEqual(accessPathOf(query, all.indexes), undefined);
      assert.ok(lookedAt(query) <= 25, `${lookedAt(query)}`);
    });

  const unserved: [what: string, query: Omit<PageQuery, "limit">][] = [
    [
      "a range with two beginnings",
      { filter: and(ranged("gt", "name", ""), ranged("gte", "name", "x")), sort: sortBy("name") },
    ],
    [
      "a range with two ends of two types",
      { filter: and(ranged("gt", "name", 1), ranged("lt", "name", "x")), sort: sortBy("name") },
    ],
    [
      "two values of one attribute",
      { filter: and(published, is("status", "draft")), sort: sortBy("-publishedAt") },
    ],
    [
      "more equal values than the index has attributes",
      { filter: and(is("name", "name 5"), is("rating", 5)) },
    ],
    [
      "a cursor of another equal value",
      {
        filter: published,
        sort: sortBy("status", "-publishedAt"),
        after: ["draft", "2026-01-01", "id-000500"],
      },
    ],
  ];
  for (const [what, query] of unserved)
    test(`is not one that an index may look through at length: ${what}`, () => {
      assert.equal(accessPathOf(query, all.indexes), undefined);
    });

  const helped: [what: string, query: Omit<PageQuery, "limit">][] = [
    ["an equal value, with another condition", { filter: and(is("name", "name 5"), is("rating", 5)) }],
    ["an equal value, sorted by something else", { filter: is("name", "name 5"), sort: sortBy("rating") }],
    [
      "an equal value, sorted by something else, from a cursor on",
      { filter: is("name", "name 5"), sort: sortBy("rating"), after: [20, "id-000500"] },
    ],
    ["a range, by id", { filter: ranged("lt", "name", "name 12") }],
    [
      "a range downwards, by id, from a cursor on",
      { filter: ranged("gt", "rating", 47), after: ["id-000500"] },
    ],
  ];
  for (const [what, query] of helped)
    test(`reads only the resources that the index finds: ${what}`, () => {
      assert.equal(accessPathOf(query, all.indexes), undefined);
      assert.ok(lookedAt(query) <= 200, `${lookedAt(query)}`);
    });

  test("gives the same as one that none serves", async () => {
    const bare = { ...declare(), name: "bare" };
    await fill(fixture.store, bare, 2_000);
    for (const [what, query] of [...shapes, ...helped]) {
      const texts = async (collection: string) =>
        (await fixture.store.list({ collection, limit: 30, ...query })).items.map(({ text }) => text);
      assert.deepEqual(await texts("articles"), await texts("bare"), what);
    }
  });
});

test("an index holds the beginnings of strings, and lists tell whole strings apart", async () => {
  const { store, cleanup } = await openSqliteFixture();
  try {
    await store.migrate([declare("name")]);
    const names = [`${long}a`, `${long}ab`, `${long}ac`, `${long}b`, long];
    const at = 1;
    for (const [n, name] of names.entries()) {
      const key = { collection: "articles", id: `id${n}` };
      const next = JSON.stringify({ id: key.id, name });
      await store.commit({ changes: [{ key, expect: "absent", next }], at });
    }
    const found = async (filter: Filter) => {
      const { items } = await store.list({ collection: "articles", limit: 9, filter, sort: sortBy("name") });
      return items.map(({ text }) => names.indexOf((JSON.parse(text) as { name: string }).name));
    };
    const compared = (kind: "gt" | "gte" | "lt" | "lte") =>
      found({ kind, path: ["name"], values: [`${long}ab`] }).then((each) => each.toSorted());
    assert.deepEqual(await found(is("name", `${long}a`)), [0]);
    assert.deepEqual(await found(is("name", `${long}ab`, long)), [4, 1]);
    assert.deepEqual(await compared("gt"), [2, 3]);
    assert.deepEqual(await compared("gte"), [1, 2, 3]);
    assert.deepEqual(await compared("lt"), [0, 4]);
    assert.deepEqual(await compared("lte"), [0, 1, 4]);
  } finally {
    await cleanup();
  }
});

test("indexes come and go with the declaration, while others read", async () => {
  const { path, store, reopen, cleanup } = await openSqliteFixture();
  const database = new DatabaseSync(path, { readOnly: true });
  const used = () =>
    readCatalogue(database)
      .get("articles")
      ?.slots.map(({ slot }) => slot);
  try {
    await fill(store, declare(), 20_000);
    await store.migrate([declare("name", ["status", "-publishedAt"])]);
    let reads = 0;
    for (; used()?.length !== 2; reads++)
      assert.equal((await store.list({ collection: "articles", limit: 5 })).items.length, 5);
    assert.ok(reads > 1, "nobody read meanwhile");
    assert.deepEqual(used(), [1, 2]);
    await store.migrate([declare("name", "rating")]);
    assert.deepEqual(used(), [1]);
    await until("the new one is complete", () => used()?.length === 2);
    assert.deepEqual(used(), [1, 3]);
    const sorted = await store.list({ collection: "articles", limit: 1, sort: sortBy("rating") });
    assert.match(sorted.items[0]?.text ?? "", /"rating":0/);
    await store.migrate([declare()]);
    assert.deepEqual(used(), []);
    const entries = () => Number(database.prepare("select count(*) as n from entries_1").get()?.n);
    assert.ok(entries() > 35_000, "one transaction removed them");
    await reopen();
    await until("all entries are removed", () => entries() === 0);
  } finally {
    database.close();
    await cleanup();
  }
});

test("a read that knows an old declaration sees the present resources in the present order", async (t) => {
  const { path, store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  await fill(store, declare("name", ["status", "-rating"]), 40);
  const database = new DatabaseSync(path, { readOnly: true });
  t.after(() => database.close());
  const old = readCatalogue(database).get("articles");
  assert.ok(old !== undefined);
  await store.migrate([declare(["status", "-rating"])]);
  const key = { collection: "articles", id: "id-000039" };
  const next = JSON.stringify({ id: key.id, name: "a", status: "draft", rating: 100 });
  await store.commit({ changes: [{ key, expect: 1, next }], at: 1 });
  const reader = new Reader(database);
  const first = (query: Omit<PageQuery, "limit">) => reader.page(old, { limit: 1, ...query }).items[0]?.id;
  assert.equal(first({ sort: sortBy("name") }), key.id);
  assert.equal(first({ filter: is("status", "draft"), sort: sortBy("-rating") }), key.id);
  await store.migrate([declare("kind")]);
  await store.commit({ changes: [{ key, expect: 2, next: undefined }], at: 1 });
  assert.notEqual(first({ sort: sortBy("name") }), key.id);
});

test("groups by a unit of dates are the same with and without an index, also if some values are no dates", async (t) => {
  const { store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  const values = ["2026-01-05", 1_767_225_600_000, "hello", 1e30, true, false, null, [1]];
  const grouped = async (name: string, record: CollectionRecord) => {
    await store.migrate([{ ...record, name }]);
    for (const [n, value] of values.entries()) {
      const key = { collection: name, id: `${n}` };
      await store.commit({
        changes: [{ key, expect: "absent", next: JSON.stringify({ id: key.id, at: value }) }],
        at: 1,
      });
    }
    const figures = [{ kind: "count", name: "count" } as const];
    const group = [{ name: "month", path: ["at"] as const, unit: "month" as const, as: "date" as const }];
    const query = { collection: name, figures, group, sort: [], limit: 20, offset: 0 };
    return (await store.figures(query)).groups;
  };
  const found = await grouped("indexed", { ...declare(), indexes: [[dated]] });
  assert.deepEqual(found, await grouped("bare", declare()));
  assert.equal(found.length, 2);
});

test("an erased resource leaves no value in an index, also of a removed index or if it is damaged", async (t) => {
  const { path, store, cleanup } = await openSqliteFixture({ history: "none" });
  t.after(cleanup);
  await store.migrate([declare("name")]);
  const create = (id: string) =>
    store.commit({
      changes: [
        {
          key: { collection: "articles", id },
          expect: "absent",
          next: JSON.stringify({ id, name: "secret" }),
        },
      ],
      at: 1,
    });
  const database = new DatabaseSync(path);
  t.after(() => database.close());
  const left = () => Number(database.prepare("select count(*) as n from entries_1").get()?.n);
  for (const text of ['{"id":"a","name":"Secret"}', '{"id":"a","name":"sec']) {
    await create("a");
    database.prepare("update resources_1 set doc = ?").run(text);
    await store.erase({ collection: "articles", id: "a" });
    assert.equal(left(), 0, text);
  }
  const load = await store.load("articles");
  await load.add(
    Array.from({ length: 3_000 }, (_, n) => ({ id: `b${n}`, text: `{"id":"b${n}","name":"secret"}` })),
  );
  await load.finish();
  await store.migrate([declare()]);
  assert.ok(left() > 2_000, "one step removed them");
  await store.erase({ collection: "articles", id: "b7" });
  assert.equal(left(), 0);
});

test("an import that names a collection twice builds its entries once", async (t) => {
  const { store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  await store.migrate([declare("name"), declaration("users")]);
  const load = await store.load("articles");
  await load.next(declaration("users"));
  await load.next(declare("name"));
  await load.add([
    { id: "a", text: '{"id":"a","name":"x"}' },
    { id: "b", text: '{"id":"b","name":"w"}' },
  ]);
  await load.finish();
  const { items } = await store.list({ collection: "articles", limit: 9, sort: sortBy("name") });
  assert.deepEqual(
    items.map(({ id }) => id),
    ["b", "a"],
  );
});

test("a number refers to the id with its text only, also with an index", async (t) => {
  const { store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  const references = [{ path: ["p"] as const, collection: "users", onDelete: "restrict" as const }];
  await store.migrate([{ ...declare("p"), references }, declaration("users")]);
  const ids = ["7", "007", "7.0", "x"];
  const users = ids.map((id) => ({
    key: { collection: "users", id },
    expect: "absent" as const,
    next: JSON.stringify({ id }),
  }));
  await store.commit({ changes: users, at: 1 });
  const key = { collection: "articles", id: "a" };
  await store.commit({ changes: [{ key, expect: "absent", next: '{"id":"a","p":7}' }], at: 1 });
  const reference = { path: ["p"] as const, type: "number" as const };
  const groups = await store.referring({ collection: "articles", reference, ids, limit: 5 });
  assert.deepEqual(
    groups.map((group) => group?.items.length),
    [1, 0, 0, 0],
  );
});

test("a load into an empty collection leaves its indexes as they were, finished or not", async (t) => {
  const { path, store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  await store.migrate([all]);
  const entries = () => {
    const database = new DatabaseSync(path, { readOnly: true });
    const found = database.prepare("select slot, count(*) as n from entries_1 group by slot").all();
    database.close();
    return found.map(({ slot, n }) => [slot, n]);
  };
  const cancelled = await store.load("articles");
  await cancelled.add([{ id: "x", text: '{"id":"x","name":"n"}' }]);
  await cancelled.cancel();
  assert.deepEqual(entries(), []);
  await fill(store, all, 50);
  assert.deepEqual(
    entries(),
    all.indexes.map((_, n) => [n + 1, 50]),
  );
  const named = { collection: "articles", limit: 9, filter: is("name", "name 7") };
  assert.equal((await store.list(named)).items.length, 1);
});
