/** Every way in which a query string can be wrong, with the words that say so. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Collection } from "../../src/collection/collection.ts";
import { defineCollection } from "../../src/collection/declaration.ts";
import { parseList } from "../../src/query/query-string.ts";
import { dotted, posts, topics } from "./collections.ts";
import { isRefused } from "./refused.ts";

const encode = (value: unknown) => encodeURIComponent(JSON.stringify(value));
const parse = (query: string) => parseList(query, topics, 1000);

const families = `Use one of these combinations: "limit" and "cursor", or "limit" and "offset", or "_start" and "_end", or "_start" and "_limit", or "_page" and "_limit", or "_page" and "_per_page", or "range"`;
const operators =
  "eq, ne, gt, gte, lt, lte, in, nin, contains, startsWith, endsWith, eqi, ini, containsi, startsWithi, any, exists";
const encoding = 'must be percent-encoded UTF-8 without null characters. Write a percent sign as "%25"';
const noDots = "A dot leads into an object, so no list can use an attribute whose own name contains a dot";
const deep = (depth: number): unknown => (depth === 0 ? { a: 1 } : { not: deep(depth - 1) });
const list = (length: number) => Array.from({ length }, (_, n) => n);
const tooLarge =
  "exceeds the limits of a filter: 100 conditions, 100 groups (and, or, not), and 1,000 values in total";

/** Each with the parameter and the whole of its detail after the name. */
const faults: [query: string, name: string, code: string, what: string, collection?: Collection][] = [
  [
    "limit=0",
    "limit",
    "limit",
    'must be a whole number from 1 to 1000, or max, or 0 together with count=exact and without an offset or a cursor, not "0"',
  ],
  ["limit=-1", "limit", "limit", 'must be a whole number from 1 to 1000, or max, not "-1"'],
  ["limit=", "limit", "limit", 'must be a whole number from 1 to 1000, or max, not ""'],
  ["limit=1.5", "limit", "limit", 'must be a whole number from 1 to 1000, or max, not "1.5"'],
  ["limit=1e2", "limit", "limit", 'must be a whole number from 1 to 1000, or max, not "1e2"'],
  ["offset=-1", "offset", "offset", 'must be a whole number of at least 0, not "-1"'],
  [
    "offset=100001",
    "offset",
    "offset",
    'goes beyond the first 100,000 resources: use "cursor", which is fast at any position',
  ],
  [
    "_page=1002&_limit=100",
    "_page",
    "offset",
    'goes beyond the first 100,000 resources: use "cursor", which is fast at any position',
  ],
  [
    "range=[100001,100002]",
    "range",
    "offset",
    'goes beyond the first 100,000 resources: use "cursor", which is fast at any position',
  ],
  ["_start=9&_end=5", "_end", "limit", 'must be greater than "_start"'],
  ["_start=5&_end=5", "_end", "limit", 'must be greater than "_start"'],
  ["_start=5&_end=1006", "_end", "limit", 'must be at most 1000 more than "_start", but is 1001 more'],
  ["limit=1001", "limit", "limit", 'must be a whole number from 1 to 1000, or max, not "1001"'],
  ["_limit=1001", "_limit", "limit", 'must be a whole number from 1 to 1000, or max, not "1001"'],
  ["_per_page=1001", "_per_page", "limit", 'must be a whole number from 1 to 1000, or max, not "1001"'],
  ["_start=x", "_start", "offset", 'must be a whole number of at least 0, not "x"'],
  ["_page=0", "_page", "offset", 'must be a whole number of at least 1, not "0"'],
  ["_per_page=0", "_per_page", "limit", 'must be a whole number from 1 to 1000, or max, not "0"'],
  ["range=[5,2]", "range", "paging", 'must be the first and the last position, such as [0,24], not "[5,2]"'],
  ["range=0-9", "range", "paging", 'must be the first and the last position, such as [0,24], not "0-9"'],
  ["limit=5&_start=0", "_start", "paging", `cannot be used together with "limit". ${families}`],
  ["cursor=x&offset=5", "offset", "paging", `cannot be used together with "cursor". ${families}`],
  ["range=[0,9]&limit=5", "range", "paging", `cannot be used together with "limit". ${families}`],
  ["_page=1&_start=0", "_page", "paging", `cannot be used together with "_start". ${families}`],
  ["_end=5&_limit=5", "_limit", "paging", `cannot be used together with "_end". ${families}`],
  ["_limit=5&_per_page=5", "_per_page", "paging", `cannot be used together with "_limit". ${families}`],
  ["limit=5&limit=5", "limit", "repeatedParameter", "must be given only once"],
  ["filter={}&filter={}", "filter", "repeatedParameter", "must be given only once"],
  ["sort=a&sort=b", "sort", "repeatedParameter", "must be given only once"],
  // Values that the schema excludes for the attribute.
  ["views=x", "views", "type", 'is a number and cannot be compared with "x"', posts],
  ["views:ne=x", "views:ne", "type", 'is a number and cannot be compared with "x"', posts],
  ["views=", "views", "type", 'is a number and cannot be compared with ""', posts],
  ["views:in=1,x", "views:in", "type", 'is a number and cannot be compared with "x"', posts],
  ["views:gt=a", "views:gt", "type", 'is a number and cannot be compared with "a"', posts],
  ["views_gte=a", "views_gte", "type", 'is a number and cannot be compared with "a"', posts],
  ["isOpen=TRUE", "isOpen", "type", 'is true or false and cannot be compared with "TRUE"', posts],
  ["isOpen:gt=true", "isOpen:gt", "type", 'is true or false, which "gt" never matches', posts],
  ["views:contains=1", "views:contains", "type", 'is a number, which "contains" never matches', posts],
  ["views:startsWith=1", "views:startsWith", "type", 'is a number, which "startsWith" never matches', posts],
  [
    "tags=news",
    "tags",
    "type",
    'is an array, which "eq" never matches: use "contains" to look for an item',
    posts,
  ],
  [
    "author=Ada",
    "author",
    "type",
    'is an object, which "eq" never matches: use a dot to name an attribute in it',
    posts,
  ],
  [
    'filter={"views":"5"}',
    "filter",
    "type",
    ', at "/views", is a number and cannot be compared with "5"',
    posts,
  ],
  [
    'filter={"views":[1,true]}',
    "filter",
    "type",
    ', at "/views", is a number and cannot be compared with true',
    posts,
  ],
  [
    'filter={"title":{"gt":5}}',
    "filter",
    "type",
    ', at "/title/gt", is a string and cannot be compared with 5',
    posts,
  ],
  [
    "a:gt=1&a:gt=2",
    "a:gt",
    "repeatedParameter",
    'must be given only once. To combine conditions, use "filter" with "and" or "or"',
  ],
  [
    "a_like=1&a_like=2",
    "a_like",
    "repeatedParameter",
    'must be given only once. To combine conditions, use "filter" with "and" or "or"',
  ],
  [
    "sort=",
    "sort",
    "attribute",
    'names "", which is not a valid attribute name. Valid names look like "title" or "author.name"',
  ],
  [
    "sort=a,,b",
    "sort",
    "attribute",
    'names "", which is not a valid attribute name. Valid names look like "title" or "author.name"',
  ],
  ["sort=a,b,c,d,e,f", "sort", "sort", "must name at most 5 attributes, but names 6"],
  ["sort=a,-a", "sort", "sort", 'names "a" twice'],
  ["sort=[]", "sort", "sort", 'must have the form -a,b or ["a","ASC"], not "[]"'],
  ['sort=["a","UP"]', "sort", "sort", 'must have the form -a,b or ["a","ASC"], not "[\\"a\\",\\"UP\\"]"'],
  [
    "sort=titel",
    "sort",
    "unknownAttribute",
    'names "titel", which is not an attribute of "posts". Did you mean "title"?',
    posts,
  ],
  [
    "sort=a:naturl",
    "sort",
    "sort",
    'names "a:naturl": after ":", only natural, nullsfirst, nullslast are understood',
  ],
  [
    "sort=a:nullslast:nullsfirst",
    "sort",
    "sort",
    'names "a:nullslast": after ":", only natural, nullsfirst, nullslast are understood',
  ],
  ["sort=a:nullslast,-a", "sort", "sort", 'names "a" twice'],
  ["sort=a&_sort=a", "_sort", "sort", 'cannot be used together with "sort"'],
  ["sort=a&_order=asc", "_order", "sort", 'cannot be used together with "sort"'],
  ["_order=asc", "_order", "sort", 'needs "_sort", which names the attributes'],
  ["_sort=a&_order=up", "_order", "sort", 'must be asc or desc for each key, not "up"'],
  ["_sort=a&_order=asc,asc", "_order", "sort", 'must not have more directions than "_sort" has keys'],
  [
    "fields=",
    "fields",
    "attribute",
    'names "", which is not a valid attribute name. Valid names look like "title" or "author.name"',
  ],
  ["fields=a.b", "fields", "fields", 'names "a.b", but takes only whole attributes, such as "a"'],
  [
    "fields=titles",
    "fields",
    "unknownAttribute",
    'names "titles", which is not an attribute of "posts". Did you mean "title"?',
    posts,
  ],
  ["envelope=1", "envelope", "value", 'must be true or false, not "1"'],
  ["count=true", "count", "value", 'must be exact or none, not "true"'],
  [
    "_starts=1",
    "_starts",
    "unknownParameter",
    'is not understood. Did you mean "_start"? To filter by an attribute with this name, write "_starts:eq"',
  ],
  [
    "_populate=comments",
    "_populate",
    "unknownParameter",
    `is not understood. Write "embed=comments". To filter by an attribute with this name, write "_populate:eq"`,
  ],
  [
    "_gte=5",
    "_gte",
    "unknownParameter",
    'is not understood. To filter by an attribute with this name, write "_gte:eq"',
  ],
  ...["version", "dryRun"].map((name): [string, string, string, string] => [
    `${name}=1`,
    name,
    "unknownParameter",
    `is reserved for future use. To filter by an attribute with this name, write "${name}:eq"`,
  ]),
  ...["since", "wait"].map((name): [string, string, string, string] => [
    `${name}=1`,
    name,
    "unknownParameter",
    `is not a parameter of lists. To follow changes, add "/_events" to the path. To filter by an attribute with this name, write "${name}:eq"`,
  ]),
  ...["expand", "include"].map((name): [string, string, string, string] => [
    `${name}=1`,
    name,
    "unknownParameter",
    `is reserved for future use. Write "embed=1". To filter by an attribute with this name, write "${name}:eq"`,
  ]),
  [
    "title:contain=x",
    "title:contain",
    "unknownOperator",
    'is not understood: "contain" is not an operator. Did you mean "contains"?',
  ],
  [
    "title:soundex=x",
    "title:soundex",
    "unknownOperator",
    `is not understood: "soundex" is not an operator. Known names: ${operators}`,
  ],
  [
    "title:=x",
    "title:",
    "unknownOperator",
    `is not understood: "" is not an operator. Known names: ${operators}`,
  ],
  [
    "title:constructor=x",
    "title:constructor",
    "unknownOperator",
    `is not understood: "constructor" is not an operator. Known names: ${operators}`,
  ],
  ["a:exists=yes", "a:exists", "value", 'must be true or false, not "yes"'],
  ["=x", "", "attribute", 'is not a valid attribute name. Valid names look like "title" or "author.name"'],
  [
    "a..b=x",
    "a..b",
    "attribute",
    'is not a valid attribute name. Valid names look like "title" or "author.name"',
  ],
  [".=x", ".", "attribute", 'is not a valid attribute name. Valid names look like "title" or "author.name"'],
  [
    ":eq=x",
    ":eq",
    "attribute",
    'names "", which is not a valid attribute name. Valid names look like "title" or "author.name"',
  ],
  ["a.b=4", "a.b", "unknownAttribute", `is not an attribute of "dotted". ${noDots}`, dotted],
  [
    "c.a.b:gt=4",
    "c.a.b:gt",
    "unknownAttribute",
    `names "c.a.b", which is not an attribute of "dotted". ${noDots}`,
    dotted,
  ],
  [
    "abcdefgh=4",
    "abcdefgh",
    "unknownAttribute",
    'is not an attribute of "dotted". Known names: id, c',
    dotted,
  ],
  ["titel=x", "titel", "unknownAttribute", 'is not an attribute of "posts". Did you mean "title"?', posts],
  ["limt=5", "limt", "unknownAttribute", 'is not an attribute of "posts". Did you mean "limit"?', posts],
  ["Title=x", "Title", "unknownAttribute", 'is not an attribute of "posts". Did you mean "title"?', posts],
  [
    "titel:contains=x",
    "titel:contains",
    "unknownAttribute",
    'names "titel", which is not an attribute of "posts". Did you mean "title"?',
    posts,
  ],
  [
    "zzzzzzzz=x",
    "zzzzzzzz",
    "unknownAttribute",
    'is not an attribute of "posts". Known names: id, title, views, isOpen, note, tags, author, anything, rank_gt, count',
    posts,
  ],
  [
    "author.nam=x",
    "author.nam",
    "unknownAttribute",
    'is not an attribute of "posts". Did you mean "author.name"?',
    posts,
  ],
  [
    "title.x=1",
    "title.x",
    "unknownAttribute",
    'is not an attribute of "posts". "title" has no nested attributes',
    posts,
  ],
  [
    "tags.x=1",
    "tags.x",
    "unknownAttribute",
    'is not an attribute of "posts". "tags" is an array, and a name does not lead into it. "tags:contains" looks for a whole item',
    posts,
  ],
  [
    "sort=tags.x",
    "sort",
    "unknownAttribute",
    'names "tags.x", which is not an attribute of "posts". "tags" is an array, and a name does not lead into it',
    posts,
  ],
  ["id.x=1", "id.x", "unknownAttribute", 'is not an attribute of "topics". "id" has no nested attributes'],
  ["%zz=1", "%zz", "encoding", encoding],
  ["a=%ff", "a", "encoding", encoding],
  ["a=100%", "a", "encoding", encoding],
  ["a=%00", "a", "encoding", encoding],
  [
    "q=a",
    "q",
    "search",
    'cannot be used: the collection "topics" declares no attributes for full-text search. Declare them, such as "search": ["title"]',
  ],
  ["q=", "q", "search", 'must have a word, but is ""', posts],
  [
    'q=a&filter={"q":"b"}',
    "filter",
    "repeatedParameter",
    ', at "/q", cannot be used together with "q"',
    posts,
  ],
  ["q=%20", "q", "search", 'must have a word, but is " "', posts],
  [`q=${list(33).join("+")}`, "q", "search", "must have at most 32 words", posts],
  [`q=${list(33).join("%2B+%23")}`, "q", "search", "must have at most 32 words", posts],
  [
    "q=a&cursor=x",
    "cursor",
    "cursor",
    'needs a "sort" if there is a "q". Without "sort", the best matches come first: page through them with "offset"',
    posts,
  ],
  [
    "q=a&offset=1001",
    "offset",
    "offset",
    'goes beyond the first 1,000 matches: add a "sort" to go further, or add words to "q"',
    posts,
  ],
  ["filter=[]", "filter", "filter", 'must be a JSON object such as {"status":"open"}, not []'],
  ["filter=null", "filter", "filter", 'must be a JSON object such as {"status":"open"}, not null'],
  [
    "filter=",
    "filter",
    "filter",
    'must be a JSON object such as {"status":"open"}. It is not valid JSON: expected a JSON value at line 1, column 1, but found the end of the text.',
  ],
  [
    'filter={"a":1,"a":2}',
    "filter",
    "filter",
    'must be a JSON object such as {"status":"open"}. "a" appears twice in the same object: keep only one (line 1, column 11).',
  ],
  ['filter={"and":{"a":1}}', "filter", "filter", ', at "/and", must be an array of filters, not {"a":1}'],
  [
    'filter={"or":[1]}',
    "filter",
    "filter",
    ', at "/or/0", must be a JSON object such as {"status":"open"}, not 1',
  ],
  [
    'filter={"not":[]}',
    "filter",
    "filter",
    ', at "/not", must be a JSON object such as {"status":"open"}, not []',
  ],
  [
    'filter={"a":{}}',
    "filter",
    "filter",
    ', at "/a", must contain an operator, such as {"gte":10}, but is {}',
  ],
  [
    'filter={"a":{"gtee":1}}',
    "filter",
    "unknownOperator",
    ', at "/a/gtee", is not understood: "gtee" is not an operator. Did you mean "gte"? To name a nested attribute, use a dot: "a.gtee"',
  ],
  ['filter={"a":{"gt":null}}', "filter", "value", ', at "/a/gt", must be a number or a string, not null'],
  [
    'filter={"a":{"eq":[1]}}',
    "filter",
    "value",
    ', at "/a/eq", must be a string, a number, true, false or null, not [1]',
  ],
  [
    'filter={"a":{"in":1}}',
    "filter",
    "value",
    ', at "/a/in", must be an array of strings, numbers, true, false and null, not 1',
  ],
  [
    'filter={"a":[[1]]}',
    "filter",
    "value",
    ', at "/a", must be an array of strings, numbers, true, false and null, not [[1]]',
  ],
  ['filter={"a_gt":[1]}', "filter", "value", ', at "/a_gt", must be a number or a string, not [1]'],
  ['filter={"a":{"startsWith":1}}', "filter", "value", ', at "/a/startsWith", must be a string, not 1'],
  [
    'filter={"a":{"exists":"true"}}',
    "filter",
    "value",
    ', at "/a/exists", must be true or false, not "true"',
  ],
  [
    'filter={"":1}',
    "filter",
    "attribute",
    ', at "/", is not a valid attribute name. Valid names look like "title" or "author.name"',
  ],
  [
    'filter={"titel":1}',
    "filter",
    "unknownAttribute",
    ', at "/titel", is not an attribute of "posts". Did you mean "title"?',
    posts,
  ],
  [`filter=${encode({ a: list(1001) })}`, "filter", "filterTooLarge", `, at "/a", ${tooLarge}`],
  [
    `filter=${encode({ or: list(101).map((n) => ({ a: n })) })}`,
    "filter",
    "filterTooLarge",
    `, at "/or/100/a", ${tooLarge}`,
  ],
  [
    list(101)
      .map((n) => `a${n}=1`)
      .join("&"),
    "a100",
    "filterTooLarge",
    tooLarge,
  ],
  [
    `filter=${encode(deep(10))}`,
    "filter",
    "filterTooDeep",
    ', at "/not/not/not/not/not/not/not/not/not/not", is nested more than 10 levels deep',
  ],
];

