/** What a caller may ask about. */
import { type AttributeFacts, attributeFacts } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import type { Path } from "../collection/paths.ts";

/** No attribute has this name. */
const nowhere: Path = ["\0"];

/** As `attributeFacts`; there is no attribute that the caller does not see, and none is named in its place. */
export function askedFacts(collection: Collection, path: Path): AttributeFacts {
  const hidden = collection.visibility?.hidden;
  if (hidden === undefined || hidden.size === 0) return attributeFacts(collection, path);
  const isHidden = hidden.has(path[0]);
  const facts = attributeFacts(collection, isHidden ? nowhere : path);
  if (facts.insteadOf === undefined) return isHidden ? { ...facts, insteadOf: ["id"] } : facts;
  return { ...facts, insteadOf: facts.insteadOf.filter((name) => !hidden.has(name)) };
}
