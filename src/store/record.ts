/** What a store keeps of a declared collection. */
import type { Collection } from "../collection/collection.ts";
import type { CollectionRecord } from "./store.ts";

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
