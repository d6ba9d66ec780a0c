/** The SQL statements for a list. */
import type { SQLInputValue } from "node:sqlite";
import type { Index } from "../../../collection/indexes.ts";
import { formatPath, type Path } from "../../../collection/paths.ts";
import { type Range, rangeIn, type Scan, scanOf } from "../../core/ranges.ts";
import { type GroupsQuery, type PageQuery, type RelatedPart, referringScans } from "../../core/related.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { entriesTable, refersTable, resourcesTable } from "../file/tables.ts";
import {
  afterSql,
  filterSql,
  interruptFunction,
  orderColumns,
  orderSql,
  quoteText,
  type SqlScope,
} from "./conditions.ts";
import { type SearchSql, searchSql } from "./search.ts";

/** A statement and its values. */
export interface SelectStatement {
  sql: string;
  values: readonly SQLInputValue[];
}

/** How statements read resources. */
export interface ReadOptions {
  /** Whether the statements call `interruptFunction` before anything else for each resource. */
  isInterruptible: boolean;
  /** If the text of a resource has more bytes, the statement returns null instead. */
  maxBytes?: number;
}

/** The statement for a page. It needs two more values at the end: a limit, and then an offset. */
export function selectPage(
  collection: NumberedCollection,
  query: PageQuery,
  options: ReadOptions,
): SelectStatement {
  const { after, sort = [], filter, offset = 0 } = query;
  const scan = scanOf(query, collection.slots);
  const { maxBytes } = options;
  const text = maxBytes === undefined ? "doc" : "iif(octet_length(doc) <= ?, doc, null)";
  const columns = `id, version, updated_at, ${text}, checksum`;
  const first = maxBytes === undefined ? [] : [maxBytes];
  const order = scan?.isBackward ? "k desc" : "k";
  if (scan?.isOrdered && scan.filter === undefined && offset > 0) {
    // The skipped resources are not read.
    const { where, values } = entriesSql(scan.range, options);
    const { number } = collection;
    const sql = `select ${columns} from (select k, row from ${entriesTable(number)} as entry where ${where}
      order by ${order} limit +? offset +?) as entry cross join ${resourcesTable(number)} on key = entry.row order by ${order}`;
    return { sql, values: [...first, ...values] };
  }
  const isAfter = after !== undefined && scan?.isOrdered !== true;
  const position = isAfter ? afterSql(after, sort) : undefined;
  const source = sourceSql(collection, query, { ...options, scan, filter });
  const where = position === undefined ? source.where : `${source.where} and ${position.where}`;
  const sorted = scan?.isOrdered
    ? `entry.${order}`
    : [...matchOrder(collection, query), orderSql(orderColumns(sort))].join(", ");
  const sql = `select ${columns} from ${source.from} where ${where} order by ${sorted} limit +? offset +?`;
  return { sql, values: [...first, ...source.values, ...(position?.values ?? [])] };
}

/** The condition for the entries of a range. */
function entriesSql(
  { slot, low, high }: Range,
  { isInterruptible }: ReadOptions,
): { where: string; values: readonly SQLInputValue[] } {
  const where = "entry.slot = ? and entry.k > ? and entry.k < ?";
  return {
    where: isInterruptible ? `${interruptFunction}() and ${where}` : where,
    values: [slot, low, high],
  };
}

/** The order of a search without a sort: the best matches come first. */
function matchOrder(collection: NumberedCollection, query: PageQuery): readonly string[] {
  const search = searchOf(collection, query);
  return search !== undefined && (query.sort ?? []).length === 0 ? [search.order] : [];
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
  const isInterruptible = max === undefined;
  const { number, slots } = collection;
  const { filter, words } = query;
  const scan = scanOf({ ...(filter && { filter }), ...(words && { words }) }, slots);
  const search = filter === undefined ? searchOf(collection, query) : undefined;
  const { from, where, values } =
    scan !== undefined && scan.filter === undefined
      ? { from: `${entriesTable(number)} as entry`, ...entriesSql(scan.range, { isInterruptible }) }
      : sourceSql(collection, query, { isInterruptible, scan, filter });
  const rest = `from ${search?.table ?? from} where ${where}`;
  if (max === undefined) return { sql: `select count(*) ${rest}`, values };
  return { sql: `select count(*) from (select 1 ${rest} limit ${max + 1})`, values };
}

/**
 * The `from` and `where` clauses for all resources of a list, or for their entries in a covering index. They call
 * `interruptFunction` for one of 64 resources, because the call takes as long as reading a value.
 */
