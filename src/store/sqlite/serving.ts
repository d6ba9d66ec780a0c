/** Which index serves a list, so that it costs no more than the page itself; and which one would. */
import type { Index, SortKey } from "../../collection/indexes.ts";
import { formatPath, isIdPath, type Path } from "../../collection/paths.ts";
import type { Condition, Filter } from "../../query/filter.ts";
import { sortedCodePoints } from "../../query/sort.ts";
import type { ListQuery } from "../store.ts";

/** How a list is served: by the ids, by a declared index, or (`undefined`) by reading whatever there is. */
export type Serving = { kind: "ids" } | { kind: "index"; index: Index } | undefined;

type Asked = Pick<ListQuery, "filter" | "sort" | "words">;

type Quick = Asked & Pick<ListQuery, "offset" | "count">;

/** What serves the list. */
export function servingOf({ filter, sort = [], words }: Asked, indexes: readonly Index[]): Serving {
  if (words !== undefined) return undefined;
  const conditions = conjunctsOf(filter);
  if (conditions.some(namesIds)) return { kind: "ids" };
  const keys = neededKeys(sort);
  if (conditions.length === 0 && keys.length === 0) return { kind: "ids" };
  const index = indexes.find((candidate) => serves(candidate, conditions, keys));
  return index === undefined ? undefined : { kind: "index", index };
}

/** Resources that may be passed over on the thread that answers requests. */
const maxQuickOffset = 1_000;

/** Whether a list costs no more than the page itself, so that reading it holds nobody up. */
export function isQuick(query: Quick, indexes: readonly Index[]): boolean {
  if ((query.offset ?? 0) > maxQuickOffset) return false;
  const mustCount = query.count === true && query.filter !== undefined;
  const serving = servingOf(query, indexes);
  return serving?.kind === "ids" || (serving !== undefined && !mustCount);
}

/** Says what would make a list quick, in a sentence. */
export function adviceFor({ filter, sort = [], words }: Asked): string {
  if (words !== undefined) return "Ask for fewer or longer words, or for less with a filter.";
  const conditions = conjunctsOf(filter);
  const equal = conditions.filter(isEquality).map(({ path }) => formatPath(path));
  const range = conditions.find(isRange);
  const sorted = neededKeys(sort).filter(({ path }) => !isIdPath(path));
  const ordered = sorted.map(({ path, descending }) => `${descending ? "-" : ""}${formatPath(path)}`);
  if (ordered.length === 0 && range !== undefined) ordered.push(formatPath(range.path));
  const keys = [...new Set([...equal, ...ordered.filter((key) => !equal.includes(key.replace(/^-/, "")))])];
  if (keys.length === 0) {
    return "No index serves such a filter: ask for equal values or for a range, or declare the attributes in search and ask with q.";
  }
  const isWhole = conditions.every((condition) => isEquality(condition) || condition === range);
  const rest = isWhole
    ? ""
    : " It serves equal values, one range and the sort; the rest of the filter reads on.";
  return `An index would make it quick: indexes: [${JSON.stringify(keys.length === 1 ? keys[0] : keys)}] in the collection's configuration.${rest}`;
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
  return conditions.every(
    (condition) => isEquality(condition) || (isRange(condition) && formatPath(condition.path) === ranged),
  );
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
