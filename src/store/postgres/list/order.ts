/** Sorts and positions in SQL, for lists that no index serves. */
import type { IdKind } from "../../../collection/ids.ts";
import type { SortKey } from "../../../collection/indexes.ts";
import { isIdPath } from "../../../collection/paths.ts";
import type { CursorValues, SortValue } from "../../../query/sort.ts";
import { keysToId } from "../../core/conjuncts.ts";
import { either, every } from "../../core/filter-sql.ts";
import { isStorable } from "../../port/stored.ts";
import { integerKey, textMark } from "../tables/id-keys.ts";
import { sortExpressions, sortValues } from "./expressions.ts";
import { bind, type SqlScope } from "./parameters.ts";

/** One expression that a list is ordered by. */
export interface OrderTerm {
  sql: string;
  descending: boolean;
}

/** The expressions that a list is ordered by. The key is the last one. */
export function orderTerms(sort: readonly SortKey[]): readonly OrderTerm[] {
  return keysToId(sort).flatMap((key) => {
    const expressions = isIdPath(key.path) ? ["resource.key"] : sortExpressions(key);
    return expressions.map((sql) => ({ sql, descending: key.descending }));
  });
}

/** The `order by` of terms, or of columns that contain them. */
export function orderSql(terms: readonly OrderTerm[]): string {
  return terms.map(({ sql, descending }) => `${sql}${descending ? " desc" : ""}`).join(", ");
}

/** The condition that a resource comes after a position. */
export function afterSql(position: CursorValues, sort: readonly SortKey[], scope: SqlScope): string {
  const terms = orderTerms(sort);
  const bounds = keysToId(sort).flatMap(({ path }, n) =>
    boundsOf(position[n] ?? null, isIdPath(path), scope),
  );
  const beyond = terms.map(({ sql, descending }, n) => {
    const equal = terms.slice(0, n).map((each, place) => `${each.sql} = ${bounds[place]}`);
    return every([...equal, `${sql} ${descending ? "<" : ">"} ${bounds[n]}`]);
  });
  return either(beyond);
}

function boundsOf(value: SortValue, isId: boolean, scope: SqlScope): readonly string[] {
  if (isId) return [bind(scope, keyAt(scope.idKind, value), "text")];
  const [rank, number, text] = sortValues(value);
  return [String(rank), bind(scope, number, "float8"), bind(scope, isStorable(text) ? text : "", "text")];
}

/** The key of an id at a position. The position contains the id as the resource does. */
function keyAt(idKind: IdKind, value: SortValue): string {
  if (typeof value === "number") return idKind === "integer" ? integerKey(value) : "";
  if (typeof value !== "string" || !isStorable(value)) return "";
  return idKind === "integer" ? textMark + value : value;
}
