import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Collection } from "../../src/collection/collection.ts";
import { formatKey } from "../../src/collection/indexes.ts";
import type { Path } from "../../src/collection/paths.ts";
import type { Scalar } from "../../src/query/conditions.ts";
import { formatCursor, listName } from "../../src/query/cursor.ts";
import { type Filter, matches, ownFilter } from "../../src/query/filter.ts";
import type { ListRequest } from "../../src/query/list-request.ts";
import { parseList, parseResourceRequest } from "../../src/query/query-string.ts";
import { anyCharacter } from "../characters.ts";
import { posts, topics } from "./collections.ts";
import { isRefused, problemOf } from "./refused.ts";

const parse = (query: string, collection = topics): ListRequest => parseList(query, collection, 1000);
const encode = (value: unknown) => encodeURIComponent(JSON.stringify(value));

const oneOf = (name: string, ...values: Scalar[]): Filter => ({
  kind: "in",
  path: name.split(".") as unknown as Path,
  values,
});
const not = (filter: Filter): Filter => ({ kind: "not", filter });
const all = (...filters: Filter[]): Filter => ({ kind: "and", filters });
const any = (...filters: Filter[]): Filter => ({ kind: "or", filters });
const a: Path = ["a"];

const filters: [query: string, tree: Filter | undefined, collection?: Collection][] = [
  ["", undefined],
  ["&&", undefined],
  ["a=x", oneOf("a", "x")],
  ["a=", oneOf("a", "")],
  ["a", oneOf("a", "")],
  ["a=x+y%2Bz", oneOf("a", "x y+z")],
  ["a=x=y", oneOf("a", "x=y")],
  ["a=5", oneOf("a", "5", 5)],
  ["a=5.0", oneOf("a", "5.0", 5)],
  ["a=-0", oneOf("a", "-0", 0)],
  ["a=1e2", oneOf("a", "1e2", 100)],
  ["a=05", oneOf("a", "05")],
  ["a=1e999", oneOf("a", "1e999")],
  ["a=9007199254740993", oneOf("a", "9007199254740993")],
  ["a=true", oneOf("a", "true", true)],
  ["a=null", oneOf("a", "null", null)],
  ["a=__proto__&a=constructor", oneOf("a", "__proto__", "constructor")],
  ["a=1&a=x&a=1", oneOf("a", "1", 1, "x")],
  ["a=x&b=y", all(oneOf("a", "x"), oneOf("b", "y"))],
  ["a=x&a:eq=y", all(oneOf("a", "x"), oneOf("a", "y"))],
  ["a.b=x", oneOf("a.b", "x")],
  ["constructor=x", oneOf("constructor", "x")],
  ["checked_in=true", oneOf("checked_in", "true", true)],
  ["a:eq=x", oneOf("a", "x")],
  ["a%3Aeq=x", oneOf("a", "x")],
  ["a:ne=x&a:ne=y", not(oneOf("a", "x", "y"))],
  ["a:in=x,5", oneOf("a", "x", "5", 5)],
  ["a:nin=x,y", not(oneOf("a", "x", "y"))],
  ["a:gt=5", { kind: "gt", path: a, values: ["5", 5] }],
  ["a:gte=x", { kind: "gte", path: a, values: ["x"] }],
  ["a:lt=99999999999999999999", { kind: "lt", path: a, values: ["99999999999999999999", 1e20] }],
  ["a:lte=true", { kind: "lte", path: a, values: ["true"] }],
  ["a:contains=5", { kind: "contains", path: a, values: ["5", 5] }],
  ["a:startsWith=5", { kind: "startsWith", path: a, values: ["5"] }],
  ["a:endsWith=x", { kind: "endsWith", path: a, values: ["x"] }],
  ["a:exists=true", { kind: "exists", path: a, value: true }],
  ["a:exists=false", { kind: "exists", path: a, value: false }],
  ["count:eq=5", oneOf("count", "5", 5)],
  ["_start:eq=x", oneOf("_start", "x")],
  ["dc:title:eq=x", oneOf("dc:title", "x")],
  ["a_ne=x", not(oneOf("a", "x"))],
  ["a_gte=5", { kind: "gte", path: a, values: ["5", 5] }],
  ["a_like=x", { kind: "contains", path: a, values: ["x"] }],
  ["a_gt_lt=5", { kind: "lt", path: ["a_gt"], values: ["5", 5] }],
  ["a_gt:eq=5", oneOf("a_gt", "5", 5)],
  ["id=1&id=2", oneOf("id", "1", "2")],
  ["id=true", oneOf("id", "true")],
  ["id=a%2Fb", any()],
  // A schema that knows the type leaves only values of it.
  ["title=5", oneOf("title", "5"), posts],
  ["views=5", oneOf("views", 5), posts],
  ["views:gt=5", { kind: "gt", path: ["views"], values: [5] }, posts],
  ["isOpen=true", oneOf("isOpen", true), posts],
  ["note=null", oneOf("note", "null", null), posts],
  ["anything=5", oneOf("anything", "5", 5), posts],
  ["tags:contains=5", { kind: "contains", path: ["tags"], values: ["5", 5] }, posts],
  ["title:contains=5", { kind: "contains", path: ["title"], values: ["5"] }, posts],
  ["author.age=5", oneOf("author.age", 5), posts],
  ["rank_gt=5", oneOf("rank_gt", 5), posts],
  ["views_gt=5", { kind: "gt", path: ["views"], values: [5] }, posts],
  ["id=1&id=x&id=02", oneOf("id", 1), posts],
  ["id:gt=1.5", { kind: "gt", path: ["id"], values: [1.5] }, posts],
  ["id:startsWith=1", { kind: "startsWith", path: ["id"], values: ["1"] }, posts],
];

