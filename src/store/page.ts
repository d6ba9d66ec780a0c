/** Lists, as stores are asked for them. */
import type { SortKey } from "../collection/indexes.ts";
import type { Filter } from "../query/filter.ts";
import type { CursorValues } from "../query/sort.ts";
import type { Stored } from "./stored.ts";

/**
 * Text on one page, in bytes of UTF-8: a thousand resources of a mebibyte would fill the memory. Bytes, because memory, sockets
 * and disks count them, and because both kinds of store know the bytes of a text without reading it.
 */
export const maxPageBytes = 2 * 1024 * 1024;

/** What a list asks for. */
export interface ListQuery {
  collection: string;
  /** At most so many resources; fewer if their text would be more than `maxPageBytes`, but at least one. */
  limit: number;
  /** Only the resources that `matches` says it of. @default every resource */
  filter?: Filter;
  /** As `compareBy` sorts; by ascending id where keys are equal, or there are none. @default [] */
  sort?: readonly SortKey[];
  /** Only resources that come after this position, at which none need be (any more). Not together with `offset`, and with `words` only where there is a `sort`. */
  after?: CursorValues;
  /** So many resources at the beginning are left out. @default 0 */
  offset?: number;
  /**
   * Only resources that have each of these words, or a word that begins with it, in the attributes that the
   * collection's `search` names. Without `sort` those come first that match best.
   */
  words?: readonly string[];
  /** Whether the total is wanted also where it must be counted. @default false */
  count?: boolean;
  /**
   * Gives what ends the work when nobody waits for the answer any more: the call is then rejected with the signal's
   * reason. Asked for only where the work may take long.
   */
  signal?: () => AbortSignal;
}

/** One page, with what was true of the collection in the same snapshot. */
export interface Page {
  items: readonly Stored[];
  /** Whether there are resources after the last one of this page. */
  more: boolean;
  /** How many resources the whole list has; `undefined` where nobody counted. Without filter and words it is always known. */
  total: number | undefined;
  /** The collection's sequence: raised by one with every change to any of its resources. */
  sequence: number;
}

/** The page of a collection that does not exist. */
export const emptyPage: Page = { items: [], more: false, total: 0, sequence: 0 };

/** The text of a page, in characters. */
export function lengthOf({ items }: Pick<Page, "items">): number {
  return items.reduce((sum, { text }) => sum + text.length, 0);
}
