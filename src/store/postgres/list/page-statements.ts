/**
 * The statements that read a page, or the resources that refer to others. Each also reads the head of the collection from the same
 * snapshot.
 */
import { idIn } from "../../../collection/ids.ts";
import { wordsVersion } from "../../../query/search-words.ts";
import { hasRelatedKeys } from "../../../query/sort.ts";
import type { Scan } from "../../core/access-path.ts";
import {
  bind,
  exactScan,
  keyTerm,
  listSql,
  orderedSql,
  orderSql,
  positionOf,
  referringSql,
  type Scope,
  type SearchSql,
  searchOf,
} from "../../core/list-sql.ts";
import {
  type GroupsQuery,
  isNarrowed,
  type PageQuery,
  type ReferringRow,
  referringScans,
  toGroups,
} from "../../core/related.ts";
import { wordsIncomplete } from "../../core/search-index.ts";
import { toPlace } from "../../port/log-place.ts";
import { maxPageBytes, type Page, type ReferringGroups } from "../../port/page.ts";
import type { Row, Statement } from "../connection/connections.ts";
import { toStored } from "../read/reads.ts";
import { type NumberedCollection, requireDeclared } from "../tables/declared-catalogue.ts";
import { keyText } from "../tables/key-column.ts";
import { resourcesTable } from "../tables/tables.ts";
import { scopeOf } from "./postgres-lists.ts";

/**
 * The state of a collection, as an SQL expression about its head. Two reads with equal states see the same resources: every
 * change of a resource raises the sequence. After a failover, the new server may lack the last changes and give their
 * numbers to others, but it did not start at the same microsecond. A server that does not flush commits can also lose
 * changes without a new start, so the state is null there.
 */
export const stateSql = `(head.sequence::text || ' ' || head.declared::text ||
  (select ' ' || pg_postmaster_start_time()::text where current_setting('synchronous_commit') <> 'off'))`;

/** A page, and the state of its collection in the snapshot of its read; null if the state is unknown. */
export interface ReadPage {
  page: Page;
  state: string | null;
}

/**
 * Reads a page. The columns of the head: sequence, count, number of the declaration, whether the search words are
 * complete and of this version, total, and the state (`stateSql`). Then how many resources were found (at most one more than
 * the limit), and for each resource that fits: key, version, time and text.
 */
export function selectPage(collection: NumberedCollection, query: PageQuery): Statement {
  const { number } = collection;
  const scope = scopeOf(collection, query.related);
  const search = searchOf(query, scope);
  const total =
    query.count === true && isNarrowed(query)
      ? `(select count(*) ${sourceSql(query, search, scope)})`
      : "null::bigint";
  const selection = selectionOf(query, search, scope);
  const columns = (table = "") => selection.position.map((each) => `, ${table}${each}`).join("");
  const page = pageSql(selection, columns());
  const sql = `${search?.with ?? ""}
    select head.sequence, head.count, ${declaredSql(scope)}, ${areWordsComplete}, ${total},
      ${stateSql}, page.found, page.key, page.version, page.updated_at, page.text, page.checksum${columns("page.")}
    from holdfast_heads as head left join (${page}) as page on true
    where head.number = ${number} order by page.place`;
  return { sql, values: scope.values };
}

/** Another version of the program may have split the texts of an older store into other words. */
export const areWordsComplete = `head.words_version = '${wordsVersion}'`;

/**
 * The number of the declaration, in a statement about the head of a collection. Null if the declaration of a related collection
 * has changed, because the statement can then use indexes that no longer exist.
 */
export function declaredSql({ related }: Scope): string {
  const others = Object.values(related).filter((each) => each !== undefined) as NumberedCollection[];
  if (others.length === 0) return "head.declared";
  const changed = others.map(({ number, declared }) => `number = ${number} and declared <> ${declared}`);
  return `case when not exists (select 1 from holdfast_heads where ${changed.join(" or ")}) then head.declared end`;
}

