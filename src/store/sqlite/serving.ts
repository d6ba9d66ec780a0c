/** Which index serves a list, so that it costs no more than the page itself; and which one would. */
import type { Index, SortKey } from "../../collection/indexes.ts";
import { formatPath, isIdPath, type Path } from "../../collection/paths.ts";
import type { Condition, Filter } from "../../query/filter.ts";
import { matches } from "../../query/matches.ts";
import { type Position, sortedCodePoints } from "../../query/sort.ts";
import type { ListQuery } from "../store.ts";

/** How a list is served: by the ids, by a declared index, or (`undefined`) by reading whatever there is. */
export type Serving = { kind: "ids" } | { kind: "index"; index: Index } | undefined;

type Asked = Pick<ListQuery, "filter" | "sort" | "words" | "after">;

type Quick = Asked & Pick<ListQuery, "offset" | "count">;

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
function isByIdsAlone({ filter, sort = [] }: Asked): boolean {
  return conjunctsOf(filter).length <= 1 && neededKeys(sort).length === 0;
}

/** Says what would make a list quick, in a sentence. */
export function adviceFor(query: Quick, indexes: readonly Index[]): string {
  const { filter, sort = [], words } = query;
  if (words !== undefined) return "Ask for fewer or longer words, or for less with a filter.";
  const serving = servingOf(query, indexes);
  if (serving?.kind === "ids" && !isByIdsAlone(query)) return "Ask for fewer ids, or for the ids alone.";
  if (serving !== undefined) return servedAdvice(query);
  const conditions = conjunctsOf(filter);
  const repeated = repeatedIn(conditions);
  if (repeated !== undefined)
    return `No index serves a filter that wants several things of "${repeated}": ask for it once, or for a range from one value to another.`;
  const equal = conditions.filter(isEquality).map(({ path }) => formatPath(path));
  const range = conditions.find(isRange);
  const sorted = neededKeys(sort)
    .map(({ path, descending }) => ({ name: formatPath(path), descending }))
    .filter(({ name }) => name !== "id" && !equal.includes(name));
  // An index gives a range in the order of its attribute, and no other way.
  const isForSort = sort.length === 0 && range !== undefined && !equal.includes(formatPath(range.path));
  if (isForSort) sorted.push({ name: formatPath(range.path), descending: false });
  const keys = [
    ...new Set(equal),
    ...sorted.map(({ name, descending }) => `${descending ? "-" : ""}${name}`),
  ];
  if (keys.length === 0) {
    return "No index serves such a filter: ask for equal values or for a range, or declare the attributes in search and ask with q.";
  }
  const spelled = JSON.stringify(keys.length === 1 ? keys[0] : keys);
  const isWhole = conditions.every((condition) => isServed(condition, sorted[0]?.name));
  const so = `indexes: [${spelled}] in the collection's configuration${isForSort ? `, and sort=${formatPath(range.path)} in the request` : ""}.`;
  return isWhole
    ? `An index would make it quick: ${so}`
    : `An index would make it quicker: ${so} No index serves the rest of the filter.`;
}

/** The page is quick: what is beside it takes the time. */
function servedAdvice({ count, filter }: Quick): string {
  return count === true && filter !== undefined
    ? 'The page is quick, and the total is not: ask with count=none, or by "cursor".'
    : 'A page so far from the beginning is quick by "cursor".';
}

/** What a list that an index serves still asks for beyond a position in it. */
export interface Remainder {
  /** Without attributes of which one value is wanted: they decide nothing more. */
  sort: readonly SortKey[];
  after: Position;
  /** The attribute of which a range is wanted: there is nothing in it of another type. */
  ranged: string | undefined;
  /** The filter without the end of the range that lies behind: SQLite might begin at that one, as far away as it is. */
  filter: Filter | undefined;
}

/** What is left to ask for beyond a position. */
export function remainderOf(
  filter: Filter | undefined,
  sort: readonly SortKey[],
  after: Position,
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

/** The attribute of which an index would give too much: it begins and ends at one condition of a kind, and leaves out by the others. */
function repeatedIn(conditions: readonly Filter[]): string | undefined {
  const seen = new Map<string, unknown>();
  for (const condition of conditions) {
    if (!isEquality(condition) && !isRange(condition)) continue;
    const name = formatPath(condition.path);
    const end = `${condition.kind.slice(0, 1)} ${name}`;
    const type = isRange(condition) ? typeof condition.values[0] : "any";
    if (seen.has(end) || (isRange(condition) && (seen.get(name) ?? type) !== type)) return name;
    seen.set(end, type);
    if (isRange(condition)) seen.set(name, type);
  }
  return undefined;
}

/** Whether the position is one of the list, as those in all cursors are which nobody made up. */
function isWithin(
  after: Position | undefined,
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

/** Whether an index serves the condition whose first attribute after the equal ones is `ranged`. */
function isServed(condition: Filter, ranged: string | undefined): boolean {
  return isEquality(condition) || (isRange(condition) && formatPath(condition.path) === ranged);
}

function isSameKey(a: SortKey, b: SortKey): boolean {
  return a.descending === b.descending && formatPath(a.path) === formatPath(b.path);
}

/** After the id, nothing is left to sort. An index ends with ascending ids; the ids alone serve both directions. */
function neededKeys(sort: readonly SortKey[]): readonly SortKey[] {
  const id = sort.findIndex(({ path }) => isIdPath(path));
  if (id === -1) return sort;
  return sort.slice(0, id > 0 && sort[id]?.descending === true ? id + 1 : id);
}

function conjunctsOf(filter: Filter | undefined): readonly Filter[] {
  if (filter === undefined) return [];
  return filter.kind === "and" ? filter.filters.flatMap(conjunctsOf) : [filter];
}

function namesIds(condition: Filter): boolean {
  return condition.kind === "in" && isIdPath(condition.path);
}

/** A condition that leaves one value, and one that the column of an index holds whole. */
function isEquality(condition: Filter): condition is Condition & { kind: "in"; path: Path } {
  if (condition.kind !== "in" || condition.values.length !== 1 || isIdPath(condition.path)) return false;
  const [value] = condition.values;
  return value !== null && isWhole(value);
}

function isRange(condition: Filter): condition is Condition & { kind: "gt" | "gte" | "lt" | "lte" } {
  if (
    condition.kind !== "gt" &&
    condition.kind !== "gte" &&
    condition.kind !== "lt" &&
    condition.kind !== "lte"
  )
    return false;
  return condition.values.length === 1 && !isIdPath(condition.path) && isWhole(condition.values[0]);
}

function isWhole(value: unknown): boolean {
  return typeof value !== "string" || value.length < sortedCodePoints;
}
