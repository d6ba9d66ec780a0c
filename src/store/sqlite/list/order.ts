/** Sorts and positions in SQL: the columns to order by, and the ranges of resources after a position. */
import type { SQLInputValue } from "node:sqlite";
import type { Index, SortKey } from "../../../collection/indexes.ts";
import { isIdPath } from "../../../collection/paths.ts";
import { type CursorValues, isInstant, type SortValue, withId } from "../../../query/sort.ts";
import { columnOf, ranks } from "./columns.ts";
import { idValue } from "./conditions.ts";

/** One column that a list is ordered by. */
export interface OrderColumn {
  sql: string;
  descending: boolean;
  /** The attribute of the column. */
  key?: SortKey;
  /** Whether the column contains the type of the attribute or its value. */
  kind?: "rank" | "value";
}

/**
 * A range of resources after a position. They equal the position in the first columns, and come after it in the next column.
 * An index therefore contains them in the order of the list.
 */
export interface Range {
  where: string;
  values: readonly SQLInputValue[];
  /** The column in which the resources come after the position. */
  boundary: OrderColumn;
  /** The boundary and all columns after it. The columns before it are equal in the whole range. */
  order: readonly OrderColumn[];
}

/** The columns that a list is ordered by. The last one is the id. */
export function orderColumns(sort: readonly SortKey[], indexes: readonly Index[]): readonly OrderColumn[] {
  return withId(sort).flatMap((key) => {
    const { path, descending } = key;
    if (isIdPath(path)) return [{ sql: "id", descending }];
    const { rank, value } = columnOf(key, indexes);
    return [
      { sql: rank, descending, key, kind: "rank" },
      { sql: value, descending, key, kind: "value" },
    ];
  });
}

/** The content of an `order by` clause. */
export function orderSql(columns: readonly OrderColumn[]): string {
  return columns.map(({ sql, descending }) => `${sql}${descending ? " desc" : ""}`).join(", ");
}

/** The resources after a position, as consecutive ranges in the order of the list. */
export function rangesAfter(
  position: CursorValues,
  sort: readonly SortKey[],
  indexes: readonly Index[],
): readonly Range[] {
  const columns = orderColumns(sort, indexes);
  const values = withId(sort).flatMap(({ path }, n) => columnValues(position[n] ?? null, isIdPath(path)));
  const ranges: Range[] = [];
  for (let n = columns.length - 1; n >= 0; n--) {
    const boundary = columns[n] as OrderColumn;
    const { sql, descending } = boundary;
    if (values[n] === null) continue; // all resources with this rank have null here, so none comes after the position
    const equal = columns.slice(0, n).map((each) => `${each.sql} is ?`);
    ranges.push({
      where: [...equal, `${sql} ${descending ? "<" : ">"} ?`].join(" and "),
      values: values.slice(0, n + 1),
      boundary,
      order: columns.slice(n),
    });
  }
  return ranges;
}

function columnValues(value: SortValue, isId: boolean): SQLInputValue[] {
  if (isId) return [typeof value === "string" || typeof value === "number" ? idValue(value) : null];
  if (typeof value === "boolean") return [ranks.boolean, Number(value)];
  if (typeof value === "number") return [ranks.number, value];
  if (typeof value === "string") return [ranks.string, value];
  if (isInstant(value)) return [ranks.date, value[0]];
  return [value === null ? ranks.null : ranks.container, null];
}
