/** Advice for a list that takes too long: what would make it faster. */
import type { Index } from "../../collection/indexes.ts";
import { formatPath, type Path } from "../../collection/paths.ts";
import { Problem } from "../../errors.ts";
import { namesRelated, type StoreFilter } from "../../query/filter.ts";
import { accessPathOf, type CostQuery, isByIdsAlone } from "./access-path.ts";
import { conjunctsOf, indexedKeys, isEquality, isRange, repeatedAttribute } from "./conjuncts.ts";

/** The problem of a list that takes longer than the option `queryMs` allows. */
export function listTooExpensive(query: CostQuery, indexes: readonly Index[], maxMs: number): Problem {
  return new Problem(
    "QUERY_TOO_EXPENSIVE",
    `The list takes longer than the limit of ${maxMs} ms. ${adviceFor(query, indexes)}`,
  );
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
