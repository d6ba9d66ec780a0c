/** What a store keeps of a declared collection. */
import { isDeepStrictEqual } from "node:util";
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

/** Whether a collection is declared in the store as it should be. */
export function isDeclared(known: CollectionRecord | undefined, record: CollectionRecord): boolean {
  return known !== undefined && isDeepStrictEqual(essence(known), essence(record));
}

function essence({ unique = [], references = [], timestamps = false, ...others }: CollectionRecord) {
  const { idKind, schema, indexes, search } = others;
  return { idKind, schema, indexes, search, unique, references, timestamps };
}
