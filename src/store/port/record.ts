/** The declarations of collections that a store keeps. */
import { isDeepStrictEqual } from "node:util";
import type { Collection } from "../../collection/collection.ts";
import type { IdKind } from "../../collection/ids.ts";
import type { Index } from "../../collection/indexes.ts";
import type { Path } from "../../collection/paths.ts";
import type { Reference } from "../../collection/references.ts";
import type { Unique } from "../../collection/unique.ts";

/** The declaration of a collection that a store keeps. */
export interface CollectionRecord {
  name: string;
  idKind: IdKind;
  /** The last schema that all resources were known to fit, as JSON text. `undefined`: no schema. */
  schema: string | undefined;
  /** The indexes for lists. */
  indexes: readonly Index[];
  /** The attributes that a search with `words` covers. */
  search: readonly Path[];
  /** The unique attributes. A store refuses a write that would give two resources the same value. @default [] */
  unique?: readonly Unique[];
  /** The attributes with ids of other resources. A store refuses a write that refers to a missing resource. @default [] */
  references?: readonly Reference[];
  /**
   * Whether the service sets `createdAt` and `updatedAt`. If so, the store sets a new `updatedAt` when a delete of another
   * resource changes this one. @default false
   */
  timestamps?: boolean;
}

/** The part of a declaration that a store keeps. */
export function recordOf({
  name,
  idKind,
  schema,
  indexes,
  search,
  unique,
  references,
  timestamps,
}: Collection): CollectionRecord {
  return { name, idKind, schema, indexes, search, unique, references, timestamps };
}

/** Whether the declaration in the store (`known`) is equal to `record`. */
export function isDeclared(known: CollectionRecord | undefined, record: CollectionRecord): boolean {
  return known !== undefined && isEqualJson(comparable(known), comparable(record));
}

/** Whether two parts of declarations are equal as JSON. A store keeps no member that is `undefined`. */
export function isEqualJson(a: unknown, b: unknown): boolean {
  const [known, declared] = [a, b].map((each) => JSON.parse(JSON.stringify(each)));
  return isDeepStrictEqual(known, declared);
}

function comparable({ unique = [], references = [], timestamps = false, ...others }: CollectionRecord) {
  const { idKind, schema, indexes, search } = others;
  return { idKind, schema, indexes, search, unique, references, timestamps };
}

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
