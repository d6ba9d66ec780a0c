/** Hands attributes to the panel of a new resource. */
import { go } from "../route.ts";
import type { Attributes } from "./draft.ts";
import { type Edit, startEdit } from "./edit.ts";

let handed: { collection: string; attributes: Attributes } | undefined;

/** Opens the panel of a new resource that begins with these attributes. */
export function openNew(collection: string, query: string, attributes: Attributes): void {
  handed = { collection, attributes };
  go({ kind: "new", collection, query });
}

/** What a new resource begins with: nothing, or what was handed over, which counts as a change. */
export function startOfNew(collection: string): Edit {
  const start = startEdit({}, "");
  return handed?.collection === collection ? { ...start, mine: handed.attributes } : start;
}

/** Forgets the attributes, after the panel has taken them. */
export function forgetHanded(): void {
  handed = undefined;
}

/** A copy without what the service sets. */
export function copyOf(attributes: Attributes, readOnly: readonly string[]): Attributes {
  const own = new Set(["id", "createdAt", "updatedAt", ...readOnly]);
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !own.has(name)));
}