/** The `from` and `where` clauses for all resources of a list. */
export function sourceSql(
  query: Pick<PageQuery, "filter" | "words">,
  search: SearchSql | undefined,
  scope: Scope,
): string {
  const { from, where } = listSql(query, search, scope);
  return `from ${from} where ${where}`;
}

/** Selects the resources of a page without words, in the order of the list, and one more if there is one. */
export function resourcesSql(query: PageQuery, scope: Scope): string {
  return selectionOf(query, undefined, scope).sql;
}

/** The resources of a page, and the columns that sort them. */
interface Selection {
  sql: string;
  order: string;
  /** The columns that give the position of a resource (`positionOf`), if related resources sort the list. */
  position: readonly string[];
}

function selectionOf(query: PageQuery, search: SearchSql | undefined, scope: Scope): Selection {
  const { limit, offset = 0 } = query;
  const exact = exactScan(query, scope);
  if (exact !== undefined) return rangePage(exact, query, scope);
  const { from, where, terms } = orderedSql(query, search, scope);
  const columns = terms.map(({ sql }, n) => `${sql} as term_${n}`).join(", ");
  return {
    sql: `select resource.key, version, updated_at, doc, checksum, size, ${columns} from ${from}
      where ${where}
      order by ${orderSql(terms)} limit ${limit + 1} offset ${offset}`,
    order: orderSql(terms.map(({ descending }, n) => ({ sql: `term_${n}`, descending }))),
    position: hasRelatedKeys(query.sort) ? terms.slice(0, -1).map((_, n) => `term_${n}`) : [],
  };
}

/**
 * The page that is a range of an index. The inner query reads resources from the start of the range, up to the limit. The outer
 * query removes those after the end. If one condition had both bounds, the database could read the whole range and sort it.
 */
function rangePage(scan: Scan, { limit, offset = 0 }: PageQuery, scope: Scope): Selection {
  const { range, isBackward } = scan;
  const { sql: key } = keyTerm(scan, scope);
  const [low, high] = [range.low, range.high].map((end) => bind(scope, keyText(end), "bytea"));
  const order = (sql: string) => orderSql([{ sql, descending: isBackward }]);
  const [start, end] = isBackward ? [`< ${high}`, `> ${low}`] : [`> ${low}`, `< ${high}`];
  return {
    sql: `select * from (select resource.key, version, updated_at, doc, checksum, size, ${key} as term_0
        from ${resourcesTable(scope.collection.number)} as resource where ${key} ${start}
        order by ${order(key)} limit ${limit + 1} offset ${offset}) as resource where term_0 ${end}`,
    order: order("term_0"),
    position: [],
  };
}

/** The resources of the page with their places, up to the limit of bytes, but at least one. */
function pageSql({ sql, order }: Selection, columns: string): string {
  return `select key, version, updated_at, doc::text as text, checksum, found, place${columns}
    from (select key, version, updated_at, doc, checksum, size${columns}, count(*) over () as found, row_number() over listed as place,
        sum(size) over (listed rows unbounded preceding) as running
      from (${sql}) as candidate
      window listed as (order by ${order})) as measured
    where running <= ${maxPageBytes} or place = 1`;
}

/**
 * The page from its rows. The first row always has the head of the collection, and the first resource if the page has any. Throws
 * Redeclared, and UNAVAILABLE while the search words are incomplete.
 */
export function toPage(collection: NumberedCollection, query: PageQuery, rows: readonly Row[]): ReadPage {
  const [sequence, count, declared, isComplete, counted, state = null, foundCount] = rows[0] ?? [];
  requireDeclared(collection, declared);
  if (query.words !== undefined && isComplete !== "t") throw wordsIncomplete();
  const found = rows.filter((row) => row[7] !== null);
  const items = found.map((row) => toStored(collection, row.slice(7)));
  const more = Number(foundCount ?? 0) > items.length || items.length > query.limit;
  if (items.length > query.limit) items.pop();
  const total = isNarrowed(query) ? (counted === null ? undefined : Number(counted)) : Number(count);
  const page = { items, more, total, sequence: toPlace(Number(sequence)) };
  if (!hasRelatedKeys(query.sort)) return { page, state };
  const positions = items.map(({ id }, n) =>
    positionOf(query, found[n]?.slice(12) ?? [], idIn(collection.idKind, id)),
  );
  return { page: { ...page, positions }, state };
}

