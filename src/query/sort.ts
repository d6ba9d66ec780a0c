/**
 * The order of a list: by the values of some attributes, and at last by id, so that no two resources are equal in it.
 *
 * Types come in the order null or absent, boolean, number, string, array or object. Strings are compared by code point,
 * and only their first 128 code points count; arrays and objects are all equal.
 */
import type { SortKey } from "../collection/indexes.ts";
import { isIdPath, valueAt } from "../collection/paths.ts";
import { compareCodePoints } from "../collection/text.ts";

/** Code points of a string that count. */
export const sortedCodePoints = 128;

/** An attribute's value as far as the order cares: an absent one is `null`, `[]` stands for every array and object. */
export type SortValue = null | boolean | number | string | readonly [];

/** A place in a list: a value for each of the keys by which it is sorted, the id (as it stands in the resource) last. */
export type Position = readonly SortValue[];

/** How two resources follow each other: below zero when the first comes first; zero for one and the same id alone. */
export type Compare = (a: Record<string, unknown>, b: Record<string, unknown>) => number;

/** Cuts an attribute's value down to what the order cares about. */
export function sortValueOf(value: unknown): SortValue {
  switch (typeof value) {
    case "boolean":
      return value;
    case "number":
      return value === 0 ? 0 : value; // -0 is 0
    case "string":
      return firstCodePoints(value, sortedCodePoints);
    default:
      return value === null || value === undefined ? null : [];
  }
}

/** The order that a sort makes of resources. Ascending ids decide where keys are equal, unless the sort names the id itself. */
export function compareBy(sort: readonly SortKey[]): Compare {
  const keys = withId(sort);
  return (a, b) => {
    for (const { path, descending } of keys) {
      const order = compareSortValues(sortValueOf(valueAt(a, path)), sortValueOf(valueAt(b, path)));
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  };
}

/** Where a resource stands in a list: a value for each key, then the id unless the last key is the id. */
export function positionOf(resource: Record<string, unknown>, sort: readonly SortKey[]): Position {
  return withId(sort).map(({ path }) => sortValueOf(valueAt(resource, path)));
}

/** The keys that a position has values for: those of the sort, and the id in the end unless the last of them is the id. */
export function withId(sort: readonly SortKey[]): readonly SortKey[] {
  const last = sort.at(-1);
  return last !== undefined && isIdPath(last.path) ? sort : [...sort, { path: ["id"], descending: false }];
}

/** Compares two values that `sortValueOf` gave. */
export function compareSortValues(a: SortValue, b: SortValue): number {
  if (typeof a === "string" && typeof b === "string") return compareCodePoints(a, b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  return typeRank(a) - typeRank(b);
}

function typeRank(value: SortValue): number {
  if (value === null) return 0;
  if (typeof value === "boolean") return 1;
  if (typeof value === "number") return 2;
  return typeof value === "string" ? 3 : 4;
}

function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let n = 0; n < count && end < text.length; n++) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}
