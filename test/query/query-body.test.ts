import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Collection } from "../../src/collection/collection.ts";
import { formatCursor, listName } from "../../src/query/cursor.ts";
import { parseListBody } from "../../src/query/query-body.ts";
import { parseList } from "../../src/query/query-string.ts";
import { posts, topics } from "./collections.ts";
import { problemOf } from "./refused.ts";

const read = (content: unknown, collection = topics) => parseListBody(content, collection, 1000);
const encode = (value: unknown) => encodeURIComponent(JSON.stringify(value));

/** Content, and the query string that asks for the same. */
const equivalents: [content: unknown, query: string, collection?: Collection][] = [
  [{}, ""],
  [{ filter: {} }, ""],
  [
    { filter: { a: 1, or: [{ b_gt: 2 }, { not: { c: ["x"] } }] } },
    `filter=${encode({ a: 1, or: [{ b_gt: 2 }, { not: { c: ["x"] } }] })}`,
  ],
  [{ sort: ["-a", "b.c"] }, "sort=-a,b.c"],
  [{ sort: [] }, ""],
  [{ limit: "max" }, "limit=max"],
  [{ limit: 5, offset: 20 }, "limit=5&offset=20"],
  [{ fields: ["a", "b"] }, "fields=a,b"],
  [{ q: "two words", sort: ["title"] }, "q=two+words&sort=title", posts],
  [{ q: "two words" }, "q=two+words", posts],
  [{ filter: { q: "two words", views: 1 } }, `filter=${encode({ q: "two words", views: 1 })}`, posts],
  [{ envelope: true, count: "exact" }, "envelope=true&count=exact"],
  [{ filter: { id: ["1", 2] } }, "id=1&id=2", posts],
];

for (const [content, query, collection] of equivalents)
  test(`the content ${JSON.stringify(content)} asks for the same as "${query}"`, () => {
    assert.deepEqual(read(content, collection), parseList(query, collection ?? topics, 1000));
  });

test("a cursor of GET goes on with QUERY", () => {
  const filter = { a: [1] };
  const cursor = formatCursor(listName("topics", read({ filter, sort: ["b"] })), [null, "x"]);
  assert.deepEqual(read({ filter, sort: ["b"], cursor, limit: 3 }).paging, {
    kind: "cursor",
    limit: 3,
    hasLimit: true,
    after: [null, "x"],
  });
  const problem = problemOf(() => read({ filter, cursor }));
  assert.equal(problem?.code, "INVALID_CURSOR");
  assert.deepEqual(
    problem.violations.map(({ in: part, pointer }) => [part, pointer]),
    [["body", "#/cursor"]],
  );
});

