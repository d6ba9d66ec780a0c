/** Which index serves a list, so that it costs no more than the page itself. */
import type { Index, SortKey } from "../collection/indexes.ts";
import { formatPath } from "../collection/paths.ts";
import type { Filter } from "../query/filter.ts";
import { matches } from "../query/filter.ts";
import type { CursorValues } from "../query/sort.ts";
import { conjunctsOf, isEquality, isRange, isServed, namesIds, neededKeys, repeatedIn } from "./conjuncts.ts";
import type { ListQuery } from "./page.ts";

/** How a list is served: by the ids, by a declared index, or (`undefined`) by reading whatever there is. */
export type Serving = { kind: "ids" } | { kind: "index"; index: Index } | undefined;

type Asked = Pick<ListQuery, "filter" | "sort" | "words" | "after">;

/** What is asked of a list that should be quick. */
export type Quick = Asked & Pick<ListQuery, "offset" | "count">;

/** What serves the list. */
export function servingOf({ filter, sort = [], words, after }: Asked, indexes: readonly Index[]): Serving {
  if (words !== undefined) return undefined;
  const conditions = conjunctsOf(filter);
  if (conditions.some(namesIds)) return { kind: "ids" };
  const keys = neededKeys(sort);
  if (conditions.length === 0 && keys.length === 0) return { kind: "ids" };
  if (repeatedIn(conditions) !== undefined || !isWithin(after, sort, conditions)) return undefined;
  const index = indexes.find((candidate) => serves(candidate, conditions, keys));
  return index === undefined ? undefined : { kind: "index", index };
}

/** Resources that may be passed over on the thread that answers requests. */
const maxQuickOffset = 1_000;

/** Whether a list costs no more than the page itself, so that reading it holds nobody up. */
export function isQuick(query: Quick, indexes: readonly Index[]): boolean {
  if ((query.offset ?? 0) > maxQuickOffset) return false;
  const serving = servingOf(query, indexes);
  return serving?.kind === "ids" ? isByIdsAlone(query) : serving !== undefined;
}

/** A thousand resources may be as long as a gibibyte: whatever asks for more than their ids has to look through that. */
export function isByIdsAlone({ filter, sort = [] }: Asked): boolean {
  return conjunctsOf(filter).length <= 1 && neededKeys(sort).length === 0;
}

/** What a list that an index serves still asks for beyond a position in it. */
export interface Remainder {
  /** Without attributes of which one value is wanted: they decide nothing more. */
  sort: readonly SortKey[];
  after: CursorValues;
  /** The attribute of which a range is wanted: there is nothing in it of another type. */
  ranged: string | undefined;
  /** The filter without the end of the range that lies behind: SQLite might begin at that one, as far away as it is. */
  filter: Filter | undefined;
}

/** What is left to ask for beyond a position. */
export function remainderOf(
  filter: Filter | undefined,
  sort: readonly SortKey[],
  after: CursorValues,
): Remainder {
  const conditions = conjunctsOf(filter);
  const equal = new Set(conditions.filter(isEquality).map(({ path }) => formatPath(path)));
  const isOpen = (n: number) => sort[n] === undefined || !equal.has(formatPath(sort[n].path));
  const open = sort.filter((_, n) => isOpen(n));
  const behind = open[0]?.descending === true ? "l" : "g";
  const ahead = conditions.filter((each) => !(isRange(each) && each.kind.startsWith(behind)));
  const range = conditions.find(isRange);
  return {
    sort: open,
    after: after.filter((_, n) => isOpen(n)),
    ranged: range === undefined ? undefined : formatPath(range.path),
    filter: ahead.length === 0 ? undefined : { kind: "and", filters: ahead },
  };
}

/** Whether the position is one of the list, as those in all cursors are which nobody made up. */
function isWithin(
  after: CursorValues | undefined,
  sort: readonly SortKey[],
  conditions: readonly Filter[],
): boolean {
  if (after === undefined) return true;
  const values = new Map(sort.map(({ path }, n) => [formatPath(path), after[n]]));
  return conditions.every((condition) => {
    if (!isEquality(condition) && !isRange(condition)) return true;
    const name = formatPath(condition.path);
    return !values.has(name) || matches({ ...condition, path: ["value"] }, { value: values.get(name) });
  });
}

/** Whether the index gives what is asked for one after the other, without sorting and without what is not asked for. */
function serves(index: Index, conditions: readonly Filter[], sort: readonly SortKey[]): boolean {
  const equal = new Set(conditions.filter(isEquality).map(({ path }) => formatPath(path)));
  const names = index.map(({ path }) => formatPath(path));
  const head = names.slice(0, equal.size);
  if (!head.every((name) => equal.has(name))) return false;
  const keys = sort.filter(({ path }) => !equal.has(formatPath(path)));
  const tail = index.slice(equal.size);
  if (tail.length !== keys.length) return false;
  if (!tail.every((key, n) => isSameKey(key, keys[n] as SortKey))) return false;
  const ranged = tail[0] === undefined ? undefined : formatPath(tail[0].path);
  return conditions.every((condition) => isServed(condition, ranged));
}

function isSameKey(a: SortKey, b: SortKey): boolean {
  return a.descending === b.descending && formatPath(a.path) === formatPath(b.path);
}
