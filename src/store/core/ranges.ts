/** Ranges of indexes: a range contains the keys of the resources of a list (`order-keys.ts`). */
import { type Index, nameOfKey, type SortKey } from "../../collection/indexes.ts";
import { isIdPath } from "../../collection/paths.ts";
import { type Condition, matchesAll, type StoreFilter } from "../../query/filter.ts";
import { type CursorValues, compareSortValues, type SortValue } from "../../query/sort.ts";
import type { ListQuery } from "../port/page.ts";
import { accessPathOf, conjunctsOf, indexedKeys, isEquality, isIdList, isRange } from "./access-path.ts";
import { after, before, boundsOfType, keyAt } from "./order-keys.ts";

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

/** The part of a query that decides on its scan. */
export type ScanQuery = Pick<ListQuery, "filter" | "sort" | "words" | "after">;

/** An index that can find the resources of a list, with its use. */
interface Candidate {
  slot: Slot;
  /** The values that its first attributes must have. */
  equal: readonly Condition[];
  /** The ends of the range of the next attribute. */
  ends: readonly Condition[];
  isOrdered: boolean;
}

/**
 * The best way to find the resources of a list by an index. `undefined`: no index helps. If the access path of the list is an
 * index, the list is exactly a range of this index, in its order.
 */
export function scanOf(query: ScanQuery, slots: readonly Slot[]): Scan | undefined {
  const conditions = conjunctsOf(query.filter);
  if (query.words !== undefined || conditions.some(isIdList)) return undefined;
  const path = accessPathOf(
    query,
    slots.map(({ index }) => index),
  );
  if (path?.kind === "ids" && conditions.length === 0) return undefined;
  const candidates = slots
    .filter(({ index }) => path?.kind !== "index" || path.index === index)
    .map((slot) => candidateOf(slot, conditions, query))
    .filter(({ equal, ends, isOrdered }) => equal.length > 0 || ends.length > 0 || isOrdered);
  const [first] = candidates.sort((a, b) => worthOf(b) - worthOf(a));
  if (first === undefined) return undefined;
  const used = new Set<StoreFilter>([...first.equal, ...first.ends]);
  const rest = conditions.filter((each) => !used.has(each) && !matchesAll(each));
  return {
    range: rangeOf(first, query),
    isOrdered: first.isOrdered,
    isBackward: isBackward(query),
    filter: rest.length === 0 ? undefined : { kind: "and", filters: rest },
  };
}

/** The range of an index for a filter. All conditions of the filter must be about the first attributes of the index. */
export function rangeIn(slot: Slot, filter: StoreFilter | undefined): Range {
  return rangeOf(candidateOf(slot, conjunctsOf(filter), {}), {});
}

function worthOf({ equal, ends, isOrdered }: Candidate): number {
  return 4 * equal.length + 2 * Number(isOrdered) + Number(ends.length > 0);
}

function candidateOf(slot: Slot, conditions: readonly StoreFilter[], query: ScanQuery): Candidate {
  const { index } = slot;
  const equalities = new Map(
    conditions.filter(isEquality).map((each): [string, Condition] => [nameOfKey(each), each]),
  );
  const equal: Condition[] = [];
  for (const key of index) {
    const found = equalities.get(nameOfKey(key));
    if (found === undefined) break;
    equal.push(found);
  }
  const next = index[equal.length];
  const ends = next === undefined ? [] : endsOf(next, conditions);
  return { slot, equal, ends, isOrdered: isOrdered(index, equal, query) };
}

/** Up to one lower and one upper end of the values of an attribute, of one type. */
function endsOf(key: SortKey, conditions: readonly StoreFilter[]): readonly Condition[] {
  const ranges = conditions.filter(isRange).filter((each) => nameOfKey(each) === nameOfKey(key));
  const type = typeof ranges[0]?.values[0];
  const same = ranges.filter(({ values }) => typeof values[0] === type);
  return ["g", "l"].flatMap((end) => same.find(({ kind }) => kind.startsWith(end)) ?? []);
}

/** Whether the part of the index with these values has the order of the list, and the key of its position is known. */
function isOrdered(index: Index, equal: readonly Condition[], { sort = [], after }: ScanQuery): boolean {
  const values = new Map(equal.map((each) => [nameOfKey(each), operandOf(each)]));
  const tail = index.slice(equal.length);
  const keys = indexedKeys(sort).filter((key) => !values.has(nameOfKey(key)));
  if (tail.length !== keys.length || keys.some((key, n) => !isSameKey(key, tail[n] as SortKey))) return false;
  // A position with another value is before or after all keys with these values.
  return sort.every((key, n) => {
    const value = values.get(nameOfKey(key));
    return after === undefined || value === undefined || compareSortValues(value, after[n] ?? null) === 0;
  });
}

/** An index serves a list by id alone only if the filter sets all its attributes. Its keys then have ascending ids. */
function isBackward({ sort: [first] = [] }: ScanQuery): boolean {
  return first !== undefined && isIdPath(first.path) && first.descending;
}

function isSameKey(a: SortKey, b: SortKey): boolean {
  return a.descending === b.descending && nameOfKey(a) === nameOfKey(b);
}

function rangeOf({ slot: { slot, index }, equal, ends, isOrdered }: Candidate, query: ScanQuery): Range {
  const values = equal.map(operandOf);
  const start = keyAt(values, index);
  let [low, high] = [before(start), after(start)];
  for (const end of ends) {
    const key = index[equal.length] as SortKey;
    const value = operandOf(end);
    const at = keyAt([...values, value], index);
    const type = boundsOfType(start, value, key);
    const isUpward = end.kind.startsWith("g") !== key.descending;
    const hasValue = end.kind.length === 3;
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
  sort: readonly SortKey[],
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
