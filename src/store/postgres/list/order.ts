/** Sorts and positions in SQL: expressions to order by, and the ranges that come after a position. */
import type { IdKind } from "../../../collection/ids.ts";
import { nameOfKey, type SortKey } from "../../../collection/indexes.ts";
import { isIdPath } from "../../../collection/paths.ts";
import type { StoreFilter } from "../../../query/filter.ts";
import { type CursorValues, type SortValue, withId } from "../../../query/sort.ts";
import { conjunctsOf, isEquality, isRange } from "../../core/conjuncts.ts";
import { isStorable } from "../../port/stored.ts";
import { integerKey, textMark } from "../tables/id-keys.ts";
import { sortExpressions, sortValues } from "./expressions.ts";
import { bind, type SqlScope } from "./parameters.ts";

/** One expression that a list is ordered by. */
export interface OrderTerm {
  sql: string;
  descending: boolean;
}

/**
 * The expressions that a list is ordered by, without those that its filter makes equal. PostgreSQL computes each of them for
 * each resource, even if an index has the order. The key is the last one.
 */
export function orderTerms(sort: readonly SortKey[], filter?: StoreFilter): readonly OrderTerm[] {
  const conditions = conjunctsOf(filter);
  return withId(sort).flatMap((key) => {
    const expressions = isIdPath(key.path) ? ["resource.key"] : unequal(key, conditions);
    return expressions.map((sql) => ({ sql, descending: key.descending }));
  });
}

/** The sort expressions of an attribute that can differ between resources that fulfil the conditions. */
function unequal(key: SortKey, conditions: readonly StoreFilter[]): readonly string[] {
  const { rank, number, text } = sortExpressions(key);
  const name = nameOfKey(key);
  let type = "unknown";
  for (const condition of conditions) {
    if (!(isEquality(condition) || isRange(condition)) || nameOfKey(condition) !== name) continue;
    if (isEquality(condition)) return [];
    type = typeof condition.values[0];
  }
  if (type === "string") return [text];
  return type === "number" ? [number, text] : [rank, number, text]; // the index has the text of numbers too
}

/** The `order by` of terms, or of columns that contain them. */
export function orderSql(terms: readonly OrderTerm[]): string {
  return terms.map(({ sql, descending }) => `${sql}${descending ? " desc" : ""}`).join(", ");
}

/**
 * The conditions for the resources after a position, one for each range of the list, in its order. In a range, the
 * first sort keys are equal to those of the position and the next one is beyond it, so an index returns the range in
 * order.
 */
export function rangesAfter(
  position: CursorValues,
  sort: readonly SortKey[],
  scope: SqlScope,
): readonly string[] {
  const keys = withId(sort).map((key, n) => {
    const value = position[n] ?? null;
    return {
      descending: key.descending,
      ...(isIdPath(key.path) ? compareId(value, scope) : compareAttribute(key, value, scope)),
    };
  });
  return keys
    .map(({ sql, bound, descending }, beyond) => {
      const equal = keys.slice(0, beyond).map((each) => each.equal);
      return [...equal, `${sql} ${descending ? "<" : ">"} ${bound}`].join(" and ");
    })
    .reverse();
}

/** The comparison of one sort key with its value at the position. */
interface KeyComparison {
  /** The expression of the sort key. */
  sql: string;
  /** The value at the position. */
  bound: string;
  /** The condition that both are equal. */
  equal: string;
}

function compareAttribute(key: SortKey, value: SortValue, scope: SqlScope): KeyComparison {
  const { rank, number, text } = sortExpressions(key);
  const parts = sortValues(value);
  const bounds = [
    String(parts.rank),
    bind(scope, parts.number, "float8"),
    bind(scope, isStorable(parts.text) ? parts.text : "", "text"),
  ];
  return {
    sql: `(${rank}, ${number}, ${text})`,
    bound: `(${bounds.join(", ")})`,
    equal: `${rank} = ${bounds[0]} and ${number} = ${bounds[1]} and ${text} = ${bounds[2]}`,
  };
}

function compareId(value: SortValue, scope: SqlScope): KeyComparison {
  const bound = bind(scope, keyAt(scope.idKind, value), "text");
  return { sql: "resource.key", bound, equal: `resource.key = ${bound}` };
}

/** The key of an id at a position. The position contains the id as the resource does. */
function keyAt(idKind: IdKind, value: SortValue): string {
  if (typeof value === "number") return idKind === "integer" ? integerKey(value) : "";
  if (typeof value !== "string" || !isStorable(value)) return "";
  return idKind === "integer" ? textMark + value : value;
}
