/** What people try who know another server: each is answered with what to write here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Collection } from "../../src/collection/collection.ts";
import { defineCollection } from "../../src/collection/declaration.ts";
import { nearestLimits } from "../../src/collection/messages.ts";
import type { Problem } from "../../src/errors.ts";
import { parseList } from "../../src/query/query-string.ts";
import { posts, topics } from "./collections.ts";
import { isRefused } from "./refused.ts";

const encode = (value: unknown) => encodeURIComponent(JSON.stringify(value));

/** Refused in a closed collection, which has no attribute with such a name. */
const closed: readonly [query: string, write: string][] = [
  ["page=2", "_page=2"],
  ["pageNumber=2", "_page=2"],
  ["per_page=10", "_per_page=10"],
  ["perPage=10", "_per_page=10"],
  ["pageSize=10", "_per_page=10"],
  ["page_size=10", "_per_page=10"],
  ["size=10", "_per_page=10"],
  ["top=5", "limit=5"],
  ["take=5", "limit=5"],
  ["skip=20", "offset=20"],
  ["start=20", "offset=20"],
  ["order=title", "sort=title"],
  ["orderBy=title+desc", "sort=-title"],
  ["order_by=-title", "sort=-title"],
  ["sortBy=title", "sort=title"],
  ["sortBy=title&order=desc", "sort=-title"],
  ["sort=title&order=desc", "sort=-title"],
  ["sort=title&direction=desc", "sort=-title"],
  ["sort_by=title&sort_order=asc", "sort=title"],
  ["sort=title.desc", "sort=-title"],
  ["sort=views.desc.nullslast,title", "sort=-views:nullslast,title"],
  ["order=views.nullsfirst", "sort=views:nullsfirst"],
  ["sort=views,desc", "sort=-views"],
  ["_sort=views.desc", "_sort=-views"],
  ["search=solaris", "q=solaris"],
  ["query=solaris", "q=solaris"],
  ["select=title,views", "fields=title,views"],
  ["columns=title", "fields=title"],
  [`where=${encode({ title: "x" })}`, 'filter={"title":"x"}'],
  ["where=title", 'filter={"name":"value"}'],
  ["totalCount=true", "count=exact"],
  ["ids=1,2", "id:in=1,2"],
  ["title__contains=x", "title:contains=x"],
  ["views__gte=5", "views:gte=5"],
];

/** Refused everywhere, since hardly any attribute has such a name, or since what comes after the colon is an operator. */
const everywhere: readonly [query: string, write: string][] = [
  ["filter[title]=x", "title=x"],
  ["filter[title][eq]=x", "title=x"],
  ["filter[views][$gte]=5", "views:gte=5"],
  ["filters[title][$contains]=x", "title:contains=x"],
  ["title[like]=x", "title:contains=x"],
  ["views[gte]=5", "views:gte=5"],
  ["author[name]=Ada", "author.name=Ada"],
  ["title[]=x", "title=x"],
  ["title[0]=x", "title=x"],
  ["title[]=x&title[]=y", "title=x&title=y"],
  ["filter[title][ne]=x&filter[title][ne]=y", "title:ne=x&title:ne=y"],
  ["title[in][]=x&title[in][]=y", "title:in=x,y"],
  ["page[number]=2", "_page=2"],
  ["page[size]=10", "_per_page=10"],
  ["page[offset]=10", "offset=10"],
  ["fields[posts]=title,views", "fields=title,views"],
  ["sort[title]=desc", "sort=-title"],
  ["sort[0]=title:desc", "sort=-title"],
  ["$filter=views+ge+5", "views:gte=5"],
  ["$filter=title+eq+'Solaris+%26+more'", "title=Solaris+%26+more"],
  ["$top=5", "limit=5"],
  ["$skip=5", "offset=5"],
  ["$orderby=title+desc,views", "sort=-title,views"],
  ["$select=title", "fields=title"],
  ["$search=x", "q=x"],
  ["$count=true", "count=exact"],
  ["title!=x", "title:ne=x"],
  ["views>=5", "views:gte=5"],
  ["views>5", "views:gt=5"],
  ["views<5", "views:lt=5"],
  ["sort=title:desc", "sort=-title"],
  ["sort=title:asc", "sort=title"],
  ["sort=title+DESC,views", "sort=-title,views"],
  ["sort=-title,views:desc", "sort=-title,-views"],
  ["sort=views+DESC+NULLS+LAST", "sort=-views:nullslast"],
  ["sort=-views:nulls_first", "sort=-views:nullsfirst"],
  ["sort=desc(title)", "sort=-title"],
  ["_sort=title:desc", "_sort=-title"],
  [`sort=${encode({ title: -1 })}`, "sort=-title"],
  ["title:like=x", "title:contains=x"],
  ["title:like=%25x%25", "title:contains=x"],
  ["title:ilike=*x*", "title:contains=x"],
  ["title:regex=^x.*", "title:contains=x"],
  ["title:matches=x", "title:contains=x"],
  ["title:startswith=x", "title:startsWith=x"],
  ["title:starts_with=x", "title:startsWith=x"],
  ["title:prefix=x", "title:startsWith=x"],
  ["title:endswith=x", "title:endsWith=x"],
  ["title:neq=x", "title:ne=x"],
  ["title:not=x", "title:ne=x"],
  ["title:equals=x", "title=x"],
  ["title:is=x", "title=x"],
  ["views:ge=5", "views:gte=5"],
  ["views:min=5", "views:gte=5"],
  ["views:GTE=5", "views:gte=5"],
  ["views:$lt=5", "views:lt=5"],
  ["views:between=1,5", "views:gte=1&views:lte=5"],
  ["title:not_in=a,b", "title:nin=a,b"],
  ["title:isNull=true", "title=null"],
  ["title:isnull=false", "title:ne=null"],
  ["title:notlike=x", 'filter={"not":{"title":{"contains":"x"}}}'],
];