for (const [query, tree, collection] of filters)
  test(`"${query}" is read as ${JSON.stringify(tree)} in ${collection?.name ?? "topics"}`, () => {
    assert.deepEqual(parse(query, collection).filter, tree);
  });

const jsonFilters: [filter: unknown, tree: Filter | undefined, collection?: Collection][] = [
  [{}, undefined],
  [{ and: [] }, undefined],
  [{ or: [] }, any()],
  [{ or: [{}, { a: 1 }] }, undefined],
  [{ a: "5" }, oneOf("a", "5")],
  [{ a: 5, b: null }, all(oneOf("a", 5), oneOf("b", null))],
  [{ a: [1, "x", true] }, oneOf("a", 1, "x", true)],
  [{ a: [] }, any()],
  [{ a: { in: [] } }, any()],
  [{ a: { nin: [1] } }, not(oneOf("a", 1))],
  [{ a: { gt: 1, lt: 5 } }, all({ kind: "gt", path: a, values: [1] }, { kind: "lt", path: a, values: [5] })],
  [{ a: { contains: null } }, { kind: "contains", path: a, values: [null] }],
  [{ a: { exists: false } }, { kind: "exists", path: a, value: false }],
  [{ a_gte: 3 }, { kind: "gte", path: a, values: [3] }],
  [{ a_ne: [1, 2] }, not(oneOf("a", 1, 2))],
  [{ a_gte: { eq: 3 } }, oneOf("a_gte", 3)],
  [{ "a.b": 1 }, oneOf("a.b", 1)],
  [{ limit: 5, _x: 1 }, all(oneOf("limit", 5), oneOf("_x", 1))],
  [
    { or: [{ a: 1 }, { not: { b: 2 } }], and: [{ c: 3 }] },
    all(any(oneOf("a", 1), not(oneOf("b", 2))), oneOf("c", 3)),
  ],
  [{ id: ["1", 2] }, oneOf("id", "1", "2")],
  [{ id: ["1", 2, "x"] }, oneOf("id", 1, 2), posts],
  [{ id: { gt: "5" } }, { kind: "gt", path: ["id"], values: [5] }, posts],
  [{ id: { startsWith: "5" } }, any(), posts],
  // The text of the client does not change.
  [{ views: null }, oneOf("views", null), posts],
];

for (const [filter, tree, collection] of jsonFilters)
  test(`filter=${JSON.stringify(filter)} is read as ${JSON.stringify(tree)}`, () => {
    assert.deepEqual(parse(`filter=${encode(filter)}`, collection).filter, tree);
  });

test("-0 in a filter is 0", () => {
  assert.deepEqual(parse('filter={"a":-0}').filter, oneOf("a", 0));
});

test("an attribute called __proto__ is one like any other", () => {
  const { filter } = parse(`filter=${encodeURIComponent('{"__proto__":{"eq":1}}')}`);
  assert.deepEqual(filter, oneOf("__proto__", 1));
});

test("filters of every spelling must hold together", () => {
  const { filter } = parse(`filter=${encode({ a: 1 })}&b=x&c_like=y`);
  assert.deepEqual(
    filter,
    all(oneOf("a", 1), oneOf("b", "x"), { kind: "contains", path: ["c"], values: ["y"] }),
  );
});

