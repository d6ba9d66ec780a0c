/**
 * Filters in SQL, as far as all stores have them in common. What comes out is true of exactly those resources that
 * `matches` says it of; where it is null rather than false, `not` must not take that for true.
 */
import { isIdPath } from "../collection/paths.ts";
import type { Condition, ConditionKind, Filter } from "../query/filter.ts";
import { sortedCodePoints, sortValueOf } from "../query/sort.ts";

/** How a store spells conditions. Values go where the scope says. */
export type Spellings<Scope> = {
  readonly [Kind in ConditionKind]: (condition: Condition & { kind: Kind }, scope: Scope) => string;
};

/** How a store spells conditions on attributes, and on ids. */
export interface Dialect<Scope> {
  attributes: Spellings<Scope>;
  ids: Spellings<Scope>;
}

/** Compares as the operators of SQL do. */
export type Comparison = Condition & { kind: keyof typeof comparisons };

/** The operators of SQL. */
export const comparisons = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/** A filter as an SQL expression. */
export function filterSql<Scope>(filter: Filter, dialect: Dialect<Scope>, scope: Scope): string {
  switch (filter.kind) {
    case "and":
      return every(filter.filters.map((each) => filterSql(each, dialect, scope)));
    case "or":
      return either(filter.filters.map((each) => filterSql(each, dialect, scope)));
    case "not":
      return `(${filterSql(filter.filter, dialect, scope)}) is not true`;
    default:
      return conditionSql(filter, dialect, scope);
  }
}

function conditionSql<Scope>(
  condition: Condition,
  { attributes, ids }: Dialect<Scope>,
  scope: Scope,
): string {
  const table = isIdPath(condition.path) ? ids : attributes;
  return (table[condition.kind] as (condition: Condition, scope: Scope) => string)(condition, scope);
}

/** True where all of the parts are. */
export function every(parts: readonly string[]): string {
  return parts.length === 0 ? "true" : `(${parts.join(" and ")})`;
}

/** True where one of the parts is. */
export function either(parts: readonly string[]): string {
  return parts.length === 0 ? "false" : `(${parts.join(" or ")})`;
}

/** Whether a string is as long as the beginnings that are sorted by, or longer: those tell it apart from no other. */
export function isLong(text: string): boolean {
  return text.length >= sortedCodePoints && [...text].length >= sortedCodePoints;
}

/** What of a string is sorted by. */
export function beginningOf(text: string): string {
  return String(sortValueOf(text));
}