/** Words instead of an example. */
const sayings: readonly [query: string, says: RegExp][] = [
  ["expand=author", /Write "embed=author"/],
  ["include=author", /Write "embed=author"/],
  ["_populate=author", /Write "embed=author"/],
  ["$expand=author", /Write "embed=author"/],
  ["page[after]=x", /Follow the "next" link of the response/],
  ["filter[$or][0][title]=x", /Write a group of conditions as JSON, such as filter=\{"or":/],
  ["filter[not][title]=x", /Write a group of conditions as JSON/],
];

const sayingsOfClosed: readonly [query: string, says: RegExp][] = [
  ["populate=author", /Write "embed=author"/],
  ["order=desc", /To sort in descending order, write "-" before the attribute, such as "sort=-name"/],
  ["pageToken=x", /Follow the "next" link of the response/],
  ["format=csv", /"Accept: text\/csv"/],
];

function assertSays({ violations }: Problem, write: string): void {
  const details = violations.map(({ detail }) => detail);
  assert.ok(
    details.some((detail) => detail.includes(`Write ${JSON.stringify(write)}`)),
    details.join("\n"),
  );
}

for (const [query, write] of [...closed, ...everywhere])
  test(`in a closed collection, the answer to "${query}" says what to write`, () => {
    assertSays(isRefused(query, posts), write);
  });

for (const [query, write] of everywhere)
  test(`in an open collection, the answer to "${query}" says what to write`, () => {
    assertSays(isRefused(query, topics), write);
  });

for (const [query, says] of [...sayings, ...sayingsOfClosed])
  test(`in a closed collection, the answer to "${query}" says what to use instead`, () => {
    assert.match(isRefused(query, posts).message, says);
  });

for (const [query, says] of sayings)
  test(`in an open collection, the answer to "${query}" says what to use instead`, () => {
    assert.match(isRefused(query, topics).message, says);
  });

test("what the answers suggest is valid", () => {
  for (const [query, write] of [...closed, ...everywhere]) {
    if (write !== 'filter={"name":"value"}') parseList(write, posts, 1000);
    assert.notEqual(write, query);
  }
});

test("in an open collection a plain word is a filter, since any attribute may exist", () => {
  for (const [query] of closed) parseList(query, topics, 1000);
});

test("in an open collection, attributes with names of a refused form can still be filtered and sorted by", () => {
  for (const query of [
    "filter[title]:eq=x",
    "$top:eq=5",
    "title!:eq=x",
    "views>5:eq=x",
    'sort=["title:desc","ASC"]',
    "_sort=title:desc&_order=asc",
  ])
    parseList(query, topics, 1000);
});

test("an attribute that is declared is never taken for a guess", async () => {
  const names = ["page", "size", "order", "search", "select", "expand:x", "name:desc", "a[b]"];
  const declared = await defineCollection("declared", {
    schema: { properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])) },
  });
  for (const name of ["page", "size", "order", "search", "select"]) parseList(`${name}=x`, declared, 1000);
  parseList("sort=name:desc", declared, 1000);
});