const sorts: [query: string, keys: string][] = [
  ["sort=a", "a"],
  ["sort=-a,b.c", "-a b.c"],
  ["sort=+a,%20-b", "a -b"],
  ["sort=%2Ba", "a"],
  ["sort=a,id,b", "a id"],
  ["sort=-id", "-id"],
  ['sort=["a","ASC"]', "a"],
  ['sort=["a.b","desc"]', "-a.b"],
  ["_sort=a", "a"],
  ["_sort=-a,b", "-a b"],
  ["_sort=a,b&_order=desc,asc", "-a b"],
  ["_sort=a,b&_order=DESC", "-a b"],
  ["_sort=title,id&_order=desc,asc", "-title id"],
  ["sort=a,b,c,d,e", "a b c d e"],
  ["sort=a:nullslast,-b.c:nullsfirst", "a:nullslast -b.c:nullsfirst"],
  // Where nulls are anyway, so that the same indexes serve these lists.
  ["sort=a:nullsfirst,-b:nullslast,id:nullslast", "a -b id"],
  ["sort=a:natural:nullslast,-b:nullsfirst:natural", "a:natural:nullslast -b:natural:nullsfirst"],
  ["_sort=a:nullslast", "a:nullslast"],
];

for (const [query, keys] of sorts)
  test(`"${query}" sorts by ${keys}`, () => {
    const spelled = parse(query).sort.map(formatKey);
    assert.equal(spelled.join(" "), keys);
  });

const cursorPage = (limit: number, hasLimit = true) => ({
  kind: "cursor",
  limit,
  hasLimit,
  after: undefined,
});
const offsetPage = (offset: number, limit: number) => ({ kind: "offset", limit, offset });

const pages: [query: string, paging: unknown, collection?: Collection][] = [
  ["", cursorPage(100, false)],
  ["limit=5", cursorPage(5)],
  ["limit=0005", cursorPage(5)],
  ["limit=1000", cursorPage(1000)],
  ["limit=max", cursorPage(1000)],
  ["offset=20", offsetPage(20, 100)],
  ["limit=5&offset=100000", offsetPage(100_000, 5)],
  ["_start=10&_end=20", offsetPage(10, 10)],
  ["_end=20", offsetPage(0, 20)],
  ["_start=0&_end=1000", offsetPage(0, 1000)],
  ["_start=10&_limit=5", offsetPage(10, 5)],
  ["_page=3&_limit=20", offsetPage(40, 20)],
  ["_page=3&_per_page=20", offsetPage(40, 20)],
  ["_page=3&_limit=max", offsetPage(2000, 1000)],
  ["_page=3&_per_page=max", offsetPage(2000, 1000)],
  ["range=[10,4999]", offsetPage(10, 1000)],
  ["_page=2", offsetPage(100, 100)],
  ["_limit=7", offsetPage(0, 7)],
  ["range=[0,9]", offsetPage(0, 10)],
  ["range=%5B20,%2029%5D", offsetPage(20, 10)],
  ["id=1&id=2", cursorPage(2, false)],
  ["id=1&id=1", cursorPage(1, false)],
  ["id:in=1,2,3&a=x", cursorPage(3, false)],
  ["id=1&id=2&limit=1", cursorPage(1)],
  [`filter=${encode({ id: [1, 2, 3] })}`, cursorPage(3, false)],
  ["id:ne=1", cursorPage(100, false)],
  [`filter=${encode({ id: [] })}`, cursorPage(100, false)],
  [`filter=${encode({ id: Array.from({ length: 1000 }, (_, n) => n) })}`, cursorPage(1000, false)],
  // Ranked: without a sort there is no cursor.
  ["q=a", offsetPage(0, 100), posts],
  ["q=a&limit=5", offsetPage(0, 5), posts],
  ["q=a&offset=1000", offsetPage(1000, 100), posts],
  ["q=a&sort=id", cursorPage(100, false), posts],
  ["q=a&sort=id&offset=100000", offsetPage(100_000, 100), posts],
];

for (const [query, paging, collection] of pages)
  test(`"${query}" asks for the page ${JSON.stringify(paging)}`, () => {
    assert.deepEqual(parse(query, collection).paging, paging);
  });

test("the default limit is not above the maximum either", () => {
  assert.equal(parseList("", topics, 10).paging.limit, 10);
  assert.equal(parseList("id=1&id=2&id=3", topics, 2).paging.limit, 2);
});

