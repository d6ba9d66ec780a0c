/** Lists that differ only in their values, and that wait at the same time, share a statement. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { readIndexes, type SortKey } from "../../src/collection/indexes.ts";
import { valueAt } from "../../src/collection/paths.ts";
import type { Scalar } from "../../src/query/conditions.ts";
import { type Filter, matches } from "../../src/query/filter.ts";
import { compareBy, cursorValuesOf, ownSort } from "../../src/query/sort.ts";
import type { PageQuery } from "../../src/store/core/related.ts";
import { selectPage } from "../../src/store/postgres/list/page-statements.ts";
import { formOf, QuickLists, selectTogether } from "../../src/store/postgres/list/quick-lists.ts";
import { type CountedLists, openLists } from "./counted-lists.ts";
import { query } from "./databases.ts";

const is = (name: string, value: Scalar): Filter => ({ kind: "in", path: [name], values: [value] });
const range = (name: string, kind: "gte" | "lt" | "gt" | "lte", value: string | number): Filter => ({
  kind,
  path: [name],
  values: [value],
});
const and = (...filters: Filter[]): Filter => ({ kind: "and", filters });
const sortBy = (...keys: string[]): readonly SortKey[] => readIndexes([keys], "sort")[0] ?? [];
const byId: readonly SortKey[] = [{ path: ["id"], descending: true }];

test("different lists of one form that wait together are one statement, up to a number of resources", async (t) => {
  const { put, ids, taken } = await openLists(t);
  for (let n = 0; n < 50; n++) await put(`id-${n}`, { n });
  const ask = (limit: number) =>
    Promise.all(Array.from({ length: 50 }, (_, n) => ids({ limit, filter: is("n", n) })));
  const each = Array.from({ length: 50 }, (_, n) => [`id-${n}`]);
  assert.deepEqual(await ask(7), each);
  assert.deepEqual(taken(), { pages: 1, heads: 0 });
  assert.deepEqual(await ask(19), each);
  assert.deepEqual(taken(), { pages: 3, heads: 0 }, "20, 20 and 10 lists");
  assert.deepEqual(await ask(1_000), each);
  assert.deepEqual(taken(), { pages: 50, heads: 0 }, "each looks for more");
});

test("the page of each has its own resources, totals and state", async (t) => {
  const { put, page, store, topics } = await openLists(t);
  for (let n = 0; n < 9; n++) await put(`id-${n}`, { n: n % 2, text: `ö 😀 "${n}" \\n` });
  const [even, odd, none, all] = await Promise.all([
    page({ limit: 3, filter: is("n", 0) }),
    page({ limit: 3, filter: is("n", 1) }),
    page({ limit: 3, filter: is("n", 2) }),
    page({ limit: 9 }),
  ]);
  const stored = async (ids: number[]) =>
    Promise.all(ids.map((n) => store.read({ collection: topics.name, id: `id-${n}` })));
  assert.deepEqual(even, { items: await stored([0, 2, 4]), more: true, total: undefined, sequence: 9 });
  assert.deepEqual(odd, { items: await stored([1, 3, 5]), more: true, total: undefined, sequence: 9 });
  assert.deepEqual(none, { items: [], more: false, total: undefined, sequence: 9 });
  assert.deepEqual(all, {
    items: await stored([0, 1, 2, 3, 4, 5, 6, 7, 8]),
    more: false,
    total: 9,
    sequence: 9,
  });
});

test("a page with large texts has a statement of its own, and so have the next of its form", async (t) => {
  const { put, page, taken } = await openLists(t);
  const text = "x".repeat(1_000_000);
  for (const id of ["a", "b", "c"]) await put(id, { n: 1, text });
  await put("d", { n: 2 });
  const ask = async (n: number) => {
    const { items, more } = await page({ limit: 3, filter: is("n", n) });
    return { ids: items.map(({ id }) => id), more };
  };
  const [large, small] = await Promise.all([ask(1), ask(2)]);
  assert.deepEqual(large, { ids: ["a", "b"], more: true }, "the most bytes of a page");
  assert.deepEqual(small, { ids: ["d"], more: false });
  assert.deepEqual(taken(), { pages: 2, heads: 0 });
  for (let time = 0; time < 99; time++) assert.equal((await ask(1)).ids.length, 2);
  assert.deepEqual(taken(), { pages: 99, heads: 0 });
  await Promise.all([ask(2), ask(3), ask(4), ask(5)]);
  assert.deepEqual(taken(), { pages: 1, heads: 0 }, "they share again");
});

test("a text with line breaks is read as it is, also beside a large one", async (t) => {
  const { put, page, store } = await openLists(t);
  const texts = ['{\n "id": "a",\n "n": 1\n}', '{"id":"b",\n"n":2}'];
  for (const [n, id] of ["a", "b"].entries()) {
    const change = { key: { collection: "topics", id }, expect: "absent", next: texts[n] ?? "" } as const;
    await store.commit({ changes: [change], at: 1 });
  }
  await put("c", { n: 1 });
  await put("d", { n: 2, text: "x".repeat(1_000_000) });
  const ids = async (n: number) => {
    const { items } = await page({ limit: 10 + n, filter: is("n", n) }); // two forms
    assert.equal(items[0]?.text, texts[n - 1]);
    return items.map(({ id }) => id);
  };
  assert.deepEqual(await ids(1), ["a", "c"]);
  assert.deepEqual(await ids(2), ["b", "d"]);
});

test("lists that also depend on other collections, or on words, are read each time", async (t) => {
  const { put, quick, topics, taken } = await openLists(t);
  await put("a", { n: 1 });
  const lists = new QuickLists(quick);
  const queries: PageQuery[] = [
    { limit: 10, related: { topics } },
    { limit: 10, filter: is("n", 1), related: { topics } },
  ];
  for (const each of queries) {
    for (let time = 0; time < 4; time++) {
      const read = await lists.page(topics, each);
      assert.equal(read.items.length, 1);
    }
    assert.deepEqual(taken(), { pages: 4, heads: 0 });
  }
});

const indexes = [["author", "-day"], ["day"], ["-day"]];
const date: SortKey = { path: ["at"], descending: false, as: "date" };
const [from, until] = ["2026-01-05T00:00:00.000Z", "2026-01-09T00:00:00.000Z"];

test("the plan reads no more than the page from the index, in its order", async (t) => {
  const { store, topics, quick, url } = await openLists(t, { indexes, dated: [[date]], max: 1 });
  const load = await store.load("topics");
  await load.add(
    Array.from({ length: 5_000 }, (_, n) => {
      const at = n % 2 === 0 ? `2026-01-${String((n % 28) + 1).padStart(2, "0")}` : 1_767_225_600_000 + n;
      const resource = { id: `id-${n}`, author: `author-${n % 50}`, day: `day ${n % 31}`, at };
      return { id: resource.id, text: JSON.stringify(resource) };
    }),
  );
  await load.finish();
  await query(url, "analyze");
  const author = is("author", "author-7");
  const down = sortBy("-day");
  const shapes: Omit<PageQuery, "limit">[] = [
    { filter: author, sort: down },
    { filter: and(author, range("day", "gte", "day 2")), sort: down },
    { filter: and(author, range("day", "gte", "day 2")), sort: down, offset: 5 },
    { filter: and(author, is("day", "day 2")), sort: down },
    { filter: and(author, is("day", "day 2")), sort: byId, after: ["id-7"] },
    { filter: range("day", "lt", 7), sort: sortBy("day") },
    { filter: range("day", "lt", "day 7"), sort: sortBy("day") },
    { sort: down },
    { sort: [date] },
    { filter: { kind: "in", path: ["at"], values: [from], as: "date" } },
    { filter: { kind: "gte", path: ["at"], values: [from], as: "date" }, sort: [date] },
    { sort: [date], after: [[until], "id-7"] },
    { sort: byId },
    { filter: author, sort: down, after: ["day 3", "id-7"] },
    { filter: and(author, range("day", "gte", "day 2")), sort: down, after: ["day 3", "id-7"] },
  ];
  const plans = shapes.map(async (shape, n) => {
    const { sql, values = [] } = selectTogether([formOf(topics, { limit: 20, ...shape })]);
    await quick.use(async (connection) => {
      await connection.runAll("set enable_seqscan = off; set plan_cache_mode = force_generic_plan");
      await connection.runAll(`prepare plan_${n} (json, bigint) as ${sql}`);
      const literals = `'${String(values[0])}', ${String(values[1])}`;
      const alone = selectPage(topics, { limit: 20, ...shape });
      for (const explained of [{ sql: `execute plan_${n}(${literals})` }, alone]) {
        const { rows } = await connection.run({
          ...explained,
          sql: `explain (verbose, analyze) ${explained.sql}`,
        });
        const plan = rows.flat().join("\n");
        const scan = /Index Scan (?:Backward )?using holdfast_resources_1_.*actual.*rows=(\d+)/.exec(plan);
        assert.ok(Number(scan?.[1]) > 0 && Number(scan?.[1]) <= 26, plan);
        assert.doesNotMatch(plan, /Seq Scan|Bitmap|Sort Key: (?!measured\.place)|json_typeof/, plan);
      }
    });
  });
  await Promise.all(plans);
});

test("one plan serves any values and any number of lists", async (t) => {
  const { put, ids, quick } = await openLists(t, { max: 1 });
  await put("a", { n: 1 });
  for (let time = 0; time < 20; time++)
    await Promise.all(
      Array.from({ length: 1 + (time % 5) }, (_, n) => ids({ limit: 5, filter: is("n", time * 10 + n + 2) })),
    );
  const sql =
    "select generic_plans > custom_plans from pg_prepared_statements where statement like '%recordset%'";
  assert.deepEqual((await quick.run({ sql })).rows, [["t"]]);
});

test("lists that share statements are what their filters, sorts and positions define", async (t) => {
  const lists = await openLists(t, { indexes });
  const resources = await fill(lists);
  const values: Scalar[] = ["", "a", "b", "ä", "x".repeat(127), 0, -1.5, 7, true, false];
  const filters = (value: Scalar, bound: string | number): (Filter | undefined)[] => [
    undefined,
    is("author", value),
    and(is("author", value), range("day", "gte", bound)),
    and(is("author", value), range("day", "lt", bound)),
    and(is("author", value), is("day", bound)),
    range("day", "gt", bound),
    { kind: "in", path: ["id"], values: ["id-3", "id-50", "none"] },
  ];
  const sorts = [sortBy("-day"), sortBy("day"), sortBy("author", "-day"), byId, []];
  const queries: PageQuery[] = [];
  for (const [n, value] of values.entries())
    for (const filter of filters(value, n % 2 === 0 ? "b" : 0.5))
      for (const sort of sorts) {
        const position = resources[(n * 37) % resources.length] as Record<string, unknown>;
        const shape = { limit: 4, ...(filter && { filter }), sort };
        queries.push(shape, { ...shape, offset: 2 }, { ...shape, after: cursorValuesOf(position, sort) });
      }
  const pages = await Promise.all(queries.map((each) => lists.ids(each)));
  for (const [n, each] of queries.entries())
    assert.deepEqual(pages[n], expected(resources, each), JSON.stringify(each));
  assert.ok(lists.taken().pages < queries.length / 2, "they share statements");
});

/** Fills the collection with attributes of all types. */
async function fill({ store }: CountedLists): Promise<Record<string, unknown>[]> {
  const days = ["", "a", "b", "ab", "ä", 0, 0.5, -1, 7, true, false, null, [1], { a: 1 }, undefined];
  const authors = ["", "a", "b", "ä", "x".repeat(127), `${"x".repeat(127)}yz`, 0, -1.5, 7, true, false, null];
  const resources = Array.from({ length: 400 }, (_, n) => ({
    id: `id-${n}`,
    author: authors[n % authors.length],
    day: days[Math.floor(n / authors.length) % days.length],
  }));
  const load = await store.load("topics");
  await load.add(resources.map((each) => ({ id: each.id, text: JSON.stringify(each) })));
  await load.finish();
  return resources;
}

/** The ids of the page, without a store. */
function expected(
  resources: readonly Record<string, unknown>[],
  { filter, sort = [], after, offset = 0, limit }: PageQuery,
): unknown[] {
  const compare = compareBy(ownSort(sort));
  const position = after && resources.find((each) => valueAt(each, ["id"]) === after.at(-1));
  return resources
    .filter((each) => filter === undefined || matches(filter as Filter, each))
    .filter((each) => position === undefined || compare(each, position) > 0)
    .sort(compare)
    .slice(offset, offset + limit)
    .map(({ id }) => id);
}