export function sourceOf(
  collection: NumberedCollection,
  { filter, words, related }: Pick<PageQuery, "filter" | "words" | "related">,
  covering: Index | undefined,
): { from: string; where: string; values: readonly SQLInputValue[] } {
  const query = { limit: 0, ...(words && { words }), ...(related && { related }) };
  const filtered = { ...(filter && { filter }), ...(words && { words }) };
  const options = { isInterruptible: false };
  const slot = collection.slots.find(({ index }) => index === covering);
  const source =
    slot === undefined
      ? sourceSql(collection, query, { ...options, scan: scanOf(filtered, collection.slots), filter })
      : {
          from: `${entriesTable(collection.number)} as entry`,
          ...entriesSql(rangeIn(slot, filter), options),
        };
  return { ...source, where: `iif(random() & 63, 1, ${interruptFunction}()) and ${source.where}` };
}

/** The `from` and `where` clauses for the resources of a scan that match a filter. */
function sourceSql(
  collection: NumberedCollection,
  query: PageQuery,
  { isInterruptible, scan, filter }: ReadOptions & { scan: Scan | undefined; filter: PageQuery["filter"] },
): { from: string; where: string; values: readonly SQLInputValue[] } {
  const { number } = collection;
  const search = searchOf(collection, query);
  const values: SQLInputValue[] = [];
  // The function must come first. SQLite does not evaluate the terms after one that is false.
  const terms = isInterruptible ? [`${interruptFunction}()`] : [];
  if (search !== undefined) {
    terms.push(search.where);
    values.push(search.pattern);
  }
  if (scan !== undefined) {
    const entries = entriesSql(scan.range, { isInterruptible: false });
    terms.push(entries.where);
    values.push(...entries.values);
  }
  const rest = scan === undefined ? filter : scan.filter;
  if (rest !== undefined)
    terms.push(filterSql(rest, scopeOf(collection, query, { values, isInterruptible })));
  const resources = resourcesTable(number);
  const from =
    scan === undefined
      ? (search?.from ?? resources)
      : `${entriesTable(number)} as entry cross join ${resources} on key = entry.row`;
  return { from, where: terms.length === 0 ? "1" : terms.join(" and "), values };
}

function scopeOf(
  collection: NumberedCollection,
  { related = {} }: RelatedPart,
  { values, isInterruptible }: Pick<SqlScope, "values" | "isInterruptible">,
): SqlScope {
  return {
    collection,
    table: resourcesTable(collection.number),
    values,
    related,
    isInterruptible,
  };
}

/**
 * The statement that finds the keys of the resources that refer to each id: an array as JSON for each, with up to `limit` + 1
 * keys in their order.
 */
export function selectReferring(
  collection: NumberedCollection,
  query: GroupsQuery,
  { isInterruptible }: ReadOptions,
): SelectStatement {
  const { number } = collection;
  const { reference, ids, limit, filter, sort = [] } = query;
  const interrupt = isInterruptible ? [`${interruptFunction}()`] : [];
  const each = (keys: string) => `select (select json_group_array(found) from (${keys} limit +?))
      from json_each(?) as parent order by parent.key`;
  const scans = referringScans(query, collection);
  if (scans !== undefined) {
    const [{ range, isBackward }] = scans;
    const where = "slot = ? and k > unhex(parent.value ->> 0) and k < unhex(parent.value ->> 1)";
    const bounds = scans.map(({ range: { low, high } }) => [low.toString("hex"), high.toString("hex")]);
    return {
      sql: each(
        `select row as found from ${entriesTable(number)} where ${[...interrupt, where].join(" and ")} order by k${isBackward ? " desc" : ""}`,
      ),
      values: [range.slot, limit + 1, JSON.stringify(bounds)],
    };
  }
  const values: SQLInputValue[] = [];
  const table = resourcesTable(number);
  const from = `${refersTable(number)} as link cross join ${table} on ${table}.key = link.key`;
  const scope = scopeOf(collection, {}, { values, isInterruptible });
  const terms = [
    ...interrupt,
    linkSql(reference.path),
    ...(filter === undefined ? [] : [filterSql(filter, scope)]),
  ];
  const order = orderSql(orderColumns(sort));
  return {
    sql: each(`select ${table}.key as found from ${from} where ${terms.join(" and ")} order by ${order}`),
    values: [...values, limit + 1, JSON.stringify(ids)],
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
        select 1 from ${refersTable(number)} as link where ${linkSql(reference.path)} limit +?))), 0) <= ?
      from json_each(?) as parent`,
    values: [max + 1, max, JSON.stringify(ids)],
  };
}

function linkSql(path: Path): string {
  return `link.attribute = ${quoteText(formatPath(path))} and link.target = parent.value`;
}
