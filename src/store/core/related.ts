/** Related resources: conditions about them, and the resources that refer to others. */
import { allOf, type Filter, leavesOf, namesRelated, type StoreFilter } from "../../query/filter.ts";
import type { ListQuery, ReferringGroups, ReferringQuery } from "../port/page.ts";
import type { Stored } from "../port/stored.ts";
import { accessPathOf } from "./access-path.ts";
import { builtIndexes, type NumberedCollection } from "./catalogue.ts";
import { type Scan, scanOf } from "./ranges.ts";

/** Collections by name. */
export type RelatedCollections<C extends NumberedCollection = NumberedCollection> = Readonly<
  Record<string, C | undefined>
>;

/** The query with the collections that its filter names. A collection that does not exist is `undefined`. */
export function withRelated<Query extends { filter?: StoreFilter }>(
  query: Query,
  find: (name: string) => NumberedCollection | undefined,
): Query & RelatedPart {
  const { filter } = query;
  if (filter === undefined) return query;
  const names = leavesOf(filter).flatMap((leaf) => (leaf.kind === "related" ? leaf.relation.collection : []));
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

/** The query for a list of an earlier time. Its filter is evaluated in memory, so it cannot be about related resources. */
export function pastQuery<Query extends { filter?: StoreFilter; related?: unknown }>(
  { filter, related, ...query }: Query,
  at: number,
): Omit<Query, "filter" | "related"> & { at: number; filter?: Filter } {
  if (namesRelated(filter))
    throw new Error("A list of an earlier time has no conditions about related resources.");
  return { ...query, at, ...(filter === undefined ? {} : { filter: filter as Filter }) };
}

/** A list request for a collection that is already known. */
export type PageQuery = Omit<ListQuery, "collection" | "client"> & RelatedPart;

/** The part of a query that a store adds. */
export interface RelatedPart {
  /** The collections of related resources that the filter names; absent if it names none. */
  related?: RelatedCollections;
}

/** A query for resources that refer to others, in a given collection. */
export type GroupsQuery = Omit<ReferringQuery, "collection" | "client">;

/** The index that supports the query, and otherwise `undefined`. Then the store finds the resources by its own references. */
export function indexFor(
  { reference: { path, type }, ids, filter, sort = [] }: GroupsQuery,
  collection: NumberedCollection,
) {
  if (type === "array" || ids.some((id) => !isIndexable(id))) return undefined;
  // One place of the index has either the string or the number.
  if (type === "number" && ids.some((id) => String(Number(id)) !== id)) return undefined;
  if (type === "any" && ids.some((id) => String(Number(id)) === id)) return undefined;
  const equality = { kind: "in", path, values: [type === "number" ? 0 : "x"] } as const;
  const all = allOf<Filter>([equality, ...(filter === undefined ? [] : [filter])]);
  const accessPath = accessPathOf({ filter: all, sort }, builtIndexes(collection));
  return accessPath?.kind === "index" ? accessPath.index : undefined;
}

/** The scans for the resources that refer to each id, all of one index. `undefined` if no index supports the query. */
export function referringScans(
  query: GroupsQuery,
  collection: NumberedCollection,
): readonly [Scan, ...Scan[]] | undefined {
  if (query.ids.length === 0 || indexFor(query, collection) === undefined) return undefined;
  const { reference, ids, filter, sort = [] } = query;
  const scans = ids.map((id) => {
    const value = reference.type === "number" ? Number(id) : id;
    const equality: Filter = { kind: "in", path: reference.path, values: [value] };
    const all = allOf<Filter>([equality, ...(filter === undefined ? [] : [filter])]);
    return scanOf({ filter: all, sort }, collection.slots) as Scan;
  });
  return scans as [Scan, ...Scan[]];
}

/** Columns of indexes contain only the beginning of a long string. */
function isIndexable(id: string): boolean {
  return id.length < 128;
}

/** The list that has the same cost for one id, for advice. */
export function listLike({
  reference: { path, type },
  filter,
  sort = [],
  limit,
}: Omit<ReferringQuery, "collection">) {
  const equality = { kind: "in", path, values: [type === "number" ? 0 : "x"] } as const;
  return { filter: allOf<Filter>([equality, ...(filter === undefined ? [] : [filter])]), sort, limit };
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
