/** The statement that reads a page: its resources, and the head of the collection from the same snapshot. It also searches. */
import { Problem } from "../../../errors.ts";
import type { StoreFilter } from "../../../query/filter.ts";
import { wordsVersion } from "../../../query/words.ts";
import { type Scan, scanOf } from "../../core/ranges.ts";
import type { PageQuery } from "../../core/related.ts";
import { withoutImpliedWords } from "../../core/search-index.ts";
import { maxPageBytes } from "../../port/page.ts";
import type { Row, Statement } from "../connection/connections.ts";
import { toStored } from "../read/reads.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { keySql } from "../tables/indexes.ts";
import { resourcesTable, wordsTable } from "../tables/tables.ts";
import {
  afterSql,
  bind,
  boundsSql,
  filterSql,
  orderSql,
  orderTerms,
  rangeSql,
  type SqlScope,
  scopeOf,
} from "./conditions.ts";
import { type ReadPage, stateSql } from "./quick-lists.ts";

/** The parts of a statement that a search adds. */
export interface SearchSql {
  /** The `with` clause: the resources that contain each of the words. */
  with: string;
  /** The `from` clause: the resources that contain all of the words. */
  from: string;
  /** The score of a resource. A better match has a greater score. */
  score: string;
}

/** The parameters of BM25, with SQLite's values. */
const k1 = 1.2;
const b = 0.75;

/** Greater than every character of a word. */
const lastCharacter = "\u{10ffff}";

/**
 * The search for resources that contain, for each of the words, a word that starts with it. Needs at least one word.
 */
export function searchSql(number: number, words: readonly string[], scope: SqlScope): SearchSql {
  const table = wordsTable(number);
  const searched = withoutImpliedWords(words);
  const hits = searched.map((word, n) => {
    const range = `word >= ${bind(scope, word, "text")} and word < ${bind(scope, word + lastCharacter, "text")}`;
    return `hits_${n} as (select key, sum(times)::float8 as times from ${table} where ${range} group by key)`;
  });
  const weights = searched.map(
    (_, n) => `(select greatest(ln((head.count - found + 0.5) / (found + 0.5)), 0.000001)
      from (select count(*)::float8 as found from hits_${n}) as counted)`,
  );
  const state = `words_state as (select ${weights.map((sql, n) => `${sql} as weight_${n}`).join(", ")},
    head.words::float8 / greatest(head.count, 1) as average
    from holdfast_heads as head where head.number = ${number})`;
  const joined = searched.map((_, n) => `join hits_${n} on hits_${n}.key = resource.key`).join(" ");
  const length = `join ${table} as length on length.word = '' and length.key = resource.key`;
  return {
    with: `with ${[...hits, state].join(", ")}`,
    from: `${resourcesTable(number)} as resource ${joined} ${length} cross join words_state`,
    score: searched.map((_, n) => scoreOf(n)).join(" + "),
  };
}

function scoreOf(n: number): string {
  const share = `${1 - b} + ${b} * length.times / words_state.average`;
  const times = `hits_${n}.times`;
  return `weight_${n} * (${times} * ${k1 + 1}) / (${times} + ${k1} * (${share}))`;
}

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
  const total =
    query.count === true && isNarrowed(query)
      ? `(select count(*) ${sourceSql(query, search, scope)})`
      : "null::bigint";
  const page = pageSql(selectionOf(query, search, scope));
  const sql = `${search?.with ?? ""}
    select head.sequence, head.count, ${declaredSql(scope)}, ${areWordsComplete}, ${total},
      ${stateSql}, page.found, page.key, page.version, page.updated_at, page.text, page.checksum
    from holdfast_heads as head left join (${page}) as page on true
    where head.number = ${number} order by page.place`;
  return { sql, values: scope.values };
}

/** Another version of the program may have split the texts of an older store into other words. */
const areWordsComplete = `head.words_version = '${wordsVersion}'`;

/** Whether the list can have fewer resources than its collection. */
export function isNarrowed({ filter, words }: PageQuery): boolean {
  return filter !== undefined || words !== undefined;
}

/**
 * The number of the declaration, in a statement about the head of a collection. Null if the declaration of a related collection
 * has changed, because the statement can then use indexes that no longer exist.
 */