/** Whether the statement reads little more than the resources of its result. */
export function isQuickReferring(collection: NumberedCollection, query: GroupsQuery): boolean {
  const { sort = [], filter } = query;
  return (sort.length === 0 && filter === undefined) || referringScans(query, collection) !== undefined;
}

/**
 * Reads up to `limit` + 1 resources for each id. The columns: the number of the declaration, the place of the id from 1, key,
 * version, time, and the text, which is null if it does not fit into the result. Without resources, it has one row.
 */
export function selectReferring(collection: NumberedCollection, query: GroupsQuery): Statement {
  const { number } = collection;
  const { limit } = query;
  const scope = scopeOf(collection, query.related);
  const { parents, from, where, terms, end } = groupsOf(collection, query, scope);
  const columns = terms.map(({ sql }, n) => `${sql} as term_${n}`).join(", ");
  const order = orderSql(terms.map(({ descending }, n) => ({ sql: `term_${n}`, descending })));
  const page = `select place, key, version, updated_at, n,
      case when running <= ${maxPageBytes} or position = 1 then doc::text end as text, checksum
    from (select *, row_number() over listed as position,
        sum(case when n > ${limit} then 0 else size end) over (listed rows unbounded preceding) as running
      from (select parent.place, found.*, row_number() over (partition by parent.place order by ${order}) as n
        from ${parents}
        cross join lateral (select resource.key, version, updated_at, doc, checksum, size, ${columns}
          from ${from} where ${where}
          order by ${orderSql(terms)} limit ${limit + 1}) as found where ${end}) as candidate
      window listed as (order by place, n)) as measured`;
  const sql = `select head.declared, page.place, page.key, page.version, page.updated_at, page.text, page.checksum
    from holdfast_heads as head left join (${page}) as page on true
    where head.number = ${number} order by page.place, page.n`;
  return { sql, values: scope.values };
}

/** The ids, and the resources that refer to each of them: by a range of an index, or by the table of references. */
function groupsOf(collection: NumberedCollection, query: GroupsQuery, scope: Scope) {
  const scans = referringScans(query, collection);
  if (scans === undefined) {
    const parents = `unnest(${bind(scope, query.ids, "text[]")}) with ordinality as parent (value, place)`;
    return { parents, ...referringSql(query, scope), end: "true" };
  }
  const ends = (["low", "high"] as const).map((end) => scans.map(({ range }) => keyText(range[end])));
  const term = keyTerm(scans[0], scope);
  return {
    parents: `unnest(${ends.map((each) => bind(scope, each, "bytea[]")).join(", ")})
      with ordinality as parent (low, high, place)`,
    from: `${resourcesTable(collection.number)} as resource`,
    where: `${term.sql} ${term.descending ? "< parent.high" : "> parent.low"}`,
    terms: [term],
    end: `term_0 ${term.descending ? "> parent.low" : "< parent.high"}`, // as in a page of a range
  };
}

/** The groups from the rows of the statement. Throws Redeclared. */
export function toReferring(
  collection: NumberedCollection,
  { ids, limit }: GroupsQuery,
  rows: readonly Row[],
): ReferringGroups {
  requireDeclared(collection, rows[0]?.[0]);
  return toGroups(rowsOf(collection, rows), ids.length, limit);
}

function* rowsOf(collection: NumberedCollection, rows: readonly Row[]): Generator<ReferringRow> {
  for (const [, place, ...row] of rows.filter(([, place]) => place !== null))
    yield { place: Number(place) - 1, resource: row[3] === null ? undefined : toStored(collection, row) };
}
