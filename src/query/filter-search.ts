/** A search that stands in a filter. */

import type { Collection } from "../collection/collection.ts";
import { isObject } from "../json/values.ts";
import { askedFacts } from "./asked-facts.ts";
import type { Reading } from "./conditions.ts";
import { inside, type Place } from "./faults.ts";

/** What a request says of filter and search. */
export interface Stated {
  filter: unknown;
  q: string | undefined;
}

/**
 * Search inputs of react-admin send `filter={"q":"text"}`, which is a search unless there may be such an attribute. What
 * is wrong goes to the faults.
 */
export function splitSearch({ filter, q }: Stated, place: Place, { collection, faults }: Reading): Stated {
  if (!isObject(filter) || typeof filter.q !== "string" || mayBeAttribute(collection)) return { filter, q };
  const { q: inFilter, ...rest } = filter;
  if (q === undefined) return { filter: rest, q: inFilter as string };
  faults.add(inside(place, "q"), "repeatedParameter", 'cannot be used together with "q"');
  return { filter: rest, q };
}

function mayBeAttribute(collection: Collection): boolean {
  const { isDeclared, alternatives } = askedFacts(collection, ["q"]);
  return isDeclared || (collection.search.length === 0 && alternatives === undefined);
}
