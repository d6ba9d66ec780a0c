/**
 * Filters: a tree of conditions, independent of its syntax in a request, and its evaluation in memory.
 *
 * Every store translates the tree to its own language. Each must give the same result as `matches` for every resource. A
 * condition is true or false, never unknown.
 */
import { type Path, valueAt } from "../collection/paths.ts";
import { compareCodePoints, lowerAscii } from "../collection/text.ts";

/** A value that an attribute is compared with. */
export type Scalar = string | number | boolean | null;

/** A tree of conditions. An empty `and` matches every resource, and an empty `or` matches none. */
export type Filter =
  | { kind: "and" | "or"; filters: readonly Filter[] }
  | { kind: "not"; filter: Filter }
  | Condition;

/** One condition about an attribute. Only `exists: false` matches if the attribute is absent. */
export type Condition =
  /** The attribute equals one of the values, with the same type. Arrays and objects never match. */
  | { kind: "in"; path: Path; values: readonly Scalar[] }
  /** The attribute compares in this way with one of the values of its type. Strings are compared by code point. */
  | { kind: "gt" | "gte" | "lt" | "lte"; path: Path; values: readonly (string | number)[] }
  /** The attribute is a string that contains one of the values, ignoring ASCII case, or an array with an equal item. */
  | { kind: "contains"; path: Path; values: readonly Scalar[] }
  /** The attribute is a string that starts or ends with one of the values, ignoring ASCII case. */
  | { kind: "startsWith" | "endsWith"; path: Path; values: readonly string[] }
  /** The attribute exists, even if it is null; or it does not exist. */
  | { kind: "exists"; path: Path; value: boolean };

/** The kinds of condition. */
export type ConditionKind = Condition["kind"];

/** A filter that matches if all of these match. */
export function allOf(filters: readonly Filter[]): Filter {
  const needed = filters.filter((each) => !matchesAll(each));
  const [first, ...others] = needed;
  return first !== undefined && others.length === 0 ? first : { kind: "and", filters: needed };
}

/** Whether a filter is an empty `and`, which matches every resource. */
export function matchesAll(filter: Filter): boolean {
  return filter.kind === "and" && filter.filters.length === 0;
}

/** A filter that matches if any of these matches. */
export function anyOf(filters: readonly Filter[]): Filter {
  if (filters.some(matchesAll)) return { kind: "and", filters: [] };
  const [first, ...others] = filters;
  return first !== undefined && others.length === 0 ? first : { kind: "or", filters };
}

/** Matches no resource. Also the result of reading an invalid filter, whose request is refused. */
export const matchNone: Filter = { kind: "or", filters: [] };

/** Whether the filter matches a resource (with its `id`). */
export function matches(filter: Filter, resource: Record<string, unknown>): boolean {
  switch (filter.kind) {
    case "and":
      return filter.filters.every((each) => matches(each, resource));
    case "or":
      return filter.filters.some((each) => matches(each, resource));
    case "not":
      return !matches(filter.filter, resource);
    default:
      return isTrue(filter, valueAt(resource, filter.path));
  }
}

function isTrue(condition: Condition, value: unknown): boolean {
  switch (condition.kind) {
    case "in":
      return condition.values.some((each) => each === value);
    case "gt":
    case "gte":
    case "lt":
    case "lte": {
      const isExpected = comparisons[condition.kind];
      return condition.values.some((each) => {
        const order = compareLike(value, each);
        return order !== undefined && isExpected(order);
      });
    }
    case "contains":
      if (Array.isArray(value)) return condition.values.some((each) => value.includes(each));
      return hasText(value, condition.values, "includes");
    case "startsWith":
    case "endsWith":
      return hasText(value, condition.values, condition.kind);
    case "exists":
      return (value !== undefined) === condition.value;
  }
}

const comparisons = {
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
} as const satisfies Partial<Record<ConditionKind, (order: number) => boolean>>;

/** The order of two values; `undefined` if they have different types. */
function compareLike(a: unknown, b: string | number): number | undefined {
  if (typeof a === "number" && typeof b === "number") return a < b ? -1 : Number(a > b);
  return typeof a === "string" && typeof b === "string" ? compareCodePoints(a, b) : undefined;
}

function hasText(
  value: unknown,
  parts: readonly unknown[],
  where: "includes" | "startsWith" | "endsWith",
): boolean {
  if (typeof value !== "string") return false;
  const text = lowerAscii(value);
  return parts.some((part) => typeof part === "string" && text[where](lowerAscii(part)));
}
