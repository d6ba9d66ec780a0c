/** The collections that a delete in another collection can change (`onDelete`). */
import type { CollectionRecord } from "../../record.ts";

/** The collections in which a delete in `collection` can delete resources or clear references, directly or not. */
export function followersOf(
  catalogue: ReadonlyMap<string, CollectionRecord>,
  collection: string,
): readonly string[] {
  const referring = [...catalogue.values()].filter(({ references = [] }) => references.length > 0);
  if (referring.length === 0) return none;
  const followers = new Set<string>();
  const open = new Set([collection]);
  for (const target of open) {
    for (const { name, references = [] } of referring) {
      if (!references.some((each) => each.collection === target && each.onDelete !== "restrict")) continue;
      followers.add(name);
      open.add(name);
    }
  }
  return [...followers];
}

const none: readonly never[] = [];
