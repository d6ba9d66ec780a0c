import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  type Condition,
  formatListQuery,
  itemsText,
  type ListQuery,
  nextSort,
  type Operator,
  operators,
  parameterOf,
  readListQuery,
  toggleNatural,
} from "../../console/src/list/list-query.ts";
import { openCollection } from "../../src/collection/collection.ts";
import { parseList } from "../../src/query/query-string.ts";

const topics = openCollection("topics");
const parse = (query: string) => parseList(query, topics, 1_000);

const names = fc.oneof(
  fc.constantFrom("title", "views", "author.name", "count", "limit", "version", "year_gte", "dc:title", "q"),
  fc.stringMatching(/^[a-z][a-z_:é ]{0,8}[a-z]$/),
);
const ordered = new Set<string>(["gt", "gte", "lt", "lte"]);
const fixed: Partial<Record<Operator, string>> = { exists: "true", any: '{"sku":"A"}' };
const conditions: fc.Arbitrary<Condition> = fc
  .record({
    name: names,
    operator: fc.constantFrom(...operators),
    text: fc.string({ unit: "grapheme", maxLength: 8 }),
  })
  .map(({ name, operator, text }) => ({
    name,
    operator,
    value: fixed[operator] ?? (ordered.has(operator) ? "5" : text.replaceAll("\0", "")),
  }));
const queries: fc.Arbitrary<ListQuery> = fc.record(
  {
    conditions: fc.uniqueArray(conditions, { maxLength: 4, selector: parameterOf }),
    sort: fc.uniqueArray(
      fc.record(
        { name: fc.stringMatching(/^[a-z]{1,6}$/), isDescending: fc.boolean() },
        { noNullPrototype: true },
      ),
      {
        maxLength: 5,
        selector: ({ name }) => name,
      },
    ),
    search: fc.constant(""),
    filter: fc.constantFrom("", '{"or":[{"a":1},{"b":{"gte":"é&+%"}}]}'),
  },
  { noNullPrototype: true },
);

test("a list has the same query string after it was read", () => {
  fc.assert(
    fc.property(queries, (query) => {
      assert.deepEqual(readListQuery(formatListQuery(query)), query);
    }),
  );
});

test("the service finds the same resources by the query string of the page as by explicit operators", () => {
  fc.assert(
    fc.property(queries, ({ conditions, sort, filter }) => {
      const explicit = new URLSearchParams();
      for (const { name, operator, value } of conditions) explicit.append(`${name}:${operator}`, value);
      if (filter !== "") explicit.append("filter", filter);
      if (sort.length > 0)
        explicit.append("sort", sort.map((key) => (key.isDescending ? `-${key.name}` : key.name)).join(","));
      const { filter: tree, sort: keys } = parse(formatListQuery({ conditions, sort, filter, search: "" }));
      const expected = parse(explicit.toString());
      assert.deepEqual({ tree, keys }, { tree: expected.filter, keys: expected.sort });
    }),
  );
});

test("other forms of a query string keep their meaning", () => {
  for (const text of [
    "year_gte=1900",
    "title_like=a",
    "author_id=7",
    "year:gte=1900&year:lt=2000",
    "a=1&a=2",
    "at=2026-01-31",
  ]) {
    const { filter, at } = parse(text);
    const again = parse(formatListQuery(readListQuery(text)));
    assert.deepEqual([again.filter, again.at], [filter, at], text);
  }
});

test("an unknown operator stays as it is, so that the service can explain it", () => {
  assert.equal(formatListQuery(readListQuery("year:neq=1949")), "year:neq=1949");
});

test("the parameters of pages are not part of a list", () => {
  assert.equal(formatListQuery(readListQuery("limit=5&cursor=x&a=1&count=exact&distinct=a")), "a=1");
});

test("sorts have three forms", () => {
  assert.deepEqual(readListQuery("sort=%2Byear,-title").sort, [
    { name: "year", isDescending: false },
    { name: "title", isDescending: true },
  ]);
  const pair = readListQuery('sort=["a:b","DESC"]');
  assert.deepEqual(pair.sort, [{ name: "a:b", isDescending: true }]);
  assert.deepEqual(readListQuery(formatListQuery(pair)), pair);
});

test("the natural order of an attribute is turned on and off, and a heading keeps it", () => {
  const natural = toggleNatural([], "a");
  assert.equal(formatListQuery({ ...readListQuery(""), sort: natural }), "sort=a:natural");
  assert.deepEqual(readListQuery("sort=a:natural").sort, natural);
  const down = nextSort(natural, "a", false);
  assert.equal(formatListQuery({ ...readListQuery(""), sort: down }), "sort=-a:natural");
  const both = nextSort(down, "b", true);
  assert.deepEqual(toggleNatural(both, "a"), [
    { name: "a", isDescending: true },
    { name: "b", isDescending: false },
  ]);
  assert.deepEqual(toggleNatural(toggleNatural(both, "a"), "a"), both);
});

test("a filter of the objects in a list is read as a sentence, as far as it is one", () => {
  for (const [value, said] of [
    ['{"sku":"A","qty":{"gte":5,"lt":9}}', "sku is A, qty at least 5, less than 9"],
    ['{"sku":["A","B"],"size":null}', "sku is one of A, B, size is null"],
    ['{"sku":{"ini":["a"]},"note":""}', 'sku is one of, ignoring case and accents a, note is ""'],
    ['{"or":[{"sku":"A"}]}', '{"or":[{"sku":"A"}]}'],
    ['{"parts":{"any":{"name":"bolt"}}}', '{"parts":{"any":{"name":"bolt"}}}'],
    ["{}", "{}"],
    ["{sku", "{sku"],
    ["", ""],
  ] as const)
    assert.equal(itemsText(value), said, value);
});

test("a heading sorts up, down and not at all, and adds keys", () => {
  const up = nextSort([], "a", false);
  const down = nextSort(up, "a", false);
  assert.deepEqual(
    [up, down, nextSort(down, "a", false)],
    [[{ name: "a", isDescending: false }], [{ name: "a", isDescending: true }], []],
  );
  const both = nextSort(up, "b", true);
  assert.deepEqual(both, [...up, { name: "b", isDescending: false }]);
  assert.deepEqual(nextSort(both, "b", false), [{ name: "b", isDescending: true }]);
});
