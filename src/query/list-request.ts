/**
 * A list request, independent of its syntax: which resources it selects, and the checks that depend on several parameters. `query-string.ts` and
 * `query-body.ts` read the two syntaxes.
 */

import type { Collection } from "../collection/collection.ts";
import { shortJson } from "../collection/messages.ts";
import { isIdPath } from "../collection/paths.ts";
import type { Fields } from "../collection/visibility.ts";
import { isObject } from "../json/values.ts";
import { invalidCursor, type ListContents, listName, parseCursor } from "./cursor.ts";
import type { Embed } from "./embed-request.ts";
import { allOf, matchesAll, namesRelated, type RequestedFilter } from "./filter.ts";
import { readFilter } from "./filter-request.ts";
import type { PageDraft } from "./list-parameters.ts";
import { type Reading, requireUsedZone, visibleAttributeInfo } from "./reading.ts";
import { termsOf, wordsOf } from "./search-words.ts";
import { type CursorValues, hasRelatedKeys, type RequestedSortKey, withId } from "./sort.ts";
import type { TableForm } from "./table-form.ts";
import { inside, type Location } from "./violations.ts";

/** The request of a list. */
export interface ListRequest extends ListContents {
  /** The attributes in the response; `undefined`: all. */
  fields: Fields | undefined;
  /** Whether the body of the response is an object around the list. */
  envelope: boolean;
  /** `exact` always counts the total, and `none` never does; `undefined`: the service decides. */
  count: "exact" | "none" | undefined;
  /** The relations whose resources the response contains. */
  embeds: readonly Embed[];
  /** The text of CSV. */
  table: TableForm;
  paging: Paging;
}

/** The page of the list. */
export type Paging =
  | { kind: "cursor"; limit: number; hasLimit: boolean; after: CursorValues | undefined }
  | { kind: "offset"; limit: number; offset: number };

/** The largest offsets: in a list that starts with the best matches, and in any other list. */
export const maxOffset = { ranked: 1_000, other: 100_000 } as const;

/** Whether the best matches come first. Such a list has no cursors. */
export function isRanked({ words, sort }: Pick<ListContents, "words" | "sort">): boolean {
  return words !== undefined && sort.length === 0;
}

/** The number of resources on a page if the client does not set a limit. */
export const defaultPageSize = 100;

const maxWords = 32;
const maxSearchLength = 5_000;

/** The parameters of a request, before they are checked together. */
export interface Draft extends Pick<ListRequest, "fields" | "envelope" | "count" | "embeds" | "table"> {
  filter: RequestedFilter;
  sort: readonly RequestedSortKey[];
  q: string | undefined;
  at: number | undefined;
  page: PageDraft;
  /** The location of a parameter or member. */
  locationOf: (name: string) => Location;
}

/** Checks the parameters together. Throws INVALID_PARAMETER with all violations, and INVALID_CURSOR. */
export function toRequest(draft: Draft, reading: Reading, maxPageSize: number): ListRequest {
  const { sort, at, fields, envelope, count, embeds, table, locationOf } = draft;
  requireUsedZone(reading, locationOf("timezone"));
  const words = readWords(draft, reading);
  const filter = searchFilter(draft.filter, words);
  const refuseTime = (other: string) =>
    reading.violations.add(locationOf("at"), "at", `cannot be used together with ${other}`);
  if (words !== undefined && at !== undefined) refuseTime('"q"');
  if (embeds.length > 0 && at !== undefined) refuseTime('"embed"');
  if (namesRelated(filter) && at !== undefined) refuseTime("a filter by related resources");
  if (hasRelatedKeys(sort) && at !== undefined) refuseTime("a sort by related resources");
  const request = { filter, sort, words, at, fields, envelope, count, embeds, table };
  const ranked = isRanked(request);
  const limit = Math.min(draft.page.limit ?? (filter && countIds(filter)) ?? defaultPageSize, maxPageSize);
  if (draft.page.kind === "cursor" && !ranked) {
    reading.violations.throwIfAny();
    const hasLimit = draft.page.limit !== undefined;
    const after = readAfter(draft.page.cursor, locationOf("cursor"), request, reading);
    return { ...request, paging: { kind: "cursor", limit, hasLimit, after } };
  }
  const paging = toOffset(draft, { isRanked: ranked, limit }, reading);
  reading.violations.throwIfAny();
  return { ...request, paging };
}

