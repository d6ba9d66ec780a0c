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

/** The rest of a list after a position, for an index scan that starts there. */
export interface Remainder {
  /** The sort keys without attributes that have an equality. Their value is the same in the whole list. */
  sort: readonly SortKey[];
  after: CursorValues;
  /** The attribute with a range. All its values in the list have one type. */
  ranged: string | undefined;
  /** The filter without the end of the range before the position. SQLite could start its scan there, far too early. */
  filter: StoreFilter | undefined;
}

/** The rest of a list after a position. */
export function remainderOf(
  filter: StoreFilter | undefined,
  sort: readonly SortKey[],
  after: CursorValues,
): Remainder {
  const conditions = conjunctsOf(filter);
  const equal = new Set(conditions.filter(isEquality).map(nameOfKey));
  const isOpen = (n: number) => sort[n] === undefined || !equal.has(nameOfKey(sort[n]));
  const open = sort.filter((_, n) => isOpen(n));
  const behind = open[0]?.descending === true ? "l" : "g";
  const ahead = conditions.filter((each) => !(isRange(each) && each.kind.startsWith(behind)));
  const range = conditions.find(isRange);
  return {
    sort: open,
    after: after.filter((_, n) => isOpen(n)),
    ranged: range === undefined ? undefined : nameOfKey(range),
    filter: ahead.length === 0 ? undefined : { kind: "and", filters: ahead },
  };
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
