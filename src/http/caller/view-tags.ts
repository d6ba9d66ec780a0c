/** Entity tags of callers who see a part of each resource: every view has its own (RFC 9110 §8.8.3). */
import { createHmac } from "node:crypto";
import { hidesAny, type Sight } from "../../collection/sight.ts";

/** What the entity tag of a view has behind the version; empty where everything is seen. */
export type ViewTag = (sight: Sight | undefined) => string;

/**
 * Tags of views, made from the names of the hidden attributes under the store's secret: they tell nobody these names, and
 * every service on the store gives the same.
 */
export function createViewTags(secret: () => Buffer): ViewTag {
  const known = new WeakMap<Sight, string>();
  return (sight) => {
    if (!hidesAny(sight)) return "";
    const tag = known.get(sight) ?? `-${hashOf([...sight.hidden].sort(), secret())}`;
    known.set(sight, tag);
    return tag;
  };
}

function hashOf(names: readonly string[], secret: Buffer): string {
  const hmac = createHmac("sha256", secret).update(JSON.stringify(["view", names]));
  return hmac.digest("base64url").slice(0, 8);
}
