/**
 * Short texts that callers get instead of values that they may not know. They are made with the store's secret: they
 * reveal nothing, and all services on a store give the same texts.
 */
import { createHmac } from "node:crypto";
import { type AttributeVisibility, hidesAny } from "../../collection/visibility.ts";

/** Makes these texts. */
export interface Tags {
  /**
   * The part of an entity tag after the version, for a caller who does not see every attribute: each view is another
   * representation (RFC 9110 §8.8.3). Made from the names of the hidden attributes; empty where none is hidden.
   */
  view(visibility: AttributeVisibility | undefined): string;
  /** A name for a group of changes that were made together. It hides the number, which counts the groups of the whole store. */
  group(number: number): string;
  /** The callers who may see a kept answer: those with these rights, or at this address. */
  audience(rights: string | null, address: string | null): string;
}

/** Makes tags with a secret. `secret` is first called when a tag is made. */
export function createTags(secret: () => Buffer): Tags {
  const views = new WeakMap<AttributeVisibility, string>();
  const tag = (...about: unknown[]) =>
    createHmac("sha256", secret()).update(JSON.stringify(about)).digest("base64url");
  return {
    view: (visibility) => {
      if (!hidesAny(visibility)) return "";
      const known = views.get(visibility) ?? `-${tag("view", [...visibility.hidden].sort()).slice(0, 8)}`;
      views.set(visibility, known);
      return known;
    },
    group: (number) => tag("group", number).slice(0, 12),
    audience: (rights, address) => tag("audience", rights, address).slice(0, 22),
  };
}
