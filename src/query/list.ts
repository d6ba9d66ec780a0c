/** What a list is asked for, once it has been read from a query string or from content. */

import type { SortKey } from "../collection/indexes.ts";
import type { Filter } from "./filter.ts";
import type { Position } from "./sort.ts";

/** A list that is asked for. */
export interface ListRequest {
  /** `undefined`: every resource. */
  filter: Filter | undefined;
  /** What the client asked to sort by; by id when it is empty. An id is appended by whoever sorts. */
  sort: readonly SortKey[];
  /** The words that `q` holds, as `words.ts` gives them; `undefined` without `q`. */
  words: readonly string[] | undefined;
  /** The attributes that each resource is cut down to, `id` always among them; `undefined`: all. */
  fields: readonly string[] | undefined;
  /** Whether the answer is an object around the list. */
  envelope: boolean;
  /** Whether the total is wanted where it is not known without counting. */
  count: "exact" | "none" | undefined;
  paging: Paging;
}

/** Which part of the list is asked for. */
export type Paging =
  | { kind: "cursor"; limit: number; hasLimit: boolean; after: Position | undefined }
  | { kind: "offset"; limit: number; offset: number };

/** How far offsets may lead: in a list of the best matches, and in any other. */
export const maxOffset = { ranked: 1_000, other: 100_000 } as const;

/** Whether the best matches come first; such a list has no cursors. */
export function isRanked({ words, sort }: Pick<ListRequest, "words" | "sort">): boolean {
  return words !== undefined && sort.length === 0;
}
