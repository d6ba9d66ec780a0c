/**
 * The one statement that gives a page: its resources, and the head of the collection in the same snapshot. Beyond a
 * position, each range is a part of its own that an index gives in order; one condition for all would be a scan.
 */
import { wordsVersion } from "../../../query/words.ts";
import { type ListQuery, maxPageBytes } from "../../page.ts";
import type { Statement } from "../connection/connections.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { resourcesTable } from "../tables/tables.ts";
import { filterSql } from "./conditions.ts";
import { type OrderTerm, orderSql, orderTerms, rangesAfter } from "./order.ts";
import type { Scope } from "./parameters.ts";
import { type SearchSql, searchSql } from "./search.ts";

/** A list of a collection that is known. */
export type PageQuery = Omit<ListQuery, "collection" | "signal">;

/**
 * Gives a page. The columns: sequence, count, state of the declaration, whether the search words are complete and of this version, total, how
 * many resources were found (one more than the limit at most), and of each resource that fits: key, version, time, text.
 */
export function selectPage(collection: NumberedCollection, query: PageQuery): Statement {
  const { number, idKind, indexes } = collection;
  const { filter, words = [] } = query;
  const scope: Scope = { idKind, indexes, values: [] };
  const search = words.length === 0 ? undefined : searchSql(number, words, scope);
  const where = filter === undefined ? [] : [filterSql(filter, scope)];
  const source = { from: search?.from ?? `${resourcesTable(number)} as resource`, where, search };
  const total = query.count === true && isNarrowed(query) ? countSql(source) : "null::bigint";
  const page = pageSql(query, source, scope);
  const sql = `${search?.with ?? ""}
    select head.sequence, head.count, head.declared, ${hasWords}, ${total},
      page.found, page.key, page.version, page.updated_at, page.text
    from holdfast_heads as head left join (${page}) as page on true
    where head.number = ${number} order by page.place`;
  return { sql, values: scope.values };
}

/** Another version of the program may have split the texts of an older store. */
const hasWords = `head.gathered_to is null and head.words_version = '${wordsVersion}'`;

/** Whether the list may have fewer resources than its collection. */
export function isNarrowed({ filter, words }: PageQuery): boolean {
  return filter !== undefined || words !== undefined;
}

interface Source {
  from: string;
  where: readonly string[];
  search: SearchSql | undefined;
}

function countSql({ from, where }: Source): string {
  return `(select count(*) from ${from} where ${all(where)})`;
}

/** The resources of the page with their places, as far as their text is not too much; but at least one. */
function pageSql(query: PageQuery, source: Source, scope: Scope): string {
  const terms = termsOf(query, source);
  const order = terms.map(({ descending }, n) => ({ sql: `term_${n}`, descending }));
  return `select key, version, updated_at, doc::text as text, found, place
    from (select key, version, updated_at, doc, size, count(*) over () as found, row_number() over listed as place,
        sum(size) over (listed rows unbounded preceding) as running
      from (${partsSql(query, source, { terms, scope })}) as part
      window listed as (order by part, ${orderSql(order)})) as measured
    where running <= ${maxPageBytes} or place = 1`;
}

function termsOf({ sort = [] }: PageQuery, { search }: Source): readonly OrderTerm[] {
  const isRanked = search !== undefined && sort.length === 0;
  return [...(isRanked ? [{ sql: search.score, descending: true }] : []), ...orderTerms(sort)];
}

/** The parts of the page, each as long as the page at most. */
function partsSql(
  { limit, offset = 0, after, sort = [] }: PageQuery,
  { from, where }: Source,
  { terms, scope }: { terms: readonly OrderTerm[]; scope: Scope },
): string {
  const columns = terms.map(({ sql }, n) => `${sql} as term_${n}`).join(", ");
  const ranges = after === undefined ? ["true"] : rangesAfter(after, sort, scope);
  const parts = ranges.map(
    (range, n) => `(select resource.key, version, updated_at, doc, size, ${n} as part, ${columns}
      from ${from} where ${all([...where, range])}
      order by ${orderSql(terms)} limit ${limit + 1} offset ${offset})`,
  );
  if (parts.length === 1) return String(parts[0]);
  const order = terms.map(({ descending }, n) => ({ sql: `term_${n}`, descending }));
  return `select * from (${parts.join(" union all ")}) as parts
    order by part, ${orderSql(order)} limit ${limit + 1}`;
}

function all(terms: readonly string[]): string {
  return terms.length === 0 ? "true" : terms.join(" and ");
}
