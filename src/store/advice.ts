/** What would make a list quick that is not. */
import type { Index } from "../collection/indexes.ts";
import { formatPath, type Path } from "../collection/paths.ts";
import type { Filter } from "../query/filter.ts";
import { conjunctsOf, isEquality, isRange, isServed, neededKeys, repeatedIn } from "./conjuncts.ts";
import { isByIdsAlone, type Quick, servingOf } from "./serving.ts";

/** Says what would make a list quick, in a sentence. */
export function adviceFor(query: Quick, indexes: readonly Index[]): string {
  if (query.words !== undefined) return "Search for fewer or longer words, or add a filter.";
  const serving = servingOf(query, indexes);
  if (serving?.kind === "ids" && !isByIdsAlone(query)) return "Filter by fewer ids, or by the ids alone.";
  if (serving !== undefined) return servedAdvice(query);
  const repeated = repeatedIn(conjunctsOf(query.filter));
  return repeated === undefined
    ? indexAdvice(query)
    : `No index supports several conditions on "${repeated}". Use one condition, or a range from one value to another.`;
}

/** The page is quick: what is beside it takes the time. */
function servedAdvice({ count, filter }: Quick): string {
  return count === true && filter !== undefined
    ? 'Counting the total takes the time. Send count=none, or page with "cursor".'
    : 'Page with "cursor", which is fast at any position.';
}

/** Names the index that serves the list, or as much of it as an index can. */
function indexAdvice({ filter, sort = [] }: Quick): string {
  const conditions = conjunctsOf(filter);
  const equal = conditions.filter(isEquality).map(nameOf);
  const sorted = neededKeys(sort)
    .map(({ path, descending }) => ({ name: formatPath(path), descending }))
    .filter(({ name }) => name !== "id" && !equal.includes(name));
  const ranged = sort.length === 0 ? rangedIn(conditions, equal) : undefined;
  if (ranged !== undefined) sorted.push({ name: ranged, descending: false });
  const ordered = sorted.map(({ name, descending }) => `${descending ? "-" : ""}${name}`);
  const keys = [...new Set(equal), ...ordered];
  if (keys.length === 0) {
    return 'No index supports such a filter. Filter by equal values or by a range, or declare the attributes in "search" and use "q".';
  }
  const spelled = JSON.stringify(keys.length === 1 ? keys[0] : keys);
  const request = ranged === undefined ? "" : `, and sort=${ranged} to the request`;
  const so = `add "indexes": [${spelled}] to the collection's configuration${request}.`;
  return conditions.every((condition) => isServed(condition, sorted[0]?.name))
    ? `An index would make it fast: ${so}`
    : `An index would make it faster: ${so} No index supports the rest of the filter.`;
}

/** The attribute by which a list must be sorted for an index to serve a range: it gives one in no other order. */
function rangedIn(conditions: readonly Filter[], equal: readonly string[]): string | undefined {
  const range = conditions.find(isRange);
  const name = range === undefined ? undefined : nameOf(range);
  return name === undefined || equal.includes(name) ? undefined : name;
}

function nameOf({ path }: { path: Path }): string {
  return formatPath(path);
}
