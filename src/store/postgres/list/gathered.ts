/**
 * One statement for several lists that differ only in their values, such as the latest articles of several authors. The
 * database starts it once for all of them, and returns one row for each list, which costs both sides less than a row for
 * each resource.
 */

import type { PageQuery } from "../../core/related.ts";
import { maxPageBytes } from "../../port/page.ts";
import type { Row, Statement } from "../connection/connections.ts";
import { toStored } from "../read/reads.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { type ReadPage, stateSql } from "./hot-pages.ts";
import { isNarrowed, resourcesSql } from "./page.ts";
import { type ParameterType, scopeOf } from "./parameters.ts";

/** A list without words. Lists with the same `form` can share a statement. */
export interface FormedList {
  collection: NumberedCollection;
  query: PageQuery;
  /** The SQL of the resources of the page. It contains the columns of `asked` instead of values. */
  form: string;
  types: readonly ParameterType[];
  values: readonly unknown[];
}

/** How many resources one statement looks for, unless a single list looks for more. */
const maxResources = 400;

/** Text that one statement reads, in bytes. */
const maxBytes = 4 * maxPageBytes;

/** The list with its form. */
export function formOf(collection: NumberedCollection, query: PageQuery): FormedList {
  const scope = scopeOf(collection, undefined, (place) => `asked.value_${place}`);
  const form = resourcesSql(query, scope);
  return { collection, query, form, types: scope.types, values: scope.values };
}

/** How many lists of this form can share a statement. */
export function mostTogether({ query }: FormedList): number {
  return Math.max(1, Math.floor(maxResources / (query.limit + 1)));
}

/** The largest text of a resource that the statement reads, in bytes. With such texts, every page is complete. */
function maxSize(lists: readonly FormedList[]): number {
  const limit = lists[0]?.query.limit ?? 0;
  return Math.floor(Math.min(maxPageBytes, maxBytes / lists.length) / (limit + 1));
}

/**
 * Reads the pages of lists of one form. The columns: the place of the list from 0; sequence, count and number of the
 * declaration from the head of the collection, and its state (`stateSql`); how many resources were found, and the size of
 * the largest; their versions, times, checksums and keys, and their texts, in lines.
 *
 * The values come from a function whose result has an unknown number of rows. So the database does not make a new plan
 * for each number of lists.
 */
export function selectTogether(lists: readonly FormedList[]): Statement {
  const [{ collection, form, types }] = lists as [FormedList];
  const columns = ["place integer", ...types.map((type, n) => `value_${n + 1} ${type}`)];
  const asked = lists.map(({ values }, place) => ({
    place,
    ...Object.fromEntries(values.map((value, n) => [`value_${n + 1}`, value])),
  }));
  return {
    sql: `with state as materialized (select head.sequence, head.count, head.declared, ${stateSql} as text
        from holdfast_heads as head where head.number = ${collection.number})
      select asked.place, state.*, page.*
      from state cross join json_to_recordset($1::json) as asked(${columns.join(", ")})
      cross join lateral (
        select count(*), max(size), string_agg(concat(version, ' ', updated_at, ' ', checksum, ' ', key), E'\\n'),
          string_agg(doc::text, E'\\n') filter (where size <= $2::bigint)
        from (${form}) as found) as page`,
    values: [JSON.stringify(asked), maxSize(lists)],
    isRepeated: true,
  };
}

/**
 * The pages of the lists, in their order; `apart` for a page that only a statement of its own can read, because its texts
 * are large or contain line breaks.
 */
export function toPages(
  lists: readonly FormedList[],
  rows: readonly Row[],
): readonly (ReadPage | "redeclared" | "apart")[] {
  const byPlace = new Map(rows.map(([place, ...row]) => [Number(place), row]));
  const size = maxSize(lists);
  return lists.map((list, place) => {
    const row = byPlace.get(place);
    return row === undefined ? "redeclared" : toPage(list, row, size); // no row, no head
  });
}

function toPage(
  { collection, query }: FormedList,
  [sequence, count, declared, state = null, found, largest, heads, texts]: Row,
  size: number,
): ReadPage | "redeclared" | "apart" {
  if (Number(declared) !== collection.declared) return "redeclared";
  const lines = { heads: linesOf(heads), texts: linesOf(texts) };
  const isComplete = Number(largest) <= size && lines.texts.length === Number(found);
  if (!isComplete || lines.heads.length !== Number(found)) return "apart";
  const items = lines.heads
    .slice(0, query.limit)
    .map((head, n) => toStored(collection, rowOf(head, lines.texts[n] ?? null)));
  const more = Number(found) > query.limit;
  const total = isNarrowed(query) ? undefined : Number(count);
  return { page: { items, more, total, sequence: Number(sequence) }, state };
}

function linesOf(text: string | null | undefined): readonly string[] {
  return text === null || text === undefined ? [] : text.split("\n");
}

/** The row of a resource, in the order that `toStored` reads. A key can contain spaces. */
function rowOf(head: string, text: string | null): Row {
  const [version = "", at = "", checksum = ""] = head.split(" ", 3);
  const key = head.slice(version.length + at.length + checksum.length + 3);
  return [key, version, at, text, checksum];
}
