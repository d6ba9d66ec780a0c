/** What stores keep about collections. */
import { isDeepStrictEqual } from "node:util";
import type { Collection } from "../collection/collection.ts";
import type { IdKind } from "../collection/ids.ts";
import type { Index } from "../collection/indexes.ts";
import type { Path } from "../collection/paths.ts";
import type { Reference } from "../collection/references.ts";
import type { Unique } from "../collection/unique.ts";

/** What the store keeps about a collection. */
export interface CollectionRecord {
  name: string;
  idKind: IdKind;
  /** The schema that the resources were last known to fit, as JSON text; `undefined` = anything fits. */
  schema: string | undefined;
  /** What lists are made quick by. */
  indexes: readonly Index[];
  /** Attributes that `words` are looked for in. */
  search: readonly Path[];
  /** Attributes of which no two resources have the same value: no write makes it so. @default [] */
  unique?: readonly Unique[];
  /** Attributes that hold ids of resources: no write makes them lead nowhere. @default [] */
  references?: readonly Reference[];
  /**
   * Whether `createdAt` and `updatedAt` of each resource are the service's: what the store itself changes, since another
   * resource is deleted, gets a new `updatedAt`. @default false
   */
  timestamps?: boolean;
}

/** The part of a collection that a store keeps: all but what cannot be written down. */
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

/** Whether a collection is declared in the store as it should be. */
export function isDeclared(known: CollectionRecord | undefined, record: CollectionRecord): boolean {
  return known !== undefined && isDeepStrictEqual(essence(known), essence(record));
}

function essence({ unique = [], references = [], timestamps = false, ...others }: CollectionRecord) {
  const { idKind, schema, indexes, search } = others;
  return { idKind, schema, indexes, search, unique, references, timestamps };
}