test("fields, envelope, count and words are read", () => {
  const asked = parse(
    "fields=title,%20id,author,title&envelope=true&count=exact&q=Two%20W%C3%B6rds%20two",
    posts,
  );
  assert.deepEqual(asked.fields, { kind: "only", names: new Set(["id", "title", "author"]) });
  assert.equal(asked.envelope, true);
  assert.equal(asked.count, "exact");
  assert.deepEqual(asked.words, ["two", "words"]);
  const plain = parse("envelope=false&count=none");
  assert.deepEqual(
    [plain.fields, plain.envelope, plain.count, plain.words],
    [undefined, false, "none", undefined],
  );
});

test("a cursor is read with the filter and sort that it was made for, and refused with others", () => {
  const name = (query: string, collection: Collection) => listName(collection.name, parse(query, collection));
  const cursor = formatCursor(name("a=x&sort=-b", topics), ["z", "id1"]);
  assert.deepEqual(parse(`a=x&sort=-b&cursor=${cursor}`).paging, {
    ...cursorPage(100, false),
    after: ["z", "id1"],
  });
  assert.deepEqual(parse(`a:eq=x&sort=-b&limit=3&cursor=${cursor}`).paging, {
    ...cursorPage(3),
    after: ["z", "id1"],
  });
  for (const query of ["a=y&sort=-b", "sort=-b", "a=x", "a=x&sort=b", "a=x&sort=-b,c"])
    isRefused(`${query}&cursor=${cursor}`, topics, "INVALID_CURSOR");
  // An id of the wrong type, which only a forger could write.
  isRefused(`cursor=${formatCursor(name("", topics), [7])}`, topics, "INVALID_CURSOR");
  isRefused(`cursor=${formatCursor(name("", posts), ["7"])}`, posts, "INVALID_CURSOR");
  isRefused("cursor=", topics, "INVALID_CURSOR");
});

test("of one resource nothing but fields may be asked", () => {
  assert.deepEqual(parseResourceRequest("", topics), { fields: undefined, embeds: [] });
  assert.deepEqual([...(parseResourceRequest("fields=a,b", topics).fields?.names ?? [])], ["id", "a", "b"]);
  for (const query of ["limit=1", "fields=a&x=1", "sort=a", "version=1", "fields=a&fields=b", "fields=a..b"])
    assert.equal(problemOf(() => parseResourceRequest(query, topics))?.code, "INVALID_PARAMETER", query);
});

/** Pieces from which a fuzzer finds the corners sooner than from random characters. */
const piece = fc.oneof(
  fc.constantFrom(
    ...["&", "=", ":", ",", ".", "_", "-", "+", "%", "%00", "%ff", "[", "]", "{", "}", '"', "id", "a"],
  ),
  fc.constantFrom(
    "filter=",
    "sort=",
    "_sort=",
    "range=",
    "limit=",
    "q=",
    "fields=",
    "gte",
    "in",
    "ne",
    "5",
    "null",
  ),
  fc.constantFrom('{"a":{"gt":1}}', '{"or":[{"a":1}]}', "[0,9]", '["a","ASC"]', "_page", "_start", "cursor="),
  fc.string({ unit: anyCharacter }),
);
const query = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));

test("no garbage in a query string throws anything but a problem", () => {
  fc.assert(
    fc.property(query, fc.constantFrom(topics, posts), (text, collection) => {
      const problem = problemOf(() => parse(text, collection));
      assert.ok(problem === undefined || problem.status === 400);
    }),
    { numRuns: 5000 },
  );
});

const meaningful =
  /^(?:limit|offset|cursor|range|sort|filter|q|at|fields|embed|envelope|count|aggregate|group|distinct|_(?:start|end|page|limit|per_page|sort|order))(?:=|$)/;

test("a query string with a filter in it is refused or filters, and never asks for everything", () => {
  fc.assert(
    fc.property(query, fc.constantFrom(topics, posts), (text, collection) => {
      const hasFilter = text.split("&").some((pair) => pair !== "" && !meaningful.test(pair));
      if (!hasFilter) return;
      let asked: ListRequest;
      try {
        asked = parse(text, collection);
      } catch {
        return;
      }
      assert.ok(asked.filter !== undefined, text);
    }),
    { numRuns: 5000 },
  );
});

const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));

test("equality from a query string finds a stored value by its text, and by its JSON value", () => {
  fc.assert(
    fc.property(scalar, (value) => {
      if (typeof value === "string" && /\0/.test(value)) return;
      const { filter } = parse(`a=${encodeURIComponent(String(value))}`);
      assert.ok(filter !== undefined && matches(ownFilter(filter), { id: "1", a: value }));
      const typed = parse(`filter=${encode({ a: value })}`).filter;
      assert.ok(typed !== undefined && matches(ownFilter(typed), { id: "1", a: value }));
    }),
  );
});
