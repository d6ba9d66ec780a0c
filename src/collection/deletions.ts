/** Deleted resources: what a list of them adds to each resource, in the member `_deleted`. */
import type { Collection } from "./collection.ts";

/** The member that a deleted resource has in addition to its attributes. It replaces an attribute with this name. */
export const deletedMember = "_deleted";

/** What a caller sees of deletions. */
export interface Deletions {
  /** Whether `_deleted.by` exists: who deleted the resource. */
  showsPrincipals: boolean;
}

/** The delete of a resource: its time, its caller, and the version that it deleted. */
export interface Deletion {
  /** Unix time in milliseconds. */
  at: number;
  by: string | undefined;
  /** The last version that the resource had. */
  version: number;
}

/** The value of `_deleted`. */
export function deletionOf({ at, by, version }: Deletion, { showsPrincipals }: Deletions): object {
  return { at: new Date(at).toISOString(), ...(showsPrincipals && by !== undefined && { by }), version };
}

/** The JSON text of a deleted resource with `_deleted`. */
export function withDeletion(text: string, deletion: object): string {
  if (!text.includes(`"${deletedMember}"`))
    return `${text.slice(0, -1)},"${deletedMember}":${JSON.stringify(deletion)}}`;
  return JSON.stringify({ ...JSON.parse(text), [deletedMember]: deletion });
}

const known = new WeakMap<Collection, Map<boolean, Collection>>();

/** The collection of the deleted resources of a collection, for lists and filters. */
export function deletedOf(collection: Collection, deletions: Deletions): Collection {
  const all = known.get(collection) ?? new Map<boolean, Collection>();
  known.set(collection, all);
  const found = all.get(deletions.showsPrincipals) ?? { ...collection, deletions };
  all.set(deletions.showsPrincipals, found);
  return found;
}
