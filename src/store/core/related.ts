/** Related resources: conditions about them, and the resources that refer to others. */
import {
  allOf,
  type Filter,
  isRelative,
  type RelatedCondition,
  type StoreFilter,
  type StoreLeaf,
} from "../../query/filter.ts";
import { ownSort } from "../../query/sort.ts";
import { collectionsIn } from "../../query/targets.ts";
import type { ListQuery, ReferringGroups, ReferringQuery } from "../port/page.ts";
import type { Stored } from "../port/stored.ts";
import { type Scan, scanOf } from "./access-path.ts";
import type { NumberedCollection } from "./catalogue.ts";
import type { PastQuery } from "./past-page.ts";

/** Collections by name. */
export type RelatedCollections<C extends NumberedCollection = NumberedCollection> = Readonly<
  Record<string, C | undefined>
>;

/**
 * The query with the related collections that its filters and these keys of its sort or of its groups name. A collection that does not
 * exist is `undefined`.
 */
export function withRelated<Query extends { filter?: StoreFilter; visibleFilter?: StoreFilter }>(
  query: Query,
  keys: readonly { through?: RelatedCondition }[],
  find: (name: string) => NumberedCollection | undefined,
): Query & RelatedPart {
  const { filter, visibleFilter } = query;
  if (filter === undefined && visibleFilter === undefined && keys.length === 0) return query;
  const names = [filter, visibleFilter].flatMap((each) => (each === undefined ? [] : collectionsIn(each)));
  for (const { through } of keys) if (through !== undefined) names.push(...collectionsIn(through));
  if (names.length === 0) return query;
  return { ...query, related: Object.fromEntries(names.map((name) => [name, find(name)])) };
}

/** The collection that a condition names; `undefined` if it does not exist. Throws an Error if `withRelated` did not look for it. */
export function relatedCollection<C extends NumberedCollection>(
  related: RelatedCollections<C>,
  name: string,
): C | undefined {
  if (!Object.hasOwn(related, name)) throw new Error(`The query lacks the related collection ${name}.`);
  return related[name];
}

/** The query for a list that is evaluated in memory, so nothing in it can be sorted by related resources. */
export function queryInMemory<Query extends Pick<ListQuery, "sort">>({
  sort,
  ...query
}: Query): Omit<Query, "sort"> & Pick<PastQuery, "sort"> {
  return { ...query, ...(sort === undefined ? {} : { sort: ownSort(sort) }) };
}

/** A list request for a collection that is already known. */
export type PageQuery = Omit<ListQuery, "collection" | "client"> & RelatedPart;

/** Whether the list can have fewer resources than its collection. */
export function isNarrowed({ filter, words }: PageQuery): boolean {
  return filter !== undefined || words !== undefined;
}

/**
 * Whether the state of a collection is the state of a list. A list with conditions about other collections also depends on their
 * states. A search also depends on its table of words, which the background can be gathering. A filter that compares with the time of the request is
 * another one at the next request.
 */
export function isKeepable({ words, related, filter }: PageQuery): boolean {
  return words === undefined && related === undefined && !isRelative(filter);
}

/** The part of a query that a store adds. */
export interface RelatedPart {
  /** The collections of related resources that the query names; absent if it names none. */
  related?: RelatedCollections;
}

/** A query for resources that refer to others, in a given collection. */
export type GroupsQuery = Omit<ReferringQuery, "collection" | "client"> & RelatedPart;

/** The scans for the resources that refer to each id, all of one index. `undefined` if no index supports the query. */
export function referringScans(
  query: GroupsQuery,
  { slots }: NumberedCollection,
): readonly [Scan, ...Scan[]] | undefined {
  const { type } = query.reference;
  const isNumber = (id: string) => String(Number(id)) === id;
  // An index has different keys for the string "5" and the number 5.
  const isMixed = type === "array" || (type === "number" && !query.ids.every(isNumber));
  if (isMixed || (type === "any" && query.ids.some(isNumber))) return undefined;
  const scans: Scan[] = [];
  for (const id of query.ids) {
    const scan = scanOf(listLike(query, id), slots);
    if (scan?.isOrdered !== true || scan.filter !== undefined) return undefined;
    scans.push(scan);
  }
  return scans.length === 0 ? undefined : (scans as [Scan, ...Scan[]]);
}

/** The list of the resources that refer to an id. Without one, it has the same cost, for advice. */
export function listLike({ reference: { path, type }, filter, sort = [], limit }: GroupsQuery, id = "0") {
  const equality: Filter = { kind: "in", path, values: [type === "number" ? Number(id) : id] };
  return { filter: allOf<StoreLeaf>([equality, ...(filter === undefined ? [] : [filter])]), sort, limit };
}

/** A resource that refers to the id at this position. */
export interface ReferringRow {
  place: number;
  resource: Stored | undefined;
}

/**
 * Makes groups from rows in the order of ids, with up to `limit` + 1 rows for each. The rows from the first one without a
 * resource on do not fit into the result.
 */
export function toGroups(rows: Iterable<ReferringRow>, count: number, limit: number): ReferringGroups {
  const groups: ({ items: Stored[]; more: boolean } | undefined)[] = Array.from({ length: count }, () => ({
    items: [],
    more: false,
  }));
  for (const { place, resource } of rows) {
    const group = groups[place];
    if (group === undefined) continue;
    if (group.items.length === limit) group.more = true;
    else if (resource !== undefined) group.items.push(resource);
    else {
      group.more = true;
      const firstUnread = group.items.length === 0 ? place : place + 1;
      return [...groups.slice(0, firstUnread), ...Array(count - firstUnread).fill(undefined)];
    }
  }
  return groups;
}
