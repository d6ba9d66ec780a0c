/**
 * How an index serves a list: the access path of the list, and the range of the index that has its resources. A range contains keys
 * (`order-keys.ts`).
 */
import { type Index, nameOfKey, type SortKey } from "../../collection/indexes.ts";
import { isIdPath, type Path } from "../../collection/paths.ts";
import {
  type Condition,
  conditionTable,
  isCondition,
  type OrderingKind,
  orders,
} from "../../query/conditions.ts";
import { matchesAll, type StoreFilter } from "../../query/filter.ts";
import {
  type CursorValues,
  compareSortValues,
  isIdKey,
  type SortValue,
  type StoreSortKey,
  sortedCodePoints,
  withId,
} from "../../query/sort.ts";
import type { ListQuery } from "../port/page.ts";
import { after, before, boundsOfType, keyAt } from "./order-keys.ts";

/** The conditions of a filter that must all be true. */
export function conjunctsOf(filter: StoreFilter | undefined): readonly StoreFilter[] {
  if (filter === undefined) return [];
  return filter.kind === "and" ? filter.filters.flatMap(conjunctsOf) : [filter];
}

/** Whether a condition lists ids. */
function isIdList(condition: StoreFilter): boolean {
  return condition.kind === "in" && isIdPath(condition.path);
}

/** Whether a condition requires one value that the key in an index can contain completely. */
export function isEquality(filter: StoreFilter): filter is Condition & { kind: "in"; path: Path } {
  return isCondition(filter) && conditionTable[filter.kind].range === "equal" && hasOneValue(filter);
}

/** A condition that is one end of a range. */
type RangeEnd = Condition & { kind: OrderingKind };

/** Whether a condition is one end of a range that an index supports. */
export function isRange(filter: StoreFilter): filter is RangeEnd {
  return isCondition(filter) && isEnd(conditionTable[filter.kind].range) && hasOneValue(filter);
}

function isEnd(range: (typeof conditionTable)[Condition["kind"]]["range"]): boolean {
  return range === "low" || range === "high";
}

/** Keys in indexes contain only the beginning of a long string. */
function hasOneValue(condition: Condition): boolean {
  if (!("values" in condition) || isIdPath(condition.path)) return false;
  const { values } = condition;
  const [value] = values;
  if (values.length !== 1 || value === null || ("as" in condition && condition.as === "time")) return false;
  return typeof value !== "string" || value.length < sortedCodePoints;
}

/**
 * The sort keys that an index needs. Keys after the id change nothing, because ids are unique. Every index ends with
 * ascending ids, so an ascending id needs no key. Neither does a list that is sorted by id alone.
 */
export function indexedKeys(sort: readonly StoreSortKey[]): readonly StoreSortKey[] {
  const id = sort.findIndex(isIdKey);
  if (id === -1) return sort;
  return sort.slice(0, id > 0 && sort[id]?.descending === true ? id + 1 : id);
}

/** The sort keys up to the id. Keys after the id change nothing. */
export function keysToId(sort: readonly StoreSortKey[]): readonly StoreSortKey[] {
  const keys = withId(sort);
  return keys.slice(0, keys.findIndex(isIdKey) + 1);
}

/** How a store reads a list: by ids, with a declared index, or (`undefined`) by reading the whole collection. */
export type AccessPath = "ids" | "index" | undefined;

/** The part of a query that decides on its access path. */
type PathQuery = { [Name in "filter" | "sort" | "words" | "after"]?: ListQuery[Name] | undefined };

/** The part of a query that decides on its cost. */
export type CostQuery = PathQuery & Pick<ListQuery, "offset" | "count" | "at" | "deleted">;

/** The access path of a list. */
export function accessPathOf(query: PathQuery, indexes: readonly Index[]): AccessPath {
  if (query.words !== undefined) return undefined;
  const conditions = conjunctsOf(query.filter);
  if (conditions.some(isIdList)) return "ids";
  if (conditions.length === 0 && indexedKeys(query.sort ?? []).length === 0) return "ids";
  const best = bestOf(query, indexes);
  return best?.isOrdered && best.rest.length === 0 ? "index" : undefined;
}

/** The most resources that the HTTP thread skips for one page. */
const maxQuickOffset = 1_000;

