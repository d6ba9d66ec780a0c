/** Sorts and positions in SQL: columns to order by, and the ranges that come after a position. */
import type { SQLInputValue } from "node:sqlite";
import type { Index, SortKey } from "../../../collection/indexes.ts";
import { isIdPath, type Path } from "../../../collection/paths.ts";
import { type CursorValues, type SortValue, withId } from "../../../query/sort.ts";
import { columnOf, ranks } from "./columns.ts";
import { idValue } from "./conditions.ts";

/** One column that a list is ordered by. */
export interface OrderColumn {
  sql: string;
  descending: boolean;
  /** The attribute that it is of. */
  path?: Path;
  /** Whether it is the type of the attribute, or its value. */
  part?: "rank" | "value";
}

/** Resources that come after a position: equal in some columns, beyond it in the next; so an index gives them in order. */
export interface Range {
  where: string;
  values: readonly SQLInputValue[];
  /** The column that is beyond the position. */
  beyond: OrderColumn;
  /** The columns that are not equal all through the range. */
  order: readonly OrderColumn[];
}

/** The columns that a list is ordered by, the id's last. */
export function orderColumns(sort: readonly SortKey[], indexes: readonly Index[]): readonly OrderColumn[] {
  return withId(sort).flatMap(({ path, descending }) => {
    if (isIdPath(path)) return [{ sql: "id", descending }];
    const { rank, value } = columnOf(path, indexes);
    return [
      { sql: rank, descending, path, part: "rank" },
      { sql: value, descending, path, part: "value" },
    ];
  });
}

/** The `order by` of columns. */
export function orderSql(columns: readonly OrderColumn[]): string {
  return columns.map(({ sql, descending }) => `${sql}${descending ? " desc" : ""}`).join(", ");
}

/** What comes after a position, as ranges that follow each other in the order of the list. */
export function rangesAfter(
  position: CursorValues,
  sort: readonly SortKey[],
  indexes: readonly Index[],
): readonly Range[] {
  const columns = orderColumns(sort, indexes);
  const values = withId(sort).flatMap(({ path }, n) => columnValues(position[n] ?? null, isIdPath(path)));
  const ranges: Range[] = [];
  for (let beyond = columns.length - 1; beyond >= 0; beyond--) {
    const column = columns[beyond] as OrderColumn;
    const { sql, descending } = column;
    if (values[beyond] === null) continue; // where the value is null, all of its rank have none
    const equal = columns.slice(0, beyond).map((each) => `${each.sql} is ?`);
    ranges.push({
      where: [...equal, `${sql} ${descending ? "<" : ">"} ?`].join(" and "),
      values: values.slice(0, beyond + 1),
      beyond: column,
      order: columns.slice(beyond),
    });
  }
  return ranges;
}

function columnValues(value: SortValue, isId: boolean): SQLInputValue[] {
  if (isId) return [typeof value === "string" || typeof value === "number" ? idValue(value) : null];
  if (typeof value === "boolean") return [ranks.boolean, Number(value)];
  if (typeof value === "number") return [ranks.number, value];
  if (typeof value === "string") return [ranks.string, value];
  return [value === null ? ranks.null : ranks.container, null];
}
