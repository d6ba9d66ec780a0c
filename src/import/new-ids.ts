/**
 * New ids for resources whose ids do not fit the collection. A new id depends on nothing but the collection and the old id. So references to
 * these resources can be rewritten in any order, and the same file gets the same ids again.
 */
import { v5 } from "uuid";
import type { Collection } from "../collection/collection.ts";
import { fitId, type IdKind, reservedIds } from "../collection/ids.ts";
import { shortJson } from "../collection/messages.ts";
import { valueAt } from "../collection/paths.ts";
import type { Violation } from "../errors.ts";
import { toFragment } from "../json/pointer.ts";
import { setMember } from "../json/values.ts";
import type { NewIds } from "./options.ts";

/** Whether a collection of this kind cannot contain an id. */
export function isUnfit(kind: IdKind, id: unknown): boolean {
  const text = fitId(kind, id);
  return text === undefined || reservedIds.has(text);
}

/** The namespace of the UUIDs (RFC 9562, section 5.5). Another one would give other ids to the same files. */
const namespace = "edc3df29-4ba5-4743-ba3e-20187d0a8199";

/** The new id in a collection with string ids. The same old id always gets the same one. */
export function newIdFor(collection: string, old: unknown): string {
  return v5(`${collection} ${JSON.stringify(old)}`, namespace);
}

/** Keeps the id of an item in the attribute that the option names. Returns a violation if that would overwrite a value. */
export function keepId(value: Record<string, unknown>, { keepIn }: NewIds): Violation[] {
  if (keepIn === undefined || !Object.hasOwn(value, "id")) return [];
  if (Object.hasOwn(value, keepIn)) {
    const detail =
      'has a value already, so it cannot keep the old id. Name another attribute in the option "ids"';
    return [{ in: "body", pointer: toFragment([keepIn]), code: "keepIn", detail }];
  }
  setMember(value, keepIn, value.id);
  return [];
}

/** Finds the kind of the ids of a collection. */
export type KindOf = (collection: string) => IdKind;

/**
 * Rewrites the references to resources with new ids. Collections with integer ids give them out one after the other, so references to their
 * resources stay as they are. Changes `attributes`.
 */
export function renewReferences(
  attributes: Record<string, unknown>,
  { references }: Pick<Collection, "references">,
  kindOf: KindOf,
): void {
  for (const { path, collection } of references) {
    const kind = kindOf(collection);
    const value = valueAt(attributes, path);
    if (kind === "integer" || value === undefined) continue;
    const renewed = (id: unknown) => (id !== null && isUnfit(kind, id) ? newIdFor(collection, id) : id);
    const holder = valueAt(attributes, path.slice(0, -1)) as Record<string, unknown>;
    setMember(holder, path.at(-1) as string, Array.isArray(value) ? value.map(renewed) : renewed(value));
  }
}

/** What is wrong with an id that does not fit, if the import does not replace ids. */
export function unfitIdViolation(kind: IdKind, id: unknown): Violation {
  const must =
    kind === "integer" ? "ids here are integers" : "an id has 1 to 128 letters, digits, -, ., _ or ~";
  return {
    in: "body",
    pointer: "#/id",
    code: "id",
    detail: `is ${shortJson(id)}, which cannot be an id: ${must}. The import option "ids" gives such resources new ids (replace, or keep-in:oldId to keep the old ones too)`,
  };
}
