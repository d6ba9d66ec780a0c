/** The filter as it is read in memory. Each store reads it in its own language, and must come to the same answer. */
import { valueAt } from "../collection/paths.ts";
import { compareCodePoints, lowerAscii } from "../collection/text.ts";
import type { Condition, ConditionKind, Filter } from "./filter.ts";

/** Whether the filter is true of a resource, `id` among its members. */
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
      const isRight = comparisons[condition.kind];
      return condition.values.some((each) => {
        const order = compareLike(value, each);
        return order !== undefined && isRight(order);
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

/** How two values of one type compare, `undefined` for others. */
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
