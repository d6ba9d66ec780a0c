import { HoldfastError } from "./errors.ts";

/**
 * The client stores the ETag of a resource in the resource itself, under a symbol. JSON has no symbols, so the ETag is never sent
 * as an attribute. Spread syntax and `Object.assign` copy it, and proxies of user interface libraries show it. A WeakMap would
 * lose it in these cases, and with it the protection against lost updates.
 */
const tag: unique symbol = Symbol.for("holdfast-client.tag") as never;

interface Tag {
  /** The path of the resource. A copy with another id is another resource. */
  readonly path: string;
  readonly etag: string;
  /** Whether the resource was read with all attributes, so that it can be the content of a replace. */
  readonly isWhole: boolean;
}

/** Stores the ETag in a resource, if the response had one. */
export function withTag<T>(
  resource: T,
  path: string,
  { etag, isWhole = true }: { etag: string | null; isWhole?: boolean },
): T {
  if (etag !== null && typeof resource === "object" && resource !== null)
    Object.assign(resource, { [tag]: { path, etag, isWhole } satisfies Tag });
  return resource;
}

/** The ETag with which the resource at this path was read; `undefined` if it is not known. */
export function tagOf(resource: unknown, path: string): Tag | undefined {
  const found = (resource as { [tag]?: Tag } | null)?.[tag];
  return found?.path === path ? found : undefined;
}

/** The ETag of a resource. Throws HoldfastError if it is not known, or if the resource was read without some attributes. */
export function wholeTag(resource: unknown, path: string): string {
  const tag = tagOf(resource, path);
  if (tag === undefined)
    throw new HoldfastError(
      "The version of this resource is unknown. Pass a resource that get, create, replace or patch returned (or a spread of it), pass { ifMatch } with its ETag, or use update.",
    );
  if (!tag.isWhole)
    throw new HoldfastError(
      "This resource was read with fields, so replacing it would remove its other attributes. Use patch.",
    );
  return tag.etag;
}

/** The header that requires a resource to have this ETag; none without an ETag. */
export function precondition(etag: string | undefined): Record<string, string> {
  return etag === undefined ? {} : { "If-Match": etag };
}

/** The ETag with which a resource was read; `undefined` if it is not known. */
export function etagOf(resource: object): string | undefined {
  return (resource as { [tag]?: Tag })[tag]?.etag;
}
