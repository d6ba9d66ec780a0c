/** The access path of a list. With ids or a suitable index, a store reads only the resources of the page. */
import { type Index, nameOfKey, type SortKey } from "../../collection/indexes.ts";
import { matches, type StoreFilter } from "../../query/filter.ts";
import { type CursorValues, isInstant } from "../../query/sort.ts";
import type { ListQuery } from "../port/page.ts";
import {
  conjunctsOf,
  indexedKeys,
  isEquality,
  isIdList,
  isRange,
  isSupported,
  repeatedAttribute,
} from "./conjuncts.ts";

/** How a store reads a list: by ids, with a declared index, or (`undefined`) by reading the whole collection. */
export type AccessPath = { kind: "ids" } | { kind: "index"; index: Index } | undefined;

/** The part of a query that decides on its access path. */
type PathQuery = Pick<ListQuery, "filter" | "sort" | "words" | "after">;

/** The part of a query that decides on its cost. */
export type CostQuery = PathQuery & Pick<ListQuery, "offset" | "count" | "at">;

/** The access path of a list. */
export function accessPathOf(
  { filter, sort = [], words, after }: PathQuery,
  indexes: readonly Index[],
): AccessPath {
  if (words !== undefined) return undefined;
  const conditions = conjunctsOf(filter);
  if (conditions.some(isIdList)) return { kind: "ids" };
  const keys = indexedKeys(sort);
  if (conditions.length === 0 && keys.length === 0) return { kind: "ids" };
  if (repeatedAttribute(conditions) !== undefined || !isWithin(after, sort, conditions)) return undefined;
  const index = indexes.find((candidate) => supports(candidate, conditions, keys));
  return index === undefined ? undefined : { kind: "index", index };
}

/** The most resources that the HTTP thread skips for one page. */
const maxQuickOffset = 1_000;

/** Whether a store reads little more than the page, so that other requests do not have to wait. */
export function isQuick(query: CostQuery, indexes: readonly Index[]): boolean {
  if (query.at !== undefined || (query.offset ?? 0) > maxQuickOffset) return false;
  const path = accessPathOf(query, indexes);
  return path?.kind === "ids" ? isByIdsAlone(query) : path !== undefined;
}

/**
 * Whether the list depends on ids only. Otherwise the store also reads the texts of all resources with these ids, which can
 * be a gibibyte.
 */
export function isByIdsAlone({ filter, sort = [] }: PathQuery): boolean {
  return conjunctsOf(filter).length <= 1 && indexedKeys(sort).length === 0;
}

/** Whether the values of the position fulfil the conditions of the list. They do in every cursor that the service created. */
function isWithin(
  after: CursorValues | undefined,
  sort: readonly SortKey[],
  conditions: readonly StoreFilter[],
): boolean {
  if (after === undefined) return true;
  const values = new Map(sort.map((key, n) => [nameOfKey(key), after[n]]));
  return conditions.every((condition) => {
    if (!isEquality(condition) && !isRange(condition)) return true;
    const name = nameOfKey(condition);
    if (!values.has(name)) return true;
    const value = values.get(name);
    const { as: _, ...plain } = condition; // the position has the key of the instant already
    return matches({ ...plain, path: ["value"] }, { value: isInstant(value) ? value[0] : value });
  });
}

/** Whether a scan of the index gives exactly the list, in its order. */
function supports(index: Index, conditions: readonly StoreFilter[], sort: readonly SortKey[]): boolean {
  const equal = new Set(conditions.filter(isEquality).map(nameOfKey));
  const names = index.map(nameOfKey);
  const head = names.slice(0, equal.size);
  if (head.length < equal.size) return false;
  if (!head.every((name) => equal.has(name))) return false;
  const keys = sort.filter((key) => !equal.has(nameOfKey(key)));
  const tail = index.slice(equal.size);
  if (tail.length !== keys.length) return false;
  if (!tail.every((key, n) => isSameKey(key, keys[n] as SortKey))) return false;
  const ranged = tail[0] === undefined ? undefined : nameOfKey(tail[0]);
  return conditions.every((condition) => isSupported(condition, ranged));
}

function isSameKey(a: SortKey, b: SortKey): boolean {
  return a.descending === b.descending && nameOfKey(a) === nameOfKey(b);
}
