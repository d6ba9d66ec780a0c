/** Articles whose lists are measured: as many of each author, so that what stands at a place of the list is known. */
import { openCollection } from "../../src/collection/collection.ts";
import { readIndexes } from "../../src/collection/indexes.ts";
import { formatCursor, listName } from "../../src/query/cursor.ts";
import { parseList } from "../../src/query/query-string.ts";
import { type Compare, compareBy, cursorValuesOf, ownSort } from "../../src/query/sort.ts";
import { sampleAttributes, sampleSchema } from "./sample.ts";

/** How many authors there are. */
export const authors = 200;

const days = Array.from({ length: 3_650 }, (_, n) =>
  new Date(Date.UTC(2016, 0, 1 + n)).toISOString().slice(0, 10),
);

/** The indexes that make the lists fast. */
export const indexes = [["author", "-publishedOn"]];

/** The collection as the service declares it, but for the checks. */
export const articles = {
  ...openCollection("articles"),
  schema: JSON.stringify(sampleSchema),
  indexes: readIndexes(indexes, "indexes"),
};

/** The author of an article. */
export function authorOf(n: number): string {
  return `author-${n % authors}`;
}

/** The attributes of an article. */
export function articleAttributes(n: number): Record<string, unknown> {
  return { ...sampleAttributes(n), author: authorOf(n), publishedOn: days[(n * 7919) % days.length] };
}

/** The path of the page after this number of articles in the order of the index, in the form of the `next` link. */
export function pathAfter(ids: readonly string[], count: number, limit: number): string {
  const query = `sort=author,-publishedOn&limit=${limit}`;
  const asked = parseList(query, articles, limit);
  const sort = ownSort(asked.sort);
  const last = articleAt(ids, count - 1, compareBy(sort));
  const cursor = formatCursor(listName(articles.name, asked), cursorValuesOf(last, sort));
  return `/api/v1/articles?${query}&cursor=${cursor}`;
}

/** The article at a place of a list that is sorted by author first. */
function articleAt(ids: readonly string[], place: number, compare: Compare): Record<string, unknown> {
  const ofEach = ids.length / authors;
  const names = Array.from({ length: authors }, (_, n) => authorOf(n)).sort();
  const author = names[Math.floor(place / ofEach)];
  const first = Array.from({ length: authors }, (_, n) => n).find((n) => authorOf(n) === author) ?? 0;
  const own = Array.from({ length: ofEach }, (_, n) => first + n * authors);
  const sorted = own.map((n) => ({ id: ids[n], ...articleAttributes(n) })).sort(compare);
  return sorted[place % ofEach] as Record<string, unknown>;
}
