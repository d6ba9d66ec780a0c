/** Puts together what was read, from a query string or from content, and judges what only the whole shows. */
import type { SortKey } from "../collection/indexes.ts";
import { shortJson } from "../collection/messages.ts";
import { isIdPath } from "../collection/paths.ts";
import type { Reading } from "./conditions.ts";
import { invalidCursor, listName, parseCursor } from "./cursor.ts";
import type { Place } from "./faults.ts";
import type { Filter } from "./filter.ts";
import { isEverything } from "./filter-json.ts";
import { isRanked, type ListRequest, maxOffset, type Paging } from "./list.ts";
import type { PageDraft } from "./paging.ts";
import { type Position, withId } from "./sort.ts";
import { wordsOf } from "./words.ts";

/** How many resources a page has when the client does not say. */
export const defaultPageSize = 100;

const maxWords = 32;
const maxSearchLength = 5_000;

/** What was read. */
export interface Draft {
  filter: Filter;
  sort: readonly SortKey[];
  q: string | undefined;
  fields: readonly string[] | undefined;
  envelope: boolean;
  count: "exact" | "none" | undefined;
  page: PageDraft;
  /** Where a parameter or member of this name is. */
  placeOf: (name: string) => Place;
}

/** The request, when nothing is wrong with it. Throws INVALID_PARAMETER with all faults, and INVALID_CURSOR. */
export function toRequest(draft: Draft, reading: Reading, maxPageSize: number): ListRequest {
  const { sort, fields, envelope, count } = draft;
  const filter = isEverything(draft.filter) ? undefined : draft.filter;
  const words = readWords(draft, reading);
  const ranked = isRanked({ words, sort });
  const ids = filter === undefined ? undefined : countIds(filter);
  const limit = Math.min(draft.page.limit ?? ids ?? defaultPageSize, maxPageSize);
  const page = { ...draft, isRanked: ranked, limit };
  if (draft.page.kind === "cursor" && !ranked) {
    reading.faults.throwIfAny();
    const after = readAfter({ ...draft.page, ...draft }, { filter, sort, words }, reading);
    const paging = { kind: "cursor", limit, hasLimit: draft.page.limit !== undefined, after } as const;
    return { filter, sort, words, fields, envelope, count, paging };
  }
  const paging = toOffset(page, reading);
  reading.faults.throwIfAny();
  return { filter, sort, words, fields, envelope, count, paging };
}

function readWords({ q, placeOf }: Draft, { collection, faults }: Reading): string[] | undefined {
  if (q === undefined) return undefined;
  const place = placeOf("q");
  if (collection.search.length === 0) {
    const detail = `cannot be used: the collection "${collection.name}" declares no attributes for full-text search. Declare them, such as "search": ["title"]`;
    faults.add(place, "search", detail);
    return [];
  }
  const words = q.length > maxSearchLength ? [] : [...new Set(wordsOf(q))];
  if (q.length > maxSearchLength)
    faults.add(place, "search", `must have at most ${maxSearchLength.toLocaleString("en")} characters`);
  else if (words.length === 0)
    faults.add(place, "search", `must contain a letter or a digit, but is ${shortJson(q)}`);
  if (words.length > maxWords) faults.add(place, "search", `must have at most ${maxWords} words`);
  return words;
}

/** How many ids the filter leaves at most, where it says so. */
function countIds(filter: Filter): number | undefined {
  if (filter.kind === "in" && isIdPath(filter.path)) return filter.values.length;
  if (filter.kind !== "and") return undefined;
  return filter.filters.map(countIds).find((count) => count !== undefined);
}

function toOffset(
  { page, isRanked, limit, placeOf }: Draft & { isRanked: boolean; limit: number },
  { faults }: Reading,
): Paging {
  if (page.kind === "cursor") {
    if (page.cursor !== undefined) faults.add(placeOf("cursor"), "cursor", rankedCursor);
    return { kind: "offset", limit, offset: 0 };
  }
  const offset = page.kind === "page" ? (page.page - 1) * limit : page.offset;
  const place = placeOf(page.kind === "page" ? "_page" : page.name);
  if (isRanked && offset > maxOffset.ranked) faults.add(place, "offset", rankedOffset);
  else if (offset > maxOffset.other) faults.add(place, "offset", tooFar);
  return { kind: "offset", limit, offset };
}

const rankedCursor =
  'needs a "sort" if there is a "q". Without "sort", the best matches come first: page through them with "offset"';

const rankedOffset = `goes beyond the first ${maxOffset.ranked.toLocaleString("en")} matches: add a "sort" to go further, or add words to "q"`;

const tooFar = `goes beyond the first ${maxOffset.other.toLocaleString("en")} resources: use "cursor", which is fast at any position`;

function readAfter(
  { cursor, placeOf }: { cursor: string | undefined; placeOf: Draft["placeOf"] },
  list: Pick<ListRequest, "filter" | "sort" | "words">,
  { collection }: Reading,
): Position | undefined {
  if (cursor === undefined) return undefined;
  const place = placeOf("cursor");
  const name = listName(collection.name, list);
  const after = parseCursor(name, cursor, withId(list.sort).length, place);
  const isNumber = typeof after.at(-1) === "number";
  if (isNumber !== (collection.idKind === "integer")) throw invalidCursor(place);
  return after;
}
