/**
 * The versions of deleted ids. A delete leaves a row with the id and its last version, and this row stays. If the id is used
 * again, its versions continue after that one, so no `ETag` ever names two texts. An erasure replaces the id by a hash.
 */
import { hash } from "node:crypto";
import type { Plan } from "../../sql/plans.ts";
import type { NumberedCollection } from "../catalogue.ts";
import type { Judging } from "./resolved-commit.ts";

/** The name of an erased id in the table of deleted ids. No id has this form. */
export function erasedName(id: string): string {
  return `#${hash("sha256", id, "base64url")}`;
}

/** The last version of each id that no resource has. An id that was never used has none. */
export function* lastVersions(
  { lookups }: Judging,
  collection: NumberedCollection,
  ids: readonly string[],
): Plan<ReadonlyMap<string, number>> {
  const names = ids.flatMap((id) => [id, erasedName(id)]);
  const versions = yield* lookups.deleted(collection, names);
  if (versions.size === 0) return versions;
  const last = (id: string) => Math.max(versions.get(id) ?? 0, versions.get(erasedName(id)) ?? 0);
  return new Map(ids.map((id) => [id, last(id)]));
}
