/** Sorts and positions in SQL: expressions to order by, and the ranges that come after a position. */
import type { IdKind } from "../../../collection/ids.ts";
import type { SortKey } from "../../../collection/indexes.ts";
import { isIdPath } from "../../../collection/paths.ts";
import { type CursorValues, type SortValue, withId } from "../../../query/sort.ts";
import { integerKey, isKeepable, textMark } from "../tables/id-keys.ts";
import { sortExpressions, sortParts } from "./expressions.ts";
import { bind, type Scope } from "./parameters.ts";

/** One expression that a list is ordered by. */
export interface OrderTerm {
  sql: string;
  descending: boolean;
}

/** What a list is ordered by, the key last. */
export function orderTerms(sort: readonly SortKey[]): readonly OrderTerm[] {
  return withId(sort).flatMap(({ path, descending }) => {
    if (isIdPath(path)) return [{ sql: "resource.key", descending }];
    const { rank, number, text } = sortExpressions(path);
    return [rank, number, text].map((sql) => ({ sql, descending }));
  });
}

/** The `order by` of terms, or of the columns that hold them. */
export function orderSql(terms: readonly OrderTerm[]): string {
  return terms.map(({ sql, descending }) => `${sql}${descending ? " desc" : ""}`).join(", ");
}

/**
 * What comes after a position, as ranges that follow each other in the order of the list: equal in some keys and beyond
 * the position in the next, so that an index gives each in order.
 */
export function rangesAfter(
  position: CursorValues,
  sort: readonly SortKey[],
  scope: Scope,
): readonly string[] {
  const keys = withId(sort).map(({ path, descending }, n) => {
    const value = position[n] ?? null;
    return { descending, ...(isIdPath(path) ? idPart(value, scope) : attributePart(path, value, scope)) };
  });
  return keys
    .map(({ sql, bound, descending }, beyond) => {
      const equal = keys.slice(0, beyond).map((each) => each.equal);
      return [...equal, `${sql} ${descending ? "<" : ">"} ${bound}`].join(" and ");
    })
    .reverse();
}

/** What is compared, with what, and how it says that both are equal. */
interface Part {
  sql: string;
  bound: string;
  equal: string;
}

function attributePart(path: SortKey["path"], value: SortValue, scope: Scope): Part {
  const { rank, number, text } = sortExpressions(path);
  const parts = sortParts(value);
  const limits = [
    String(parts.rank),
    bind(scope, parts.number, "float8"),
    bind(scope, isKeepable(parts.text) ? parts.text : "", "text"),
  ];
  return {
    sql: `(${rank}, ${number}, ${text})`,
    bound: `(${limits.join(", ")})`,
    equal: `${rank} = ${limits[0]} and ${number} = ${limits[1]} and ${text} = ${limits[2]}`,
  };
}

function idPart(value: SortValue, scope: Scope): Part {
  const bound = bind(scope, positionedKey(scope.idKind, value), "text");
  return { sql: "resource.key", bound, equal: `resource.key = ${bound}` };
}

/** The key at a position, which names the id as it stands in a resource. */
function positionedKey(idKind: IdKind, value: SortValue): string {
  if (typeof value === "number") return idKind === "integer" ? integerKey(value) : "";
  if (typeof value !== "string" || !isKeepable(value)) return "";
  return idKind === "integer" ? textMark + value : value;
}