/** Whether a store reads little more than the page, so that other requests do not have to wait. */
export function isQuick(query: CostQuery, indexes: readonly Index[]): boolean {
  if (query.at !== undefined || query.deleted !== undefined || (query.offset ?? 0) > maxQuickOffset)
    return false;
  const path = accessPathOf(query, indexes);
  return path === "ids" ? isByIdsAlone(query) : path !== undefined;
}

/**
 * Whether the list depends on ids only. Otherwise the store also reads the texts of all resources with these ids, which can
 * be a gibibyte.
 */
export function isByIdsAlone({ filter, sort = [] }: PathQuery): boolean {
  return conjunctsOf(filter).length <= 1 && indexedKeys(sort).length === 0;
}

/** An index with its number. No other index of the collection ever gets this number. */
export interface Slot {
  slot: number;
  index: Index;
}

/** The part of an index between two keys, without these keys. */
export interface Range {
  slot: number;
  low: Buffer;
  high: Buffer;
}

/** A way to find the resources of a list by an index. */
export interface Scan {
  range: Range;
  /** Whether the range has the order of the list, and starts after the position of the list. */
  isOrdered: boolean;
  /** Whether the list has the reverse order of the index: it is sorted by id alone, in descending order. */
  isBackward: boolean;
  /** The conditions that the range does not decide. `undefined`: the range has the resources of the list, and no others. */
  filter: StoreFilter | undefined;
}

/** An index that can find the resources of a list, with its use. */
interface Candidate {
  index: Index;
  /** The values that its first attributes must have. */
  equal: readonly Condition[];
  /** The ends of the range of the next attribute. */
  ends: readonly RangeEnd[];
  isOrdered: boolean;
  /** The conditions that the range does not decide. */
  rest: readonly StoreFilter[];
}

/**
 * The best way to find the resources of a list by an index. `undefined`: no index helps. If the access path of the list is an
 * index, the list is exactly a range of this index, in its order.
 */
export function scanOf(query: PathQuery, slots: readonly Slot[]): Scan | undefined {
  const indexes = slots.map(({ index }) => index);
  const best = bestOf(query, indexes);
  if (best === undefined) return undefined;
  const { isOrdered, rest } = best;
  return {
    range: rangeOf(best, slots[indexes.indexOf(best.index)] as Slot, query),
    isOrdered,
    isBackward: isBackward(query),
    filter: rest.length === 0 ? undefined : { kind: "and", filters: rest },
  };
}

/** An index with all these attributes (`nameOfKey`), one of whose ranges has exactly the resources of the filter. */
export function indexWith(
  names: readonly string[],
  filter: StoreFilter | undefined,
  indexes: readonly Index[],
): Index | undefined {
  return indexes.find((index) => {
    const has = new Set(index.map(nameOfKey));
    return names.every((name) => has.has(name)) && candidateOf(index, neededOf(filter), {}).rest.length === 0;
  });
}

/** The range of an index for a filter. All conditions of the filter must be about the first attributes of the index. */
export function rangeIn(slot: Slot, filter: StoreFilter | undefined): Range {
  return rangeOf(candidateOf(slot.index, neededOf(filter), {}), slot, {});
}

/** The conditions of a filter that can be false. */
function neededOf(filter: StoreFilter | undefined): readonly StoreFilter[] {
  return conjunctsOf(filter).filter((each) => !matchesAll(each));
}

/** The first of the best candidates. An index that serves the whole list is always among these. */
function bestOf(query: PathQuery, indexes: readonly Index[]): Candidate | undefined {
  const conditions = neededOf(query.filter);
  if (query.words !== undefined || conditions.some(isIdList)) return undefined;
  if (conditions.length === 0 && (query.sort ?? []).length === 0) return undefined;
  let best: Candidate | undefined;
  let worth = 0;
  for (const index of indexes) {
    const candidate = candidateOf(index, conditions, query);
    const { equal, ends, isOrdered } = candidate;
    const own = 4 * equal.length + 2 * Number(isOrdered) + Number(ends.length > 0);
    if (own > worth) [best, worth] = [candidate, own];
  }
  return best;
}

function candidateOf(index: Index, conditions: readonly StoreFilter[], query: PathQuery): Candidate {
  const equal: Condition[] = [];
  for (const key of index) {
    const found = conditions.filter(isEquality).find((each) => isAlike(each, key));
    if (found === undefined) break;
    equal.push(found);
  }
  const next = index[equal.length];
  const ends = next === undefined ? [] : endsOf(next, conditions);
  const used = new Set<StoreFilter>([...equal, ...ends]);
  const rest = conditions.filter((each) => !used.has(each));
  return { index, equal, ends, isOrdered: isOrdered(index, equal, query), rest };
}

