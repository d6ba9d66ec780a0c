/**
 * The statement that reads a page: its resources, and the head of the collection from the same snapshot. After a
 * position, the statement is a union of ranges, because an index returns each range in order. With one condition for
 * all of them, the database would read the whole table.
 */
import { Problem } from "../../../errors.ts";
import { wordsVersion } from "../../../query/words.ts";
import type { PageQuery } from "../../core/related.ts";
import { maxPageBytes, type Page } from "../../port/page.ts";
import type { Row, Statement } from "../connection/connections.ts";
import { toStored } from "../read/reads.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { resourcesTable } from "../tables/tables.ts";
import { filterSql } from "./conditions.ts";
import { type ReadPage, stateSql } from "./hot-pages.ts";
import { type OrderTerm, orderSql, orderTerms, rangesAfter } from "./order.ts";
import { type SqlScope, scopeOf } from "./parameters.ts";
import { type SearchSql, searchSql } from "./search.ts";

/** A page, or the fact that the declaration of the collection has changed since the catalogue was read. */
export type ListAttempt = { page: Page } | "redeclared";

/**
 * Reads a page. The columns of the head: sequence, count, number of the declaration, whether the search words are
 * complete and of this version, total, and the state (`stateSql`). Then how many resources were found (at most one more than
 * the limit), and for each resource that fits: key, version, time and text.
 */
export function selectPage(collection: NumberedCollection, query: PageQuery): Statement {
  const { number } = collection;
  const { words = [] } = query;
  const scope = scopeOf(collection, query.related);
  const search = words.length === 0 ? undefined : searchSql(number, words, scope);
  const selection = selectionOf(query, search, scope);
  const total = query.count === true && isNarrowed(query) ? countSql(selection) : "null::bigint";
  const page = pageSql(query, selection, scope);
  const sql = `${search?.with ?? ""}
    select head.sequence, head.count, head.declared, ${areWordsComplete}, ${total},
      ${stateSql}, page.found, page.key, page.version, page.updated_at, page.text, page.checksum
    from holdfast_heads as head left join (${page}) as page on true
    where head.number = ${number} order by page.place`;
  return { sql, values: scope.values };
}

/** Another version of the program may have split the texts of an older store into other words. */
const areWordsComplete = `head.gathered_to is null and head.words_version = '${wordsVersion}'`;

/** Whether the list can have fewer resources than its collection. */
export function isNarrowed({ filter, words }: PageQuery): boolean {
  return filter !== undefined || words !== undefined;
}

interface Selection {
  from: string;
  where: readonly string[];
  search: SearchSql | undefined;
}

function selectionOf({ filter }: PageQuery, search: SearchSql | undefined, scope: SqlScope): Selection {
  const from = search?.from ?? `${resourcesTable(scope.collection.number)} as resource`;
  return { from, where: filter === undefined ? [] : [filterSql(filter, scope)], search };
}

/** Selects the resources of a page without words, in the order of the list, and one more if there is one. */
export function resourcesSql(query: PageQuery, scope: SqlScope): string {
  const selection = selectionOf(query, undefined, scope);
  return rangesSql(query, selection, { terms: termsOf(query, selection), scope });
}

function countSql({ from, where }: Selection): string {
  return `(select count(*) from ${from} where ${all(where)})`;
}

/** The resources of the page with their places, up to the limit of bytes, but at least one. */
function pageSql(query: PageQuery, selection: Selection, scope: SqlScope): string {
  const terms = termsOf(query, selection);
  const order = terms.map(({ descending }, n) => ({ sql: `term_${n}`, descending }));
  return `select key, version, updated_at, doc::text as text, checksum, found, place
    from (select key, version, updated_at, doc, checksum, size, count(*) over () as found, row_number() over listed as place,
        sum(size) over (listed rows unbounded preceding) as running
      from (${rangesSql(query, selection, { terms, scope })}) as candidate
      window listed as (order by range_number, ${orderSql(order)})) as measured
    where running <= ${maxPageBytes} or place = 1`;
}

function termsOf({ sort = [], filter }: PageQuery, { search }: Selection): readonly OrderTerm[] {
  const isRanked = search !== undefined && sort.length === 0;
  return [...(isRanked ? [{ sql: search.score, descending: true }] : []), ...orderTerms(sort, filter)];
}

/** The ranges of the page. Each has at most as many resources as the page. */
function rangesSql(
  { limit, offset = 0, after, sort = [] }: PageQuery,
  { from, where }: Selection,
  { terms, scope }: { terms: readonly OrderTerm[]; scope: SqlScope },
): string {
  const columns = terms.map(({ sql }, n) => `${sql} as term_${n}`).join(", ");
  const ranges = after === undefined ? ["true"] : rangesAfter(after, sort, scope);
  const selects = ranges.map(
    (
      range,
      n,
    ) => `(select resource.key, version, updated_at, doc, checksum, size, ${n} as range_number, ${columns}
      from ${from} where ${all([...where, range])}
      order by ${orderSql(terms)} limit ${limit + 1} offset ${offset})`,
  );
  if (selects.length === 1) return String(selects[0]);
  const order = terms.map(({ descending }, n) => ({ sql: `term_${n}`, descending }));
  return `select * from (${selects.join(" union all ")}) as candidate
    order by range_number, ${orderSql(order)} limit ${limit + 1}`;
}

function all(terms: readonly string[]): string {
  return terms.length === 0 ? "true" : terms.join(" and ");
}

/**
 * The page from its rows. The first row always has the head of the collection, and the first resource if the page has
 * any.
 */
export function toPage(
  collection: NumberedCollection,
  query: PageQuery,
  rows: readonly Row[],
): ReadPage | "redeclared" {
  const [first] = rows;
  if (first === undefined) return "redeclared";
  const [sequence, count, declared, isComplete, counted, state = null, found] = first;
  if (Number(declared) !== collection.declared) return "redeclared";
  if (query.words !== undefined && isComplete !== "t") throw wordsIncomplete();
  const items = rows.filter((row) => row[7] !== null).map((row) => toStored(collection, row.slice(7)));
  const more = Number(found ?? 0) > items.length || items.length > query.limit;
  if (items.length > query.limit) items.pop();
  const total = isNarrowed(query) ? (counted === null ? undefined : Number(counted)) : Number(count);
  return { page: { items, more, total, sequence: Number(sequence) }, state };
}

/** The search words of the collection are not complete. */
export function wordsIncomplete(): Problem {
  return new Problem("UNAVAILABLE", "The search index of the collection is not complete yet. Try again.");
}