const faults: [content: unknown, pointer: string, code: string, detail: string, collection?: Collection][] = [
  [{ filters: {} }, "#/filters", "unknownParameter", '"filters" is not understood. Write "filter"'],
  [{ _start: 1 }, "#/_start", "unknownParameter", '"_start" is not understood. Write "offset"'],
  [
    { limit: 0 },
    "#/limit",
    "limit",
    '"limit" must be a whole number from 1 to 1000, or max, or 0 together with count=exact and without an offset or a cursor, not 0',
  ],
  [{ limit: "5" }, "#/limit", "limit", '"limit" must be a whole number from 1 to 1000, or max, not "5"'],
  [{ limit: null }, "#/limit", "limit", '"limit" must be a whole number from 1 to 1000, or max, not null'],
  [{ offset: -1 }, "#/offset", "offset", '"offset" must be a whole number of at least 0, not -1'],
  [
    { offset: 100_001 },
    "#/offset",
    "offset",
    '"offset" goes beyond the first 100,000 resources: use "cursor", which is fast at any position',
  ],
  [{ offset: 1, cursor: "x" }, "#/offset", "paging", '"offset" cannot be used together with "cursor"'],
  [{ cursor: 5 }, "#/cursor", "value", '"cursor" must be a string, not 5'],
  [
    { q: "a", filter: { q: "b" } },
    "#/filter/q",
    "repeatedParameter",
    '"filter", at "/q", cannot be used together with "q"',
    posts,
  ],
  [{ q: ["a"] }, "#/q", "value", '"q" must be a string, not ["a"]'],
  [{ q: "a ".repeat(2501) }, "#/q", "search", '"q" must have at most 5,000 characters', posts],
  [{ sort: "a" }, "#/sort", "sort", '"sort" must be an array such as ["-a","b"], not "a"'],
  [{ sort: ["a", 1] }, "#/sort/1", "sort", '"sort", at "/1", must be the name of an attribute, not 1'],
  [{ sort: ["a", "-a"] }, "#/sort", "sort", '"sort" names "a" twice'],
  [{ fields: [] }, "#/fields", "fields", '"fields" must be an array of attributes such as ["title"], not []'],
  [
    { fields: Array.from({ length: 1001 }, (_, n) => `a${n}`) },
    "#/fields",
    "fields",
    '"fields" must name at most 1,000 attributes',
  ],
  [{ envelope: "true" }, "#/envelope", "value", '"envelope" must be true or false, not "true"'],
  [{ count: true }, "#/count", "value", '"count" must be exact or none, not true'],
  [{ filter: [] }, "#/filter", "filter", '"filter" must be a JSON object such as {"status":"open"}, not []'],
  [
    { filter: { or: [{ titel: 1 }] } },
    "#/filter/or/0/titel",
    "unknownAttribute",
    '"filter", at "/or/0/titel", is not an attribute of "posts". Did you mean "title"?',
    posts,
  ],
  [
    { q: "a", cursor: "x" },
    "#/cursor",
    "cursor",
    '"cursor" needs a "sort" if there is a "q". Without "sort", the best matches come first: page through them with "offset"',
    posts,
  ],
];

for (const [content, pointer, code, detail, collection] of faults)
  test(`the content ${JSON.stringify(content).slice(0, 80)} is refused: ${detail}`, () => {
    const problem = problemOf(() => read(content, collection));
    assert.equal(problem?.code, "INVALID_PARAMETER");
    assert.deepEqual(problem.violations, [{ in: "body", pointer, code, detail }]);
  });

test("content that is not an object is refused", () => {
  for (const content of [null, [], "a", 1, true])
    assert.equal(problemOf(() => read(content))?.code, "BODY_NOT_OBJECT");
});

test("a filter of any size is refused quickly, whatever is in it", () => {
  const names = Array.from({ length: 50_000 }, (_, n) => [`titl${n}`, 1] as const);
  const filters = [
    Object.fromEntries(names),
    { or: names.map(([name]) => ({ [name]: { foo: 1 } })) },
    { title: Array.from({ length: 100_000 }, () => 1) },
    { or: Array.from({ length: 100_000 }, () => ({ or: [] })) },
    { [`${"a.".repeat(100_000)}_gt`]: 1 },
  ];
  for (const filter of filters)
    assert.equal(problemOf(() => read({ filter }, posts))?.code, "INVALID_PARAMETER");
});

test("no content throws anything but a problem", () => {
  const name = fc.constantFrom(..."filter sort limit cursor offset fields q envelope count x".split(" "));
  const inner = fc.constantFrom(..."and or not a id title views author.name a_gt gt in exists".split(" "));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(inner, tie("value"), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(
      fc.dictionary(name, value, { maxKeys: 4 }),
      fc.constantFrom(topics, posts),
      (content, collection) => {
        problemOf(() => read(content, collection));
      },
    ),
    { numRuns: 3000 },
  );
});

test("a name that is far too long is refused and not repeated, wherever it is", () => {
  const name = "a".repeat(1_001);
  for (const content of [{ sort: [name] }, { filter: { [name]: 1 } }, { fields: [name] }]) {
    const { message = "", violations } = problemOf(() => read(content)) ?? {};
    assert.match(message, /must name an attribute of at most 1,000 characters/);
    assert.ok(JSON.stringify(violations).length < 3_000);
  }
  read({ sort: [name.slice(1)] });
});
