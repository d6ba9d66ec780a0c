/** From a list that is asked for to the statements that give it. */
import type { SQLInputValue } from "node:sqlite";
import { formatPath } from "../../../collection/paths.ts";
import type { ListQuery } from "../../page.ts";
import { remainderOf, type Serving, servingOf } from "../../serving.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { quoteName, resourcesTable } from "../file/tables.ts";
import { indexName } from "./columns.ts";
import { filterSql } from "./conditions.ts";
import { type OrderColumn, orderColumns, orderSql, rangesAfter } from "./order.ts";
import { type SearchSql, searchSql } from "./search.ts";

/** A list of a collection that is known. */
export type PageQuery = Omit<ListQuery, "collection" | "signal">;

/** A statement and its values. */
export interface Statement {
  sql: string;
  values: readonly SQLInputValue[];
}

/** The statements that give a page, one after the other; to the values of each belongs a limit, and then an offset. */
export interface Selection {
  statements: readonly Statement[];
  offset: number;
}

/** The function that a reading thread calls for each resource that it looks at, so that it can end the work. */
export const watchFunction = "holdfast_goes_on";

/** How resources are read. */
export interface Manner {
  /** Every resource that is looked at passes the watch function first. */
  isWatched: boolean;
  /** A resource whose text has more bytes comes without it. */
  maxBytes?: number;
}

/** What gives the page. */
export function selectPage(collection: NumberedCollection, query: PageQuery, manner: Manner): Selection {
  const { after, sort = [], offset = 0 } = query;
  const { indexes } = collection;
  const serving = servingOf(query, indexes);
  const whole = { ...manner, serving };
  if (after === undefined) {
    const order = [...rankOf(collection, query), ...orderColumns(sort, indexes)];
    return { statements: [selectResources(collection, query, { ...whole, order })], offset };
  }
  // Where each range comes in order, they are read one by one until the page is full: an OR would be a scan.
  if (serving?.kind === "index")
    return { statements: selectBeyond(collection, { ...query, sort, after }, whole), offset: 0 };
  const ranges = rangesAfter(after, sort, indexes);
  const parts =
    serving === undefined
      ? [
          {
            where: either(ranges),
            values: ranges.flatMap(({ values }) => values),
            order: orderColumns(sort, indexes),
          },
        ]
      : ranges;
  return {
    statements: parts.map((part) => selectResources(collection, query, { ...whole, ...part })),
    offset: 0,
  };
}

/** What an index gives beyond a position. */
function selectBeyond(
  collection: NumberedCollection,
  query: PageQuery & Required<Pick<PageQuery, "sort" | "after">>,
  whole: Part,
): readonly Statement[] {
  const { filter, ...others } = query;
  const left = remainderOf(filter, query.sort, query.after);
  const isOfRange = ({ path }: OrderColumn) => path !== undefined && formatPath(path) === left.ranged;
  const ranges = rangesAfter(left.after, left.sort, collection.indexes);
  return ranges.flatMap((range) => {
    if (!isOfRange(range.beyond)) return selectResources(collection, query, { ...whole, ...range });
    if (range.beyond.part === "rank") return [];
    const ahead = left.filter === undefined ? others : { ...others, filter: left.filter };
    return selectResources(collection, ahead, { ...whole, ...range });
  });
}

/** What puts those first that match best, where nothing else is asked for. */
function rankOf(collection: NumberedCollection, query: PageQuery): readonly OrderColumn[] {
  const search = searchOf(collection, query);
  const isRanked = search !== undefined && (query.sort ?? []).length === 0;
  return isRanked ? [{ sql: search.order, descending: false }] : [];
}

function searchOf({ number }: NumberedCollection, { words = [] }: PageQuery): SearchSql | undefined {
  return words.length === 0 ? undefined : searchSql(number, words);
}

/** What counts all resources of the list: watched, or one more than `most` at most. */
export function selectCount(
  collection: NumberedCollection,
  query: PageQuery,
  most: number | undefined,
): Statement {
  const serving = servingOf(query, collection.indexes);
  const { from, where, values } = source(collection, query, { isWatched: most === undefined, serving });
  const search = query.filter === undefined ? searchOf(collection, query) : undefined;
  const rest = `from ${search?.table ?? from} where ${where}`;
  if (most === undefined) return { sql: `select count(*) ${rest}`, values };
  return { sql: `select count(*) from (select 1 ${rest} limit ${most + 1})`, values };
}

interface Part extends Manner {
  serving: Serving;
  where?: string;
  values?: readonly SQLInputValue[];
}

function selectResources(
  collection: NumberedCollection,
  query: PageQuery,
  part: Part & { order: readonly OrderColumn[] },
): Statement {
  const { from, where, values } = source(collection, query, part);
  const { maxBytes } = part;
  const text = maxBytes === undefined ? "doc" : "iif(octet_length(doc) <= ?, doc, null)";
  const sql = `select id, version, updated_at, ${text} from ${from} where ${where}
    order by ${orderSql(part.order)} limit ? offset ?`;
  return { sql, values: maxBytes === undefined ? values : [maxBytes, ...values] };
}

/** The table and what must be true of a resource. */
function source(
  collection: NumberedCollection,
  query: PageQuery,
  part: Part,
): { from: string; where: string; values: readonly SQLInputValue[] } {
  const { number, indexes } = collection;
  const { serving } = part;
  const search = searchOf(collection, query);
  const hint = serving?.kind === "index" ? ` indexed by ${quoteName(indexName(number, serving.index))}` : "";
  const values: SQLInputValue[] = [];
  // The watch comes first, or SQLite may never call it.
  const terms = part.isWatched ? [`${watchFunction}()`] : [];
  if (search !== undefined) {
    terms.push(search.where);
    values.push(search.pattern);
  }
  if (query.filter !== undefined) terms.push(filterSql(query.filter, { indexes, values }));
  if (part.where !== undefined) terms.push(part.where);
  const where = terms.length === 0 ? "1" : terms.join(" and ");
  const from = search?.from ?? `${resourcesTable(number)}${hint}`;
  return { from, where, values: [...values, ...(part.values ?? [])] };
}

function either(ranges: readonly { where: string }[]): string {
  return ranges.length === 0 ? "0" : `(${ranges.map(({ where }) => `(${where})`).join(" or ")})`;
}
