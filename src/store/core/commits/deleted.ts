/**
 * The versions of deleted ids. A delete leaves a row with the id and its last version, and this row stays. If the id is used
 * again, its versions continue after that one, so no `ETag` ever names two texts. An erasure replaces the id by a hash.
 */
import { hash } from "node:crypto";
import type { NumberedCollection } from "../catalogue.ts";
import { lookUp } from "../decision.ts";
import type { WriteDecision } from "./lookups.ts";

/** The name of an erased id in the table of deleted ids. No id has this form. */
export function erasedName(id: string): string {
  return `#${hash("sha256", id, "base64url")}`;
}

/** The last version of each id that no resource has. An id that was never used has none. */
export function* lastVersions(
  collection: NumberedCollection,
  ids: readonly string[],
): WriteDecision<ReadonlyMap<string, number>> {
  const names = ids.flatMap((id) => [id, erasedName(id)]);
  const versions = yield* lookUp((store) => store.deleted(collection, names));
  if (versions.size === 0) return versions;
  const last = (id: string) => Math.max(versions.get(id) ?? 0, versions.get(erasedName(id)) ?? 0);
  return new Map(ids.map((id) => [id, last(id)]));
}
