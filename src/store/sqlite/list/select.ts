/** The SQL statements for a list. */
import type { SQLInputValue } from "node:sqlite";
import { formatPath } from "../../../collection/paths.ts";
import type { ListQuery } from "../../page.ts";
import { type AccessPath, accessPathOf, remainderOf } from "../../serving.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { quoteName, resourcesTable } from "../file/tables.ts";
import { indexName } from "./columns.ts";
import { filterSql } from "./conditions.ts";
import { type OrderColumn, orderColumns, orderSql, rangesAfter } from "./order.ts";
import { type SearchSql, searchSql } from "./search.ts";

/** A query for a page of a given collection. */
export type PageQuery = Omit<ListQuery, "collection" | "signal">;

/** A statement and its values. */
export interface Statement {
  sql: string;
  values: readonly SQLInputValue[];
}

/** The statements for a page, in order. Each needs two more values at the end: a limit, and then an offset. */
export interface Selection {
  statements: readonly Statement[];
  offset: number;
}

/** The SQL function that a query thread calls for each resource, so that it can interrupt the statement. */
export const interruptFunction = "holdfast_interrupt";

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
): readonly Statement[] {
  const { filter, ...others } = query;
  const remainder = remainderOf(filter, query.sort, query.after);
  const isRanged = ({ path }: OrderColumn) => path !== undefined && formatPath(path) === remainder.ranged;
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
): Statement {
  const accessPath = accessPathOf(query, collection.indexes);
  const isInterruptible = max === undefined;
  const { from, where, values } = sourceSql(collection, query, { isInterruptible, accessPath });
  const search = query.filter === undefined ? searchOf(collection, query) : undefined;
  const rest = `from ${search?.table ?? from} where ${where}`;
  if (max === undefined) return { sql: `select count(*) ${rest}`, values };
  return { sql: `select count(*) from (select 1 ${rest} limit ${max + 1})`, values };
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
): Statement {
  const { from, where, values } = sourceSql(collection, query, options);
  const { maxBytes } = options;
  const text = maxBytes === undefined ? "doc" : "iif(octet_length(doc) <= ?, doc, null)";
  const sql = `select id, version, updated_at, ${text} from ${from} where ${where}
    order by ${orderSql(options.order)} limit ? offset ?`;
  return { sql, values: maxBytes === undefined ? values : [maxBytes, ...values] };
}

/** The `from` and `where` clauses. */
function sourceSql(
  collection: NumberedCollection,
  query: PageQuery,
  options: SourceOptions,
): { from: string; where: string; values: readonly SQLInputValue[] } {
  const { number, indexes } = collection;
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
  if (query.filter !== undefined) terms.push(filterSql(query.filter, { indexes, values }));
  if (options.where !== undefined) terms.push(options.where);
  const where = terms.length === 0 ? "1" : terms.join(" and ");
  const from = search?.from ?? `${resourcesTable(number)}${hint}`;
  return { from, where, values: [...values, ...(options.values ?? [])] };
}

function either(ranges: readonly { where: string }[]): string {
  return ranges.length === 0 ? "0" : `(${ranges.map(({ where }) => `(${where})`).join(" or ")})`;
}
