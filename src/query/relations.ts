/** The relations of a collection that a caller can use. */
import type { Collection } from "../collection/collection.ts";
import type { Relation } from "../collection/relations.ts";

/** Returns a collection as the caller sees it. */
export type ViewOf = (name: string) => Collection | undefined;

/** A relation that the caller can use, with the related collection as the caller sees it. */
export interface UsableRelation {
  relation: Relation;
  target: Collection;
}

/**
 * The relation with this name; `undefined` if it does not exist, or if the caller cannot see the attribute with the ids.
 * `collection` is the collection as the caller sees it.
 */
export function usableRelation(
  collection: Collection,
  name: string,
  viewOf: ViewOf,
): UsableRelation | undefined {
  const relation = collection.relations.get(name);
  const target = relation && viewOf(relation.collection);
  if (relation === undefined || target === undefined) return undefined;
  const holder = relation.kind === "reference" ? collection : target;
  return holder.visibility?.hidden.has(relation.path[0]) === true ? undefined : { relation, target };
}

/** The names of the relations that the caller can use. */
export function usableNames(collection: Collection, viewOf: ViewOf): string[] {
  return [...collection.relations.keys()].filter(
    (name) => usableRelation(collection, name, viewOf) !== undefined,
  );
}
