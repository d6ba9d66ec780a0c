/** Which resources a request selects: by its filter, by the parameters of attributes, and by words. */
import type { Collection } from "../collection/collection.ts";
import { isObject } from "../json/values.ts";
import { allOf, type RequestedFilter } from "./filter.ts";
import { readFilter } from "./filter-json.ts";
import { type ListScope, type Reading, visibleAttributeInfo } from "./reading.ts";
import { inside, type Location } from "./violations.ts";

/** The resources that a request selects. */
export interface Selection {
  filter: RequestedFilter;
  /** The text of the search. */
  q: string | undefined;
}

/** Joins the filter, the conditions of parameters, and the condition that the path adds. Adds violations. */
export function readSelection(
  sent: FilterAndSearch,
  { byAttribute, scope }: { byAttribute: readonly RequestedFilter[]; scope: ListScope },
  location: Location,
  reading: Reading,
): Selection {
  const { filter, q } = splitSearch(sent, location, reading);
  const ofFilter = filter === undefined ? [] : [readFilter(filter, location, reading)];
  const within = scope.within === undefined ? [] : [scope.within];
  return { filter: allOf([...ofFilter, ...byAttribute, ...within]), q };
}

interface FilterAndSearch {
  filter: unknown;
  q: string | undefined;
}

/**
 * Finds a search inside the filter, as search inputs of react-admin send it: `filter={"q":"text"}`. If an attribute can have
 * the name `q`, this is a condition instead. Adds violations.
 */
function splitSearch(
  { filter, q }: FilterAndSearch,
  location: Location,
  { collection, violations }: Reading,
): FilterAndSearch {
  if (!isObject(filter) || typeof filter.q !== "string" || mayBeAttribute(collection)) return { filter, q };
  const { q: inFilter, ...rest } = filter;
  if (q === undefined) return { filter: rest, q: inFilter as string };
  violations.add(inside(location, "q"), "repeatedParameter", 'cannot be used together with "q"');
  return { filter: rest, q };
}

function mayBeAttribute(collection: Collection): boolean {
  const { isDeclared, alternatives } = visibleAttributeInfo(collection, ["q"]);
  return isDeclared || (collection.search.length === 0 && alternatives === undefined);
}
