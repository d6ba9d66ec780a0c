/** Sorts and positions in SQL, for lists that no index serves. */
import type { SQLInputValue } from "node:sqlite";
import type { SortKey } from "../../../collection/indexes.ts";
import { isIdPath } from "../../../collection/paths.ts";
import { type CursorValues, isInstant, type SortValue } from "../../../query/sort.ts";
import { keysToId } from "../../core/conjuncts.ts";
import { either } from "../../core/filter-sql.ts";
import { computedColumn, ranks } from "./columns.ts";
import { idValue } from "./conditions.ts";

/** One column that a list is ordered by. */
export interface OrderColumn {
  sql: string;
  descending: boolean;
}

/** The columns that a list is ordered by. The last one is the id. Keys after the id change nothing. */
export function orderColumns(sort: readonly SortKey[]): readonly OrderColumn[] {
  return keysToId(sort).flatMap((key) => {
    const { path, descending } = key;
    if (isIdPath(path)) return [{ sql: "id", descending }];
    const { rank, value } = computedColumn(key);
    return [
      { sql: rank, descending },
      { sql: value, descending },
    ];
  });
}

/** The content of an `order by` clause. */
export function orderSql(columns: readonly OrderColumn[]): string {
  return columns.map(({ sql, descending }) => `${sql}${descending ? " desc" : ""}`).join(", ");
}

/** The condition that a resource comes after a position. */
export function afterSql(
  position: CursorValues,
  sort: readonly SortKey[],
): { where: string; values: readonly SQLInputValue[] } {
  const columns = orderColumns(sort);
  const positions = keysToId(sort).flatMap(({ path }, n) =>
    columnValues(position[n] ?? null, isIdPath(path)),
  );
  const ranges: string[] = [];
  const values: SQLInputValue[] = [];
  for (const [n, { sql, descending }] of columns.entries()) {
    if (positions[n] === null) continue; // all resources with this rank have null here, so none comes after the position
    const equal = columns.slice(0, n).map((each) => `${each.sql} is ?`);
    ranges.push(`(${[...equal, `${sql} ${descending ? "<" : ">"} ?`].join(" and ")})`);
    values.push(...positions.slice(0, n + 1));
  }
  return { where: either(ranges), values };
}

function columnValues(value: SortValue, isId: boolean): SQLInputValue[] {
  if (isId) return [typeof value === "string" || typeof value === "number" ? idValue(value) : null];
  if (typeof value === "boolean") return [ranks.boolean, Number(value)];
  if (typeof value === "number") return [ranks.number, value];
  if (typeof value === "string") return [ranks.string, value];
  if (isInstant(value)) return [ranks.date, value[0]];
  return [value === null ? ranks.null : ranks.container, null];
}
