/** The query for one page of a list, and the page that a store returns. */

import type { Deletions } from "../../collection/deletions.ts";
import type { SortKey } from "../../collection/indexes.ts";
import type { Path } from "../../collection/paths.ts";
import type { FigureContents } from "../../query/figures.ts";
import type { StoreFilter } from "../../query/filter.ts";
import type { ReferenceType } from "../../query/related-resources.ts";
import type { CursorValues, StoreSortKey } from "../../query/sort.ts";
import { type LogPlace, logStart } from "./log-place.ts";
import type { Stored } from "./stored.ts";

/**
 * The limit of the text on one page, in bytes of UTF-8. A page of a thousand large resources would fill the memory. The unit
 * is bytes because both kinds of store know the bytes of a text without reading it.
 */
export const maxPageBytes = 2 * 1024 * 1024;

/** A query for one page of a list. */
export interface ListQuery {
  collection: string;
  /** The most resources on the page. It has fewer if their text would exceed `maxPageBytes`, but at least one. */
  limit: number;
  /** Only resources that match this. Without conditions about related resources if `at` is given. @default every resource */
  filter?: StoreFilter;
  /**
   * The order, as `compareBy` defines it. Resources with equal keys are in the order of ascending ids. A key of a related resource has
   * the value of that resource. Without keys of related resources if `at` is given. @default []
   */
  sort?: readonly StoreSortKey[];
  /**
   * Only resources after this position. A resource at the position does not have to exist. Not together with `offset`, and
   * together with `words` only if `sort` is given.
   */
  after?: CursorValues;
  /** How many resources to skip at the beginning. @default 0 */
  offset?: number;
  /**
   * The list as it was at this time, by the times of the commits: Unix time in milliseconds. Not together with `words`. Of
   * a resource that has changed since, `updatedAt` is this time.
   */
  at?: number;
  /**
   * The deleted resources whose last state the change log keeps, instead of those that exist. The filter and the sort see the
   * member `_deleted` too. `version` of an item is the last one that the resource had, and `updatedAt` the time of the
   * delete. Not together with `at` and `words`.
   */
  deleted?: DeletedQuery;
  /**
   * Only resources that match this both at the time `at` and now. Of a deleted resource, the text before the delete counts.
   * Only together with `at`.
   */
  visibleFilter?: StoreFilter;
  /**
   * Only resources that have each of these words, or a word that begins with it, in an attribute of the collection's
   * `search`. Without `sort`, the best matches come first.
   */
  words?: readonly string[];
  /** Whether to count the list if the total is not known. @default false */
  count?: boolean;
  /**
   * Returns the sender of the query. Slow queries of several callers take turns, and the signal cancels the query: the call is
   * then rejected with its reason. The store calls this only for a query that can take long.
   */
  client?: () => ReadClient;
}

/** Which form deleted resources have. */
export interface DeletedQuery extends Deletions {
  /** Whether the texts have the member `_deleted`. */
  hasMember: boolean;
}

/** One page of a list, with the state of the collection in the same snapshot. */
export interface Page {
  items: readonly Stored[];
  /** Whether the list continues after this page. */
  more: boolean;
  /** The number of resources in the whole list. `undefined` if it was not counted. Always known without filter and words. */
  total: number | undefined;
  /** The end of the change log of the collection at the time of the page. Every change of one of its resources moves it. */
  sequence: LogPlace;
  /** Whether the page leaves out expired resources, so that the sequence alone is not its state (`expiry/`). @default false */
  hidesExpired?: boolean;
  /** The positions of the items in the list, if it is sorted by attributes of related resources. */
  positions?: readonly CursorValues[];
}

/** The page of a collection that does not exist. */
export const emptyPage: Page = { items: [], more: false, total: 0, sequence: logStart };

/** The length of all texts on a page, in characters. */
export function lengthOf({ items }: Pick<Page, "items">): number {
  return items.reduce((sum, { text }) => sum + text.length, 0);
}

/** The sender of a read. */
export interface ReadClient {
  /** Reads with the same text are of one caller. */
  caller: string;
  /** Cancels the read, for example because the client has disconnected. */
  signal: AbortSignal;
}

/** A query for the figures of a list. */
export interface FiguresQuery
  extends FigureContents,
    Pick<ListQuery, "collection" | "filter" | "words" | "client"> {
  /** The most groups in the result. There are fewer if their values would exceed `maxPageBytes`, but at least one. */
  limit: number;
  /** How many groups to skip at the beginning. */
  offset: number;
}

/** The values of one group: of its keys and then of its figures, as JSON texts. `undefined`: the group lacks the attribute. */
export type GroupRow = readonly (string | undefined)[];

/** Figures, with the state of the collection in the same snapshot. */
export interface Figures {
  groups: readonly GroupRow[];
  /** Whether there are more groups after these. */
  more: boolean;
  /** As of a page. */
  sequence: LogPlace;
  /** As of a page. */
  hidesExpired?: boolean;
}

/** A query for the first resources that refer to each of several others. */
export interface ReferringQuery {
  /** The collection of the resources that refer. */
  collection: string;
  /** Their reference. */
  reference: { path: Path; type: ReferenceType };
  /** The ids of the others, all different. */
  ids: readonly string[];
  /** The most resources for each id. */
  limit: number;
  /** @default [] */
  sort?: readonly SortKey[];
  /** Only resources that match this. @default every resource */
  filter?: StoreFilter;
  /** As in a list. */
  client?: () => ReadClient;
}

/** The resources that refer to one id. */
export interface ReferringGroup {
  items: readonly Stored[];
  /** Whether more resources refer to it. */
  more: boolean;
}

/**
 * The groups in the order of the ids. Their texts together have at most `maxPageBytes`, but there is at least one text. The
 * group that reaches this limit ends early. `undefined`: the groups after it were not read.
 */
export type ReferringGroups = readonly (ReferringGroup | undefined)[];
