/**
 * Tags: short texts that callers get instead of secret values. They are made with the secret of the store, so they reveal
 * nothing, and all instances on a store make the same ones.
 */
import { createHmac } from "node:crypto";
import { type AttributeVisibility, hidesAny } from "../collection/visibility.ts";

/** Makes tags. */
export interface Tags {
  /**
   * The part of an entity tag after the version, for a caller who does not see every attribute: each view is another
   * representation (RFC 9110 §8.8.3). Made from the names of the hidden attributes; empty if none is hidden.
   */
  view(visibility: AttributeVisibility | undefined): string;
  /** A name for a group of changes that were made together. It hides the number, which counts the groups of the whole store. */
  group(number: number): string;
  /** The callers who can see the body of a stored response: those with these rights, or at this address. */
  audience(rights: string | null, address: string | null): string;
  /** A name of the store: six letters, digits, hyphens or underscores. */
  store(): string;
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
    store: () => tag("store").slice(0, 6),
    audience: (rights, address) => tag("audience", rights, address).slice(0, 22),
  };
}
