/** The option `expires`: the attribute with the time from which a resource does not exist any more. */
import { StartError } from "../errors.ts";
import { type AttributeSource, attributeInfo } from "./attributes.ts";
import type { Collection } from "./collection.ts";
import { comparedAs, type Index, nameOfKey, type SortKey } from "./indexes.ts";
import { instantKeyOf, keyOf } from "./instants.ts";
import { mustBe } from "./messages.ts";
import { formatPath, parsePath, valueAt } from "./paths.ts";

/** Who deletes expired resources, for the history. */
export const expiryPrincipal = "system:expiry";

/** Reads the option `expires`. Throws StartError with the place `at` unless the schema declares the attribute as a date. */
export function readExpires(
  declared: unknown,
  at: string,
  source: () => AttributeSource,
): SortKey | undefined {
  if (declared === undefined) return undefined;
  const path = typeof declared === "string" ? parsePath(declared) : undefined;
  if (path === undefined || path[0] === "id")
    throw mustBe(at, 'an attribute with a date, such as "expiresAt"', declared);
  const info = attributeInfo(source(), path);
  const types = [...(info.types ?? [])].filter((type) => type !== "null");
  // The format "date-value" needs no type, because it has dates of both.
  const isDate = info.types === undefined || types.length > 0;
  if (
    info.declared?.type.name !== "date" ||
    !isDate ||
    !types.every((type) => type === "string" || type === "number")
  )
    throw new StartError(
      `${at}: the schema must declare "${formatPath(path)}" as a date, such as { "type": "string", "format": "date-time" }.`,
    );
  return { path, descending: false, ...comparedAs(info), expires: true };
}

/** The indexes with the one that finds the next resource to expire. It replaces an equal one. */
export function withExpiryIndex(indexes: readonly Index[], expires: SortKey | undefined): readonly Index[] {
  if (expires === undefined) return indexes;
  const others = indexes.filter(
    ([first, ...more]) =>
      first === undefined || more.length > 0 || first.descending || nameOfKey(first) !== nameOfKey(expires),
  );
  return [...others, [expires]];
}

/** Whether a collection with these indexes already had this expiry. */
export function isKnownExpiry(indexes: readonly Index[], expires: SortKey): boolean {
  return indexes.some(([first]) => first?.expires === true && nameOfKey(first) === nameOfKey(expires));
}

/** The key of the instant at which a resource expires; `undefined` if it never does. */
export function expiryIn({ path }: SortKey, text: string): string | undefined {
  return instantKeyOf(valueAt(JSON.parse(text), path), "date");
}

/** Whether a resource with this text has expired. `now` is Unix time in milliseconds. */
export function hasExpired({ expires }: Pick<Collection, "expires">, text: string, now: number): boolean {
  if (expires === undefined) return false;
  const key = expiryIn(expires, text);
  return key !== undefined && key <= keyOf({ ms: now, rest: "" });
}

/**
 * Throws StartError for each collection whose resources the service could not delete when they expire: because references restrict
 * this, or because they or what refers to them are profiles of users.
 */
export function requireDeletable(
  collections: ReadonlyMap<string, Collection>,
  profiles: string | undefined,
): void {
  const faults = [...collections.values()].flatMap((collection) => {
    const { name, expires } = collection;
    if (expires === undefined) return [];
    const at = `collections.${name}.expires`;
    return reasonsAgainst(name, collections, profiles).map((reason) => ({
      path: ["collections", name, "expires"],
      text: `${at}: ${reason}`,
    }));
  });
  if (faults.length > 0) throw new StartError(faults);
}

/** Follows each `cascade` from a collection. */
function reasonsAgainst(
  expiring: string,
  collections: ReadonlyMap<string, Collection>,
  profiles: string | undefined,
): string[] {
  const reasons: string[] = [];
  const deleted = new Set([expiring]);
  for (const name of deleted) {
    if (name === profiles)
      reasons.push(
        name === expiring
          ? "the profiles of users cannot expire. Remove it here."
          : `the profiles of users in "${name}" would be deleted with the expired resources. Declare "onDelete": "clear" instead of "cascade".`,
      );
    for (const { name: from, references } of collections.values())
      for (const { collection, onDelete, path } of references) {
        if (collection !== name) continue;
        if (onDelete === "cascade") deleted.add(from);
        if (onDelete === "restrict")
          reasons.push(
            `the reference "${formatPath(path)}" of "${from}" would keep expired resources from being deleted. Declare "onDelete": "cascade" or "clear" there.`,
          );
      }
  }
  return reasons;
}
