/** What would make a list or its figures faster, for the error message of one that took too long. */
import { formatKey, type Index, nameOfKey } from "../../collection/indexes.ts";
import { formatPath, type Path } from "../../collection/paths.ts";
import { Problem } from "../../errors.ts";
import { namesRelated, type StoreFilter } from "../../query/filter.ts";
import { hasRelatedKeys } from "../../query/sort.ts";
import {
  accessPathOf,
  type CostQuery,
  conjunctsOf,
  indexedKeys,
  indexWith,
  isByIdsAlone,
  isEquality,
  isRange,
} from "./access-path.ts";
import { builtIndexes, type NumberedCollection } from "./catalogue.ts";

/** The problem of a list that takes longer than the option `queryMs` allows. */
export function listTooExpensive(query: CostQuery, collection: NumberedCollection, maxMs: number): Problem {
  const { indexes } = collection;
  const built = builtIndexes(collection);
  const isCurrent = query.at === undefined && query.deleted === undefined;
  const isBeingBuilt = isCurrent && accessPathOf(query, indexes) !== accessPathOf(query, built);
  const advice = isBeingBuilt
    ? "The service is still building the index for it. Try again later."
    : adviceFor(query, indexes);
  return new Problem("QUERY_TOO_EXPENSIVE", `The list takes longer than the limit of ${maxMs} ms. ${advice}`);
}

/** What would make the list faster, in one or two sentences for the error message. */
export function adviceFor(query: CostQuery, indexes: readonly Index[]): string {
  const { at, ...current } = query;
  if (at !== undefined) return `A later time has fewer changes to undo. ${adviceFor(current, indexes)}`;
  if (query.deleted !== undefined)
    return 'It reads all deleted resources. It is faster if the filter and the sort name only "id" and members of "_deleted".';
  if (query.words !== undefined) return "Search for fewer or longer words, or add a filter.";
  const path = accessPathOf(query, indexes);
  if (path === "ids" && !isByIdsAlone(query)) return "Filter by fewer ids, or by the ids alone.";
  if (path !== undefined) return pagingAdvice(query);
  if (hasRelatedKeys(query.sort))
    return "No index supports a sort by related resources. Add a filter that fewer resources match.";
  if (namesRelated(query.filter)) return relatedAdvice(query);
  const repeated = repeatedAttribute(query.filter);
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
            `"indexes": [${JSON.stringify(formatPath(each.path))}] to the configuration of "${relation.collection}"`,
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
  const nameOf = ({ path }: { path: Path }) => formatPath(path);
  const equal = conditions.filter(isEquality).map(nameOf);
  const sorted = indexedKeys(sort)
    .map((key) => ({ name: nameOf(key), key: formatKey(key) }))
    .filter(({ name }) => name !== "id" && !equal.includes(name));
  // An index supports a range only if the list is also sorted by its attribute.
  const [range] = sort.length === 0 ? conditions.filter(isRange).map(nameOf) : [];
  const ranged = range === undefined || equal.includes(range) ? undefined : range;
  if (ranged !== undefined) sorted.push({ name: ranged, key: ranged });
  const keys = [...new Set(equal), ...sorted.map(({ key }) => key)];
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

/** The attribute of which no index supports all equal values, or all ends: several conditions are about the same part of its keys. */
function repeatedAttribute(filter: StoreFilter | undefined): string | undefined {
  const known = conjunctsOf(filter).filter((each) => isEquality(each) || isRange(each));
  const repeated = known.find((each) => {
    const { path, as } = each;
    const alike = known.filter(
      (other) => nameOfKey(other) === nameOfKey(each) && isEquality(other) === isEquality(each),
    );
    const index = [{ path, descending: false, ...(as !== undefined && as !== "time" && { as }) }];
    return indexWith([], { kind: "and", filters: alike }, [index]) === undefined;
  });
  return repeated && formatPath(repeated.path);
}