test("for operators of other servers in a JSON filter, the answer says what to write", () => {
  for (const [filter, write] of [
    [{ title: { like: "%x%" } }, { title: { contains: "x" } }],
    [{ views: { $gte: 5 } }, { views: { gte: 5 } }],
    [{ views: { between: [1, 5] } }, { views: { gte: 1, lte: 5 } }],
    [{ title: { $not: "x" } }, { title: { ne: "x" } }],
    [{ title: { notlike: "x" } }, { not: { title: { contains: "x" } } }],
    [{ $or: [{ title: "x" }] }, { or: [{ title: "x" }] }],
    [{ AND: [{ title: "x" }] }, { and: [{ title: "x" }] }],
    [{ $not: { title: "x" } }, { not: { title: "x" } }],
  ])
    for (const collection of [posts, topics]) {
      const { message } = isRefused(`filter=${encode(filter)}`, collection);
      assert.ok(message.includes(`Write ${JSON.stringify(write)}`), message);
    }
});

// Were the work to grow with the square of the length, these would not end.
test("long texts get the same answers as short ones", () => {
  const long = 1_000_000;
  isRefused(`sort=a${"+".repeat(long)}b:desc`, topics);
  isRefused(`sort=${"a ".repeat(long)}`, posts);
  isRefused(`title:like=x${"%25".repeat(long)}x`, posts);
  isRefused(`filter=${encode({ title: { like: `x${"%".repeat(long)}x` } })}`, posts);
  isRefused(`${"a[".repeat(long)}=x`, posts);
  isRefused(`a${"[]".repeat(long)}!=x`, posts);
  isRefused(`${"a__".repeat(long)}=x`, posts);
  isRefused(`$filter=${"a+".repeat(long)}`, posts);
  isRefused(`orderBy=${"a+".repeat(long)}`, posts);
});

/** The hints for as many misspelled names as the collection has, and how often its schema was asked. */
async function hintsFor(attributes: number) {
  const names = Array.from({ length: attributes }, (_, n) => `attribute${n}`);
  const wide: Collection = await defineCollection("wide", {
    schema: { properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])) },
  });
  let lookups = 0;
  const counting = Object.defineProperty({ ...wide }, "visibility", { get: () => void lookups++ });
  const { violations } = isRefused(`fields=${names.map((name) => `${name}x`).join(",")}`, counting);
  assert.equal(violations.length, 50);
  assert.ok(lookups > 0 && lookups <= 50, `the schema is asked ${lookups} times`);
  return violations.filter(({ detail }) => detail.includes("Did you mean")).length;
}

test("in a request with many unknown names, the first 50 are looked up, and the first few are compared with known names", async () => {
  assert.equal(await hintsFor(100), nearestLimits.searches);
});

test("fewer names are compared if the collection has many attributes", async () => {
  const hints = await hintsFor(900);
  assert.ok(hints > 0 && hints < nearestLimits.searches, `${hints} names got a hint`);
});

test("hints that look for other parameters go through all of them once", (t) => {
  const { mock } = t.mock.method(String.prototype, "toLowerCase");
  const names = Array.from({ length: 50 }, (_, n) => `${"_".repeat(n + 1)}orderby`);
  const others = Array.from({ length: 400 }, (_, n) => `a${n}`);
  const { message } = isRefused([...names, ...others].map((name) => `${name}=desc`).join("&"), posts);
  assert.match(message, /in descending order/);
  assert.ok(mock.callCount() < 2_000, `${mock.callCount()} names are made plain`);
});