/** Up to one lower and one upper end of the values of an attribute, of one type. */
function endsOf(key: SortKey, filters: readonly StoreFilter[]): readonly RangeEnd[] {
  const ranges = filters.filter(isRange).filter((each) => isAlike(each, key));
  const type = typeof ranges[0]?.values[0];
  const same = ranges.filter(({ values }) => typeof values[0] === type);
  return (["low", "high"] as const).flatMap(
    (end) => same.find(({ kind }) => conditionTable[kind].range === end) ?? [],
  );
}

/** Whether the part of the index with these values has the order of the list, and the key of its position is known. */
function isOrdered(index: Index, equal: readonly Condition[], { sort = [], after }: PathQuery): boolean {
  const setBy = (key: StoreSortKey) => equal.find((each) => isAlike(each, key));
  const tail = index.slice(equal.length);
  const keys = indexedKeys(sort).filter((key) => setBy(key) === undefined);
  if (tail.length !== keys.length || keys.some((key, n) => !isSameKey(key, tail[n] as SortKey))) return false;
  // A position with another value is before or after all keys with these values.
  return sort.every((key, n) => {
    const value = after && setBy(key);
    return value === undefined || compareSortValues(operandOf(value), after?.[n] ?? null) === 0;
  });
}

/** An index serves a list by id alone only if the filter sets all its attributes. Its keys then have ascending ids. */
function isBackward({ sort: [first] = [] }: PathQuery): boolean {
  return first !== undefined && isIdKey(first) && first.descending;
}

function isSameKey(a: StoreSortKey, b: SortKey): boolean {
  return a.descending === b.descending && a.movesNulls === b.movesNulls && isAlike(a, b);
}

/**
 * Whether two keys or conditions are about the same attribute of the resource itself, and compare its values in the same way. No index
 * has attributes of related resources.
 */
function isAlike(a: Compared, b: Compared): boolean {
  if (a.through !== undefined || b.through !== undefined) return false;
  return a.as === b.as && a.path.length === b.path.length && a.path.every((name, n) => name === b.path[n]);
}

type Compared = { path: Path; as?: string | undefined; through?: unknown };

function rangeOf({ equal, ends, isOrdered }: Candidate, { slot, index }: Slot, query: PathQuery): Range {
  const values = equal.map(operandOf);
  const start = keyAt(values, index);
  let [low, high] = [before(start), after(start)];
  for (const end of ends) {
    const key = index[equal.length] as SortKey;
    const value = operandOf(end);
    const at = keyAt([...values, value], index);
    const type = boundsOfType(start, value, key);
    const isUpward = (conditionTable[end.kind].range === "low") !== key.descending;
    const hasValue = orders[end.kind](0);
    // Values of other types do not match.
    low = greatest(low, isUpward ? (hasValue ? before(at) : after(at)) : type.low);
    high = least(high, isUpward ? type.high : hasValue ? after(at) : before(at));
  }
  if (isOrdered && query.after !== undefined) {
    const position = keyOfPosition(query.after, query.sort ?? [], index, values);
    if (isBackward(query)) high = least(high, position);
    else low = greatest(low, position);
  }
  return { slot, low, high };
}

/** The key of a position of a list. */
function keyOfPosition(
  position: CursorValues,
  sort: readonly StoreSortKey[],
  index: Index,
  equal: readonly SortValue[],
): Buffer {
  const names = sort.map(nameOfKey);
  const values = index.map((key, n) => equal[n] ?? position[names.indexOf(nameOfKey(key))] ?? null);
  return keyAt([...values, position.at(-1) ?? null], index);
}

function operandOf(condition: Condition): SortValue {
  const [value = null] = "values" in condition ? condition.values : [];
  return condition.kind !== "exists" && "as" in condition && condition.as !== undefined
    ? [String(value)]
    : value;
}

function greatest(a: Buffer, b: Buffer): Buffer {
  return Buffer.compare(a, b) > 0 ? a : b;
}

function least(a: Buffer, b: Buffer): Buffer {
  return Buffer.compare(a, b) < 0 ? a : b;
}
