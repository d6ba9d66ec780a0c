/** What a caller may ask about. */
import { type AttributeInfo, attributeInfo } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import type { Path } from "../collection/paths.ts";

/** No attribute has this name. */
const nowhere: Path = ["\0"];

/** As `attributeInfo`; there is no attribute that the caller does not see, and none is named in its place. */
export function askedFacts(collection: Collection, path: Path): AttributeInfo {
  const hidden = collection.visibility?.hidden;
  if (hidden === undefined || hidden.size === 0) return attributeInfo(collection, path);
  const isHidden = hidden.has(path[0]);
  const facts = attributeInfo(collection, isHidden ? nowhere : path);
  if (facts.alternatives === undefined) return isHidden ? { ...facts, alternatives: ["id"] } : facts;
  return { ...facts, alternatives: facts.alternatives.filter((name) => !hidden.has(name)) };
}
