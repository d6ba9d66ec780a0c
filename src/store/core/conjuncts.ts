/** The conditions of a filter that must all be true, and how an index can support each of them. */
import { nameOfKey, type SortKey } from "../../collection/indexes.ts";
import { formatPath, isIdPath, type Path } from "../../collection/paths.ts";
import type { Condition, StoreFilter } from "../../query/filter.ts";
import { sortedCodePoints, withId } from "../../query/sort.ts";

/** The conditions of a filter that must all be true. */
export function conjunctsOf(filter: StoreFilter | undefined): readonly StoreFilter[] {
  if (filter === undefined) return [];
  return filter.kind === "and" ? filter.filters.flatMap(conjunctsOf) : [filter];
}

/** Whether a condition lists ids. */
export function isIdList(condition: StoreFilter): boolean {
  return condition.kind === "in" && isIdPath(condition.path);
}

/** Whether a condition requires one value that the key in an index can contain completely. */
export function isEquality(condition: StoreFilter): condition is Condition & { kind: "in"; path: Path } {
  if (
    condition.kind !== "in" ||
    condition.as === "time" ||
    condition.values.length !== 1 ||
    isIdPath(condition.path)
  )
    return false;
  const [value] = condition.values;
  return value !== null && fitsColumn(value);
}

/** Whether a condition is one end of a range that an index supports. */
export function isRange(
  condition: StoreFilter,
): condition is Condition & { kind: "gt" | "gte" | "lt" | "lte" } {
  if (
    condition.kind !== "gt" &&
    condition.kind !== "gte" &&
    condition.kind !== "lt" &&
    condition.kind !== "lte"
  )
    return false;
  if (condition.as === "time") return false;
  return condition.values.length === 1 && !isIdPath(condition.path) && fitsColumn(condition.values[0]);
}

/**
 * The attribute that has more conditions than an index scan can use: two equalities, two lower ends, two upper ends, or
 * ends of different types. The scan would read too many entries and check the other conditions on each of them.
 */
export function repeatedAttribute(conditions: readonly StoreFilter[]): string | undefined {
  const seen = new Map<string, unknown>();
  for (const condition of conditions) {
    if (!isEquality(condition) && !isRange(condition)) continue;
    const name = nameOfKey(condition);
    const end = `${condition.kind.slice(0, 1)} ${name}`;
    const type = isRange(condition) ? typeof condition.values[0] : "any";
    if (seen.has(end) || (isRange(condition) && (seen.get(name) ?? type) !== type))
      return formatPath(condition.path);
    seen.set(end, type);
    if (isRange(condition)) seen.set(name, type);
  }
  return undefined;
}

/** Whether an index supports the condition. `ranged` is the key of the index after those with equalities (`nameOfKey`). */
export function isSupported(condition: StoreFilter, ranged: string | undefined): boolean {
  return isEquality(condition) || (isRange(condition) && nameOfKey(condition) === ranged);
}

/**
 * The sort keys that an index needs. Keys after the id change nothing, because ids are unique. Every index ends with
 * ascending ids, so an ascending id needs no key. Neither does a list that is sorted by id alone.
 */
export function indexedKeys(sort: readonly SortKey[]): readonly SortKey[] {
  const id = sort.findIndex(({ path }) => isIdPath(path));
  if (id === -1) return sort;
  return sort.slice(0, id > 0 && sort[id]?.descending === true ? id + 1 : id);
}

/** The sort keys up to the id. Keys after the id change nothing. */
export function keysToId(sort: readonly SortKey[]): readonly SortKey[] {
  const keys = withId(sort);
  return keys.slice(0, keys.findIndex(({ path }) => isIdPath(path)) + 1);
}

/** Keys in indexes contain only the beginning of a long string. */
function fitsColumn(value: unknown): boolean {
  return typeof value !== "string" || value.length < sortedCodePoints;
}
