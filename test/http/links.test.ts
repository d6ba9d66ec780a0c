import assert from "node:assert/strict";
import { test } from "node:test";
import { openCollection } from "../../src/collection/collection.ts";
import { formatLinks, linksOf } from "../../src/http/lists/links.ts";
import type { Listing } from "../../src/http/operations/operation.ts";
import { parseList } from "../../src/query/query-string.ts";
import { toPlace } from "../../src/store/port/log-place.ts";
import type { Page } from "../../src/store/port/page.ts";

const collection = { ...openCollection("topics"), search: [["title"]] as const };

function listing(query: string): Listing {
  const asked = parseList(query, collection, 1_000);
  return { collection, path: "/topics", asked, query, type: "application/json", contentHash: undefined };
}

/** A page with this many resources that is not the last one. */
function page(resources: number): Page {
  const items = Array.from({ length: resources }, (_, n) => ({
    id: `id${n}`,
    text: JSON.stringify({ id: `id${n}`, n }),
    version: 1,
    updatedAt: 1,
  }));
  return { items, more: true, total: 1_000_000, sequence: toPlace(1) };
}

test("beyond 100,000 resources the next page is linked by a cursor, and the last one not at all", () => {
  const upTo = linksOf(listing("sort=n&limit=10&offset=99990"), page(10), 1_000_000);
  assert.equal(upTo.next, "/topics?sort=n&limit=10&offset=100000");
  const beyond = linksOf(listing("sort=n&limit=10&offset=100000"), page(10), 1_000_000);
  assert.match(beyond.next ?? "", /^\/topics\?sort=n&limit=10&cursor=/);
  assert.doesNotThrow(() => listing((beyond.next ?? "").slice("/topics?".length)));
  assert.equal(beyond.last, undefined);
  assert.equal(beyond.prev, "/topics?sort=n&limit=10&offset=99990");
});

test("the best matches are paged by offset, up to 1,000", () => {
  const first = linksOf(listing("q=word"), page(100), 5_000);
  assert.deepEqual(first, {
    next: "/topics?q=word&limit=100&offset=100",
    first: "/topics?q=word&limit=100&offset=0",
  });
  assert.equal(
    linksOf(listing("q=word&limit=1000"), page(1_000), undefined).next,
    "/topics?q=word&limit=1000&offset=1000",
  );
  assert.equal(linksOf(listing("q=word&offset=1000"), page(100), undefined).next, undefined);
  assert.match(linksOf(listing("q=word&sort=n"), page(100), undefined).next ?? "", /cursor=/);
});

test("a page that ended early is followed by the one that begins right after it", () => {
  const { next } = linksOf(listing("limit=100&offset=200"), page(7), undefined);
  assert.equal(next, "/topics?limit=100&offset=207");
});

test("the Link field has the next page and what else has room", () => {
  const long = `title=${"x".repeat(1_500)}`;
  const links = linksOf(listing(`${long}&limit=10&offset=20`), page(10), 1_000);
  assert.deepEqual(Object.keys(links), ["next", "prev", "first", "last"]);
  assert.deepEqual(formatLinks(links).match(/rel="\w+"/g), ['rel="next"', 'rel="prev"']);
  const longer = linksOf(listing(`title=${"x".repeat(6_000)}&limit=10&offset=20`), page(10), 1_000);
  assert.deepEqual(formatLinks(longer).match(/rel="\w+"/g), ['rel="next"']);
  assert.equal(formatLinks({}), "");
});

test("what may not stand in a URL is escaped, and nothing twice", () => {
  const { first } = linksOf(listing('title=a+b%20c&n=%3E,"<é>'), page(1), undefined);
  assert.equal(first, "/topics?title=a+b%20c&n=%3E,%22%3C%C3%A9%3E");
});
