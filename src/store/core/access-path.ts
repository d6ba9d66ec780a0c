/** How an index serves a list: its access path, the conditions that an index supports, and the advice if a list takes too long. */
import { type Index, nameOfKey, type SortKey } from "../../collection/indexes.ts";
import { formatPath, isIdPath, type Path } from "../../collection/paths.ts";
import { Problem } from "../../errors.ts";
import { type Condition, matches, namesRelated, type StoreFilter } from "../../query/filter.ts";
import { type CursorValues, isInstant, sortedCodePoints, withId } from "../../query/sort.ts";
import type { ListQuery } from "../port/page.ts";
import type { NumberedCollection } from "./catalogue.ts";

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

/** The problem of a list that takes longer than the option `queryMs` allows. */
export function listTooExpensive(
  query: CostQuery,
  { indexes, slots }: Pick<NumberedCollection, "indexes" | "slots">,
  maxMs: number,
): Problem {
  const built = slots.map(({ index }) => index);
  const isBeingBuilt =
    query.at === undefined && accessPathOf(query, indexes)?.kind !== accessPathOf(query, built)?.kind;
  const advice = isBeingBuilt
    ? "The service is still building the index for it. Try again later."
    : adviceFor(query, indexes);
  return new Problem("QUERY_TOO_EXPENSIVE", `The list takes longer than the limit of ${maxMs} ms. ${advice}`);
}

/** What would make the list faster, in one or two sentences for the error message. */
export function adviceFor(query: CostQuery, indexes: readonly Index[]): string {
  const { at, ...current } = query;
  if (at !== undefined) return `A later time has fewer changes to undo. ${adviceFor(current, indexes)}`;
  if (query.words !== undefined) return "Search for fewer or longer words, or add a filter.";
  const path = accessPathOf(query, indexes);
  if (path?.kind === "ids" && !isByIdsAlone(query)) return "Filter by fewer ids, or by the ids alone.";
  if (path !== undefined) return pagingAdvice(query);
  if (namesRelated(query.filter)) return relatedAdvice(query);
  const repeated = repeatedAttribute(conjunctsOf(query.filter));
  return repeated === undefined
    ? indexAdvice(query)
    : `No index supports several conditions on "${repeated}". Use one condition, or a range from one value to another.`;
}

/** The advice for a list that has an index. The page itself is fast, so the count or the offset takes the time. */
function pagingAdvice({ count, filter }: CostQuery): string {
  return count === true && filter !== undefined
    ? 'Counting the total takes the time. Send count=none, or page with "cursor".'
    : 'Page with "cursor", which is fast at any position.';
}

/** The advice for a filter by attributes of related resources. */
function relatedAdvice({ filter }: CostQuery): string {
  const indexes = conjunctsOf(filter)
    .filter((each) => each.kind === "related")
    .flatMap(({ relation, filter: inner }) =>
      conjunctsOf(inner)
        .filter(isEquality)
        .map(
          (each) =>
            `"indexes": [${JSON.stringify(nameOf(each))}] to the configuration of "${relation.collection}"`,
        ),
    );
  const [index] = indexes;
  return index === undefined
    ? "The filter reads related resources. Add a condition on an attribute with an index."
    : `An index on the attribute of the related resources can make it faster: add ${index}.`;
}

/** The advice to declare an index. Names an index for the whole list, or for the largest possible part of it. */
function indexAdvice({ filter, sort = [] }: CostQuery): string {
  const conditions = conjunctsOf(filter);
  const equal = conditions.filter(isEquality).map(nameOf);
  const sorted = indexedKeys(sort)
    .map(({ path, descending }) => ({ name: formatPath(path), descending }))
    .filter(({ name }) => name !== "id" && !equal.includes(name));
  const ranged = sort.length === 0 ? rangeAttribute(conditions, equal) : undefined;
  if (ranged !== undefined) sorted.push({ name: ranged, descending: false });
  const ordered = sorted.map(({ name, descending }) => `${descending ? "-" : ""}${name}`);
  const keys = [...new Set(equal), ...ordered];
  if (keys.length === 0) {
    return 'No index supports such a filter. Filter by equal values or by a range, or declare the attributes in "search" and use "q".';
  }
  const index = JSON.stringify(keys.length === 1 ? keys[0] : keys);
  const sorting = ranged === undefined ? "" : `, and sort=${ranged} to the request`;
  const change = `add "indexes": [${index}] to the collection's configuration${sorting}.`;
  const isSupported = (each: StoreFilter) =>
    isEquality(each) || (isRange(each) && nameOf(each) === sorted[0]?.name);
  return conditions.every(isSupported)
    ? `An index would make it fast: ${change}`
    : `An index would make it faster: ${change} No index supports the rest of the filter.`;
}

/** The attribute of a range condition. An index supports the range only if the list is also sorted by this attribute. */
function rangeAttribute(conditions: readonly StoreFilter[], equal: readonly string[]): string | undefined {
  const range = conditions.find(isRange);
  const name = range === undefined ? undefined : nameOf(range);
  return name === undefined || equal.includes(name) ? undefined : name;
}

function nameOf({ path }: { path: Path }): string {
  return formatPath(path);
}