export function declaredSql({ related }: SqlScope): string {
  const others = Object.values(related).filter((each) => each !== undefined) as NumberedCollection[];
  if (others.length === 0) return "head.declared";
  const changed = others.map(({ number, declared }) => `number = ${number} and declared <> ${declared}`);
  return `case when not exists (select 1 from holdfast_heads where ${changed.join(" or ")}) then head.declared end`;
}

/** The `from` and `where` clauses for all resources of a list. */
export function sourceSql(
  { filter, words }: Pick<PageQuery, "filter" | "words">,
  search: SearchSql | undefined,
  scope: SqlScope,
): string {
  const scan = scanOf({ ...(filter && { filter }), ...(words && { words }) }, scope.collection.slots);
  return foundSql({ scan, filter, from: search?.from }, scope);
}

/** The `from` and `where` clauses for the resources of a scan, or of the collection, that match. `more`: another condition. */
function foundSql(
  {
    scan,
    filter,
    from,
    more,
  }: { scan: Scan | undefined; filter: StoreFilter | undefined; from?: string | undefined; more?: string },
  scope: SqlScope,
): string {
  const rest = scan === undefined ? filter : scan.filter;
  const terms = [scan && rangeSql(scan.range, scope), rest && filterSql(rest, scope), more].filter(
    (each) => each !== undefined,
  );
  return `from ${from ?? `${resourcesTable(scope.collection.number)} as resource`}
    where ${terms.length === 0 ? "true" : terms.join(" and ")}`;
}

/** Selects the resources of a page without words, in the order of the list, and one more if there is one. */
export function resourcesSql(query: PageQuery, scope: SqlScope): string {
  return selectionOf(query, undefined, scope).sql;
}

/** The resources of a page, and the columns that sort them. */
interface Selection {
  sql: string;
  order: string;
}

function selectionOf(query: PageQuery, search: SearchSql | undefined, scope: SqlScope): Selection {
  const { limit, offset = 0, after, sort = [], filter } = query;
  const scan = scanOf(query, scope.collection.slots);
  if (scan?.isOrdered && scan.filter === undefined) return rangePage(scan, query, scope);
  const isRanked = search !== undefined && sort.length === 0;
  const terms = scan?.isOrdered
    ? [{ sql: `resource.${keySql(scan.range.slot)}`, descending: scan.isBackward }]
    : [...(isRanked ? [{ sql: search.score, descending: true }] : []), ...orderTerms(sort)];
  const isAfter = after !== undefined && scan?.isOrdered !== true;
  const more = isAfter ? { more: afterSql(after, sort, scope) } : {};
  const columns = terms.map(({ sql }, n) => `${sql} as term_${n}`).join(", ");
  return {
    sql: `select resource.key, version, updated_at, doc, checksum, size, ${columns} ${foundSql({ scan, filter, from: search?.from, ...more }, scope)}
      order by ${orderSql(terms)} limit ${limit + 1} offset ${offset}`,
    order: orderSql(terms.map(({ descending }, n) => ({ sql: `term_${n}`, descending }))),
  };
}

/**
 * The page that is a range of an index. The inner query reads resources from the start of the range, up to the limit. The outer
 * query removes those after the end. If one condition had both bounds, the database could read the whole range and sort it.
 */
function rangePage(
  { range, isBackward }: Scan,
  { limit, offset = 0 }: PageQuery,
  scope: SqlScope,
): Selection {
  const key = `resource.${keySql(range.slot)}`;
  const [low, high] = boundsSql(range, scope);
  const order = (sql: string) => orderSql([{ sql, descending: isBackward }]);
  const [start, end] = isBackward ? [`< ${high}`, `> ${low}`] : [`> ${low}`, `< ${high}`];
  return {
    sql: `select * from (select resource.key, version, updated_at, doc, checksum, size, ${key} as term_0
        from ${resourcesTable(scope.collection.number)} as resource where ${key} ${start}
        order by ${order(key)} limit ${limit + 1} offset ${offset}) as resource where term_0 ${end}`,
    order: order("term_0"),
  };
}

/** The resources of the page with their places, up to the limit of bytes, but at least one. */
function pageSql({ sql, order }: Selection): string {
  return `select key, version, updated_at, doc::text as text, checksum, found, place
    from (select key, version, updated_at, doc, checksum, size, count(*) over () as found, row_number() over listed as place,
        sum(size) over (listed rows unbounded preceding) as running
      from (${sql}) as candidate
      window listed as (order by ${order})) as measured
    where running <= ${maxPageBytes} or place = 1`;
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
