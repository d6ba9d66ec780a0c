/**
 * Short texts that callers get in place of what they may not know. They are made under the store's secret: they tell
 * nothing, and every service on the store gives the same.
 */
import { createHmac } from "node:crypto";
import { hidesAny, type Sight } from "../../collection/sight.ts";

/** Makes these texts. */
export interface Tags {
  /**
   * What the entity tag of a caller who sees a part of each resource has behind the version: every view is another
   * representation (RFC 9110 §8.8.3). Made from the names that are hidden; empty where everything is seen.
   */
  view(sight: Sight | undefined): string;
  /** The name of a group of changes that were made together. The number behind it counts the groups of the whole store. */
  group(number: number): string;
  /** The callers who may see a kept answer: those with these rights, or at this address. */
  audience(rights: string | null, address: string | null): string;
}

/** Tags under a secret, which must be there before the first is asked for. */
export function createTags(secret: () => Buffer): Tags {
  const views = new WeakMap<Sight, string>();
  const tag = (...about: unknown[]) =>
    createHmac("sha256", secret()).update(JSON.stringify(about)).digest("base64url");
  return {
    view: (sight) => {
      if (!hidesAny(sight)) return "";
      const known = views.get(sight) ?? `-${tag("view", [...sight.hidden].sort()).slice(0, 8)}`;
      views.set(sight, known);
      return known;
    },
    group: (number) => tag("group", number).slice(0, 12),
    audience: (rights, address) => tag("audience", rights, address).slice(0, 22),
  };
}