for (const [query, name, code, what, collection = topics] of faults)
  test(`"${query.slice(0, 80)}" is refused: ${what}`, () => {
    const { violations, message } = isRefused(query, collection);
    const detail = `"${name}"${what.startsWith(",") ? "" : " "}${what}`;
    assert.deepEqual(violations, [{ in: "query", name, code, detail }]);
    assert.ok(message.startsWith(`The query parameter ${detail}`), message);
  });

test("everything that is wrong is told at once, 50 faults at most", () => {
  const { violations } = isRefused("limit=0&sort=a,a&b:foo=1&envelope=x", topics);
  assert.deepEqual(
    new Set(violations.map(({ name }) => name)),
    new Set(["limit", "sort", "b:foo", "envelope"]),
  );
  const many = list(200).map((n) => `_x${n}=1`);
  assert.equal(isRefused(many.join("&"), topics).violations.length, 50);
});

test("filters up to the limits are taken", () => {
  parse(`filter=${encode(deep(9))}`);
  parse(`filter=${encode({ a: list(1000) })}`);
  parse(
    list(100)
      .map((n) => `a${n}=1`)
      .join("&"),
  );
});

const ticket = await defineCollection("tickets", {
  references: { owner: "users" },
  schema: {
    type: "object",
    $defs: { state: { enum: ["open", "waiting", "done"] } },
    properties: {
      state: { $ref: "#/$defs/state" },
      code: { anyOf: [{ type: "string", maxLength: 3 }, { type: "null" }] },
      size: { type: "integer", minimum: 1, exclusiveMaximum: 9 },
      email: { type: "string", format: "email", maxLength: 99 },
      kind: { const: "bug" },
      mixed: { enum: ["a", 5] },
      labels: { type: "array", items: { enum: ["red", "blue"] } },
      due: { type: "string", format: "date" },
      owner: { type: "string", minLength: 2 },
      ref: { type: "string", pattern: "^[A-Z]{2}-[0-9]+$" },
      price: { type: "number", multipleOf: 0.01 },
      refs: { type: "array", items: { $ref: "#/properties/ref" } },
      lines: { type: "array", items: { type: "object", properties: { sku: { type: "string" } } } },
    },
  },
});