/** The terms of `q` (`termsOf`). Adds violations. */
export function readWords(
  { q, locationOf }: Pick<Draft, "q" | "locationOf">,
  { collection, violations }: Reading,
): string[] | undefined {
  if (q === undefined) return undefined;
  const location = locationOf("q");
  if (collection.search.length === 0) {
    const detail = `cannot be used: the collection "${collection.name}" declares no attributes for full-text search. Declare them, such as "search": ["title"]`;
    violations.add(location, "search", detail);
    return [];
  }
  const terms = q.length > maxSearchLength ? [] : termsOf(q);
  if (q.length > maxSearchLength)
    violations.add(
      location,
      "search",
      `must have at most ${maxSearchLength.toLocaleString("en")} characters`,
    );
  else if (q.trim() === "") violations.add(location, "search", `must have a word, but is ${shortJson(q)}`);
  const count = terms.flatMap((term) => wordsOf(term)).length;
  if (count > maxWords) violations.add(location, "search", `must have at most ${maxWords} words`);
  return terms;
}

/** The filter of a list with a search. Without terms, the search finds nothing. */
export function searchFilter(
  filter: RequestedFilter,
  terms: readonly string[] | undefined,
): RequestedFilter | undefined {
  if (terms?.length === 0) return { kind: "or", filters: [] };
  return matchesAll(filter) ? undefined : filter;
}

/** The maximum number of resources that the filter can match; `undefined` without a condition on ids. */
function countIds(filter: RequestedFilter): number | undefined {
  if (filter.kind === "in" && isIdPath(filter.path)) return filter.values.length;
  if (filter.kind !== "and") return undefined;
  return filter.filters.map(countIds).find((count) => count !== undefined);
}

function toOffset(
  { page, locationOf }: Draft,
  { isRanked, limit }: { isRanked: boolean; limit: number },
  { violations }: Reading,
): Paging {
  if (page.kind === "cursor") {
    if (page.cursor !== undefined) violations.add(locationOf("cursor"), "cursor", rankedCursor);
    return { kind: "offset", limit, offset: 0 };
  }
  const offset = page.kind === "page" ? (page.page - 1) * limit : page.offset;
  const location = locationOf(page.kind === "page" ? "_page" : page.name);
  if (isRanked && offset > maxOffset.ranked) violations.add(location, "offset", rankedOffset());
  else if (offset > maxOffset.other) violations.add(location, "offset", tooFar());
  return { kind: "offset", limit, offset };
}

const rankedCursor =
  'needs a "sort" if there is a "q". Without "sort", the best matches come first: page through them with "offset"';

// Functions, because the first number that is formatted loads the data of the language, which takes 10 ms.
const rankedOffset = () =>
  `goes beyond the first ${maxOffset.ranked.toLocaleString("en")} matches: add a "sort" to go further, or add words to "q"`;

const tooFar = () =>
  `goes beyond the first ${maxOffset.other.toLocaleString("en")} resources: use "cursor", which is fast at any position`;

function readAfter(
  cursor: string | undefined,
  location: Location,
  list: ListContents,
  { collection }: Reading,
): CursorValues | undefined {
  if (cursor === undefined) return undefined;
  const name = listName(collection.name, list);
  const natural = list.sort.flatMap(({ as }, n) => (as === "natural" ? [n] : []));
  const after = parseCursor(name, cursor, withId(list.sort).length, location, natural);
  const isNumber = typeof after.at(-1) === "number";
  if (isNumber !== (collection.idKind === "integer")) throw invalidCursor(location);
  return after;
}

/** The resources that a request selects. */
export interface Selection {
  filter: RequestedFilter;
  /** The text of the search. */
  q: string | undefined;
}

/** Joins the filter, the conditions of parameters, and the condition that the path adds. Adds violations. */
export function readSelection(
  sent: FilterAndSearch,
  byAttribute: readonly RequestedFilter[],
  location: Location,
  reading: Reading,
): Selection {
  const { filter, q } = splitSearch(sent, location, reading);
  const ofFilter = filter === undefined ? [] : [readFilter(filter, location, reading)];
  const within = reading.within === undefined ? [] : [reading.within];
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
