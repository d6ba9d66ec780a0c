/**
 * The ETag of what was read stays with it, under a symbol: JSON has no symbols, so it is never sent as an attribute.
 * It is copied by a spread and by `Object.assign`, as attributes are, and seen through the proxies of user interface
 * libraries; a WeakMap would lose it there, and with it the protection against lost updates, without a word.
 */
const tag: unique symbol = Symbol.for("holdfast-client.tag") as never;

interface Tag {
  /** Of the resource: a copy that was given another id is another resource. */
  readonly path: string;
  readonly etag: string;
  /** Whether all attributes are there, so that the resource can be replaced by it. */
  readonly isWhole: boolean;
}

/** Notes the ETag that a resource was read with, if it had one. */
export function withTag<T>(
  resource: T,
  path: string,
  { etag, isWhole = true }: { etag: string | null; isWhole?: boolean },
): T {
  if (etag !== null && typeof resource === "object" && resource !== null)
    Object.assign(resource, { [tag]: { path, etag, isWhole } satisfies Tag });
  return resource;
}

/** The ETag that a resource at this path was read with; `undefined` where it is not known. */
export function tagOf(resource: unknown, path: string): Tag | undefined {
  const found = (resource as { [tag]?: Tag } | null)?.[tag];
  return found?.path === path ? found : undefined;
}

/** The ETag that a resource was read with; `undefined` where it is not known. */
export function etagOf(resource: object): string | undefined {
  return (resource as { [tag]?: Tag })[tag]?.etag;
}
