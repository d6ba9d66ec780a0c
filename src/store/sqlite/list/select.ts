/** The SQL statements for a list. */
import type { SQLInputValue } from "node:sqlite";
import { type Index, nameOfKey } from "../../../collection/indexes.ts";
import { formatPath, type Path } from "../../../collection/paths.ts";
import { type AccessPath, accessPathOf, remainderOf } from "../../core/access-path.ts";
import { indexFor } from "../../core/referring.ts";
import type { PageQuery, RelatedPart } from "../../core/related.ts";
import type { ReferringQuery } from "../../port/page.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { quoteName, refersTable, resourcesTable } from "../file/tables.ts";
import { columnOf, indexName, quoteText, ranks } from "./columns.ts";
import { filterSql, interruptFunction, type SqlScope } from "./conditions.ts";
import { type OrderColumn, orderColumns, orderSql, rangesAfter } from "./order.ts";
import { type SearchSql, searchSql } from "./search.ts";

/** A statement and its values. */
export interface SelectStatement {
  sql: string;
  values: readonly SQLInputValue[];
}

/** The statements for a page, in order. Each needs two more values at the end: a limit, and then an offset. */
export interface Selection {
  statements: readonly SelectStatement[];
  offset: number;
}

/** How statements read resources. */
export interface ReadOptions {
  /** Whether the statements call `interruptFunction` before anything else for each resource. */
  isInterruptible: boolean;
  /** If the text of a resource has more bytes, the statement returns null instead. */
  maxBytes?: number;
}

/** The statements for a page. */
export function selectPage(
  collection: NumberedCollection,
  query: PageQuery,
  options: ReadOptions,
): Selection {
  const { after, sort = [], offset = 0 } = query;
  const { indexes } = collection;
  const accessPath = accessPathOf(query, indexes);
  const source = { ...options, accessPath };
  if (after === undefined) {
    const order = [...matchOrder(collection, query), ...orderColumns(sort, indexes)];
    return { statements: [selectResources(collection, query, { ...source, order })], offset };
  }
  // With an index or by ids, each range is in order. They are read one by one until the page is full. An OR would be a scan.
  if (accessPath?.kind === "index")
    return { statements: selectAfter(collection, { ...query, sort, after }, source), offset: 0 };
  const ranges = rangesAfter(after, sort, indexes);
  const scans =
    accessPath === undefined
      ? [
          {
            where: either(ranges),
            values: ranges.flatMap(({ values }) => values),
            order: orderColumns(sort, indexes),
          },
        ]
      : ranges;
  return {
    statements: scans.map((scan) => selectResources(collection, query, { ...source, ...scan })),
    offset: 0,
  };
}

/** The statements that read an index after a position. */
function selectAfter(
  collection: NumberedCollection,
  query: PageQuery & Required<Pick<PageQuery, "sort" | "after">>,
  source: SourceOptions,
): readonly SelectStatement[] {
  const { filter, ...others } = query;
  const remainder = remainderOf(filter, query.sort, query.after);
  const isRanged = ({ key }: OrderColumn) => key !== undefined && nameOfKey(key) === remainder.ranged;
  const ranges = rangesAfter(remainder.after, remainder.sort, collection.indexes);
  return ranges.flatMap((range) => {
    if (!isRanged(range.boundary)) return selectResources(collection, query, { ...source, ...range });
    if (range.boundary.kind === "rank") return []; // all values in the list have the same type
    const remaining = remainder.filter === undefined ? others : { ...others, filter: remainder.filter };
    return selectResources(collection, remaining, { ...source, ...range });
  });
}

/** The order of a search without a sort: the best matches come first. */
function matchOrder(collection: NumberedCollection, query: PageQuery): readonly OrderColumn[] {
  const search = searchOf(collection, query);
  const isRanked = search !== undefined && (query.sort ?? []).length === 0;
  return isRanked ? [{ sql: search.order, descending: false }] : [];
}

function searchOf({ number }: NumberedCollection, { words = [] }: PageQuery): SearchSql | undefined {
  return words.length === 0 ? undefined : searchSql(number, words);
}

/** The statement that counts the list. It stops at `max` + 1 resources. Without `max`, it is interruptible. */
export function selectCount(
  collection: NumberedCollection,
  query: PageQuery,
  max: number | undefined,
): SelectStatement {
  const accessPath = accessPathOf(query, collection.indexes);
  const isInterruptible = max === undefined;
  const { from, where, values } = sourceSql(collection, query, { isInterruptible, accessPath });
  const search = query.filter === undefined ? searchOf(collection, query) : undefined;
  const rest = `from ${search?.table ?? from} where ${where}`;
  if (max === undefined) return { sql: `select count(*) ${rest}`, values };
  return { sql: `select count(*) from (select 1 ${rest} limit ${max + 1})`, values };
}

/**
 * The `from` and `where` clauses for all resources of a list. They call `interruptFunction` for one of 64 resources,
 * because the call takes as long as reading a value from an index.
 */
export function sourceOf(
  collection: NumberedCollection,
  { filter, words, related }: Pick<PageQuery, "filter" | "words" | "related">,
  index: Index | undefined,
): { from: string; where: string; values: readonly SQLInputValue[] } {
  const query = { limit: 0, ...(filter && { filter }), ...(words && { words }), ...(related && { related }) };
  const accessPath: AccessPath = index && { kind: "index", index };
  const source = sourceSql(collection, query, { isInterruptible: false, accessPath });
  return { ...source, where: `iif(random() & 63, 1, ${interruptFunction}()) and ${source.where}` };
}