test("a sort by a member of the objects in an array says why it is not possible", () => {
  const [violation] = isRefused("sort=lines.sku", ticket).violations;
  assert.equal(
    violation?.detail,
    '"sort" names "lines.sku", which is not an attribute of "tickets". "lines" is an array, and a name does not lead into it',
  );
});

/** Values that no ticket can have, each with what the schema asks for. */
const impossible: [query: string, what: string][] = [
  ["state=opne", 'must be one of "open", "waiting", "done", not "opne". Did you mean "open"?'],
  ["state:ne=Open", 'must be one of "open", "waiting", "done", not "Open". Did you mean "open"?'],
  ["state:in=open,xyzzyx", 'must be one of "open", "waiting", "done", not "xyzzyx"'],
  ["state:nin=dome", 'must be one of "open", "waiting", "done", not "dome". Did you mean "done"?'],
  ["code=abcd", 'must have at most 3 characters, not "abcd"'],
  ["size=0", 'must be at least 1, not "0"'],
  ["size=9", 'must be less than 9, not "9"'],
  ["size=1.5", 'must be an integer, not "1.5"'],
  ["email=ada", 'must be an email address, not "ada"'],
  ["kind=feature", 'must be "bug", not "feature"'],
  ["mixed=6", 'must be one of "a", 5, not "6"'],
  ["labels:contains=bleu", 'must be one of "red", "blue", not "bleu". Did you mean "blue"?'],
  ["owner=a", 'must have at least 2 characters, not "a"'],
  ["ref=ab-1", 'must match the pattern ^[A-Z]{2}-[0-9]+$, not "ab-1"'],
  ["refs:contains=AB", 'must match the pattern ^[A-Z]{2}-[0-9]+$, not "AB"'],
  ["price=19.995", 'must be a multiple of 0.01, not "19.995"'],
];
for (const [query, what] of impossible)
  test(`a value that cannot occur is refused: ${query}`, () => {
    const [name = ""] = query.split("=");
    const [violation] = isRefused(query, ticket).violations;
    assert.equal(violation?.detail, `"${name}" ${what}`);
    assert.equal(violation.code, "value");
  });

test("a value that can occur is not refused, nor a limit, nor a part of a text", () => {
  const possible = [
    ...["state=open&state=done", "state:startsWith=op", "state:gt=b", "state=null", "code=abc", "code=null"],
    ...[
      "size:lt=100",
      "size:gte=0",
      "size=8",
      "email:contains=ada",
      "mixed=5",
      "mixed=a",
      "labels:contains=red",
    ],
    ...["email=ada@example.org", "owner=ada", "labels:exists=true"],
    ...["ref=AB-1", "ref:startsWith=ab", "ref:gt=b", "refs:contains=AB-1", "price=19.99", "price:gt=0.001"],
    `ref=${"a".repeat(101)}`, // too long to be tested
  ];
  for (const query of possible) assert.ok(parseList(query, ticket, 1_000).filter, query);
});
