/**
 * Conditions about related resources: finds the collections that they need, and refuses them in a list of an earlier time. The
 * stores evaluate them.
 */

import { type Filter, leavesOf, namesRelated, type StoreFilter } from "../../query/filter.ts";
import type { ListQuery } from "../port/page.ts";
import type { NumberedCollection } from "./catalogue.ts";

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