/** What a statement reads: the access path, and a condition in addition to the query. */
interface SourceOptions extends ReadOptions {
  accessPath: AccessPath;
  where?: string;
  values?: readonly SQLInputValue[];
}

function selectResources(
  collection: NumberedCollection,
  query: PageQuery,
  options: SourceOptions & { order: readonly OrderColumn[] },
): SelectStatement {
  const { from, where, values } = sourceSql(collection, query, options);
  const { maxBytes } = options;
  const text = maxBytes === undefined ? "doc" : "iif(octet_length(doc) <= ?, doc, null)";
  const sql = `select id, version, updated_at, ${text}, checksum from ${from} where ${where}
    order by ${orderSql(options.order)} limit ? offset ?`;
  return { sql, values: maxBytes === undefined ? values : [maxBytes, ...values] };
}

/** The `from` and `where` clauses. */
function sourceSql(
  collection: NumberedCollection,
  query: PageQuery,
  options: SourceOptions,
): { from: string; where: string; values: readonly SQLInputValue[] } {
  const { number } = collection;
  const { accessPath } = options;
  const search = searchOf(collection, query);
  const hint =
    accessPath?.kind === "index" ? ` indexed by ${quoteName(indexName(number, accessPath.index))}` : "";
  const values: SQLInputValue[] = [];
  // The function must come first. SQLite does not evaluate the terms after one that is false.
  const terms = options.isInterruptible ? [`${interruptFunction}()`] : [];
  if (search !== undefined) {
    terms.push(search.where);
    values.push(search.pattern);
  }
  if (query.filter !== undefined)
    terms.push(
      filterSql(
        query.filter,
        scopeOf(collection, query, { values, isInterruptible: options.isInterruptible }),
      ),
    );
  if (options.where !== undefined) terms.push(options.where);
  const where = terms.length === 0 ? "1" : terms.join(" and ");
  const from = search?.from ?? `${resourcesTable(number)}${hint}`;
  return { from, where, values: [...values, ...(options.values ?? [])] };
}

function scopeOf(
  collection: NumberedCollection,
  { related = {} }: RelatedPart,
  { values, isInterruptible }: Pick<SqlScope, "values" | "isInterruptible">,
): SqlScope {
  const { number, indexes } = collection;
  return { collection, table: resourcesTable(number), indexes, values, related, isInterruptible };
}

/** A query for resources that refer to others, in a given collection. */
export type GroupsQuery = Omit<ReferringQuery, "collection" | "client">;

/**
 * The statement that finds the keys of the resources that refer to each id: an array as JSON for each, with up to `limit` + 1
 * keys in their order.
 */
export function selectReferring(
  collection: NumberedCollection,
  query: GroupsQuery,
  { isInterruptible }: ReadOptions,
): SelectStatement {
  const { number, indexes } = collection;
  const { reference, ids, limit, filter, sort = [] } = query;
  const values: SQLInputValue[] = [];
  const index = indexFor(query, collection);
  const table = resourcesTable(number);
  const links = `${refersTable(number)} as link cross join ${table} on ${table}.key = link.key`;
  const from = index === undefined ? links : `${table} indexed by ${quoteName(indexName(number, index))}`;
  const scope = scopeOf(collection, {}, { values, isInterruptible });
  const terms = [
    ...(isInterruptible ? [`${interruptFunction}()`] : []),
    index === undefined ? linkSql(reference.path) : columnSql(reference, indexes),
    ...(filter === undefined ? [] : [filterSql(filter, scope)]),
  ];
  const order = orderSql(orderColumns(sort, indexes));
  const isNumber = index !== undefined && reference.type === "number";
  return {
    sql: `select (select json_group_array(found) from (
        select ${table}.key as found from ${from} where ${terms.join(" and ")} order by ${order} limit ?))
      from json_each(?) as parent order by parent.key`,
    values: [...values, limit + 1, JSON.stringify(isNumber ? ids.map(Number) : ids)],
  };
}

/** The statement that says whether no id has more than `max` resources that refer to it: 1 or 0. */
export function selectHasFewReferring(
  { number }: NumberedCollection,
  { reference, ids }: GroupsQuery,
  max: number,
): SelectStatement {
  return {
    sql: `select coalesce(max((select count(*) from (
        select 1 from ${refersTable(number)} as link where ${linkSql(reference.path)} limit ?))), 0) <= ?
      from json_each(?) as parent`,
    values: [max + 1, max, JSON.stringify(ids)],
  };
}

function linkSql(path: Path): string {
  return `link.attribute = ${quoteText(formatPath(path))} and link.target = parent.value`;
}

function columnSql({ path, type }: ReferringQuery["reference"], indexes: readonly Index[]): string {
  const { rank, value } = columnOf({ path }, indexes);
  return `${rank} = ${type === "number" ? ranks.number : ranks.string} and ${value} = parent.value`;
}

function either(ranges: readonly { where: string }[]): string {
  return ranges.length === 0 ? "0" : `(${ranges.map(({ where }) => `(${where})`).join(" or ")})`;
}
