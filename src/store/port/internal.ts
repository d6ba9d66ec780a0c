/** Internal collections: those of the service itself. Their names begin with `_`, which no other collection's name does. */

/**
 * Whether a collection is internal. The change log never has its changes, because they can contain secrets, and it is in no
 * list of collections.
 */
export function isInternal(collection: string): boolean {
  return collection.startsWith("_");
}

/** The names without those of internal collections. */
export function withoutInternal(names: Iterable<string>): string[] {
  return [...names].filter((name) => !isInternal(name));
}
