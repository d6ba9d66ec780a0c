/**
 * The order of a list: by the values of some attributes, and then by id, so that no two resources are equal.
 *
 * Values of different types have the order null or absent, boolean, number, string, array or object. Strings are compared
 * by code point, and only their first 128 code points count. Arrays and objects are all equal. If the schema declares a date
 * or an exact number, its values have the order of their instants or numbers, after all other values. A natural key compares
 * strings in natural order (`natural-order.ts`). If a key moves nulls, null or absent is the last type instead. Every store must sort in
 * this order.
 */

import type { SortKey } from "../collection/indexes.ts";
import { isIdPath, type Path, valueAt } from "../collection/paths.ts";
import { compareCodePoints, firstCodePoints } from "../collection/text-comparison.ts";
import { comparedKeyOf } from "../collection/types/declared-types.ts";
import type { RelatedCondition, RelationPath } from "./filter.ts";
import { naturalValue } from "./natural-order.ts";

/** A sort key of a list: an attribute of the resource, or of the resource that its reference names (`through`). */
type ListSortKey<Through> = SortKey | (Omit<SortKey, "through"> & { through: Through });

/** A sort key as a request contains it. It does not yet say which related resources the caller can list. */
export type RequestedSortKey = ListSortKey<RelationPath>;

/** A sort key for a store. A related resource that does not match the condition counts as absent. */
export type StoreSortKey = ListSortKey<RelatedCondition>;

/** The number of code points of a string that count. */
export const sortedCodePoints = 128;

/** The most code points of a sort value: in natural order, a folded text has up to two more for each run of digits, and the text follows. */
export const maxSortText = 3 * sortedCodePoints + 1;

/**
 * The part of a value that decides the order. An absent value is `null`, every array or object is `[]`, and a date or an
 * exact number has its key in an array.
 */
export type SortValue = null | boolean | number | string | readonly [] | readonly [key: string];

/** The sort values of one resource in a list: a value for each sort key, and then the id as in the resource. */
export type CursorValues = readonly SortValue[];

/** Compares two resources: negative if `a` comes first, zero only if the ids are equal. */
export type Compare = (a: Record<string, unknown>, b: Record<string, unknown>) => number;

/** The part of a value that decides the order. */
export function sortValueOf(value: unknown, as?: SortKey["as"]): SortValue {
  const key = as === undefined || as === "natural" ? undefined : comparedKeyOf(value, as);
  if (key !== undefined) return [key];
  switch (typeof value) {
    case "boolean":
      return value;
    case "number":
      return value === 0 ? 0 : value; // -0 is 0
    case "string":
      return as === "natural"
        ? naturalValue(value, sortedCodePoints)
        : firstCodePoints(value, sortedCodePoints);
    default:
      return value === null || value === undefined ? null : [];
  }
}

/** The order of a sort. If all keys are equal, the ids decide in ascending order. */
export function compareBy(sort: readonly SortKey[]): Compare {
  const keys = withId(sort);
  return (a, b) => {
    for (const key of keys) {
      const { path, as } = key;
      const order = compareByKey(key, sortValueOf(valueAt(a, path), as), sortValueOf(valueAt(b, path), as));
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** The sort values of a resource, for a cursor after it. */
export function cursorValuesOf(resource: Record<string, unknown>, sort: readonly SortKey[]): CursorValues {
  return withId(sort).map(({ path, as }) => sortValueOf(valueAt(resource, path), as));
}

/** Compares the positions of two resources in a list, as `cursorValuesOf` gives them. */
export function comparePositions(sort: readonly SortKey[]): (a: CursorValues, b: CursorValues) => number {
  const keys = withId(sort);
  return (a, b) => {
    for (const [n, key] of keys.entries()) {
      const order = compareByKey(key, a[n] ?? null, b[n] ?? null);
      if (order !== 0) return order;
    }
    return 0;
  };
}

function compareByKey({ descending, movesNulls }: SortKey, a: SortValue, b: SortValue): number {
  const areMoved = movesNulls === true && (a === null || b === null);
  const order = areMoved ? Number(a === null) - Number(b === null) : compareSortValues(a, b);
  return descending ? -order : order;
}

/** The keys of a sort, and the id as the last key unless the sort ends with it. */
export function withId<Key extends KeyParts>(sort: readonly Key[]): readonly (Key | SortKey)[] {
  const last = sort.at(-1);
  return last !== undefined && isIdKey(last) ? sort : [...sort, { path: ["id"], descending: false }];
}

type KeyParts = { path: Path; through?: unknown };

/** Whether a sort key is the id of the resource itself. */
export function isIdKey({ path, through }: KeyParts): boolean {
  return through === undefined && isIdPath(path);
}

/** A sort that has no keys of related resources. Throws an Error if it has one. */
export function ownSort(sort: readonly (RequestedSortKey | StoreSortKey)[]): readonly SortKey[] {
  if (hasRelatedKeys(sort)) throw new Error("The sort must not be about related resources.");
  return sort as readonly SortKey[];
}

/** Whether some of the keys of a sort or of groups are attributes of related resources. */
export function hasRelatedKeys(keys: readonly KeyParts[] = []): boolean {
  return keys.some(({ through }) => through !== undefined);
}

/** Compares two results of `sortValueOf`. */
export function compareSortValues(a: SortValue, b: SortValue): number {
  if (typeof a === "string" && typeof b === "string") return compareCodePoints(a, b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (hasKey(a) && hasKey(b)) return compareCodePoints(a[0], b[0]);
  return ranks[rankOf(a)] - ranks[rankOf(b)];
}

/** Whether a sort value is the key of a date or an exact number. */
export function hasKey(value: SortValue | undefined): value is readonly [key: string] {
  return Array.isArray(value) && value.length === 1;
}

/** The order of types. `movedNull`: null or absent, if a key moves nulls. */
export const ranks = {
  null: 0,
  false: 1,
  true: 2,
  number: 3,
  string: 4,
  container: 5,
  declared: 6,
  movedNull: 7,
} as const;

/** The name of the rank of a value. */
export function rankOf(value: SortValue): keyof typeof ranks {
  switch (typeof value) {
    case "boolean":
      return value ? "true" : "false";
    case "number":
      return "number";
    case "string":
      return "string";
    default:
      if (value === null) return "null";
      return hasKey(value) ? "declared" : "container";
  }
}
