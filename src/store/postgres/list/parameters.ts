/** The parameters of a list statement. */
import type { IdKind } from "../../../collection/ids.ts";
import type { Index } from "../../../collection/indexes.ts";
import type { NumberedCollection } from "../../catalogue.ts";
import type { RelatedCollections } from "../../related.ts";

/** What the conditions of a list statement depend on, and the values of its parameters so far. */
export interface SqlScope {
  collection: NumberedCollection;
  /** The name of the collection's table in the statement. */
  table: string;
  /** The collections of related resources. */
  related: RelatedCollections;
  idKind: IdKind;
  indexes: readonly Index[];
  values: unknown[];
}

/** Adds a value, and returns its parameter, such as `$2::text`. */
export function bind(
  { values }: SqlScope,
  value: unknown,
  type: "text" | "text[]" | "float8" | "float8[]",
): string {
  values.push(value);
  return `$${values.length}::${type}`;
}

/** The context of a statement that reads a collection's table under the name `resource`. */
export function scopeOf(collection: NumberedCollection, related: RelatedCollections = {}): SqlScope {
  const { idKind, indexes } = collection;
  return { collection, table: "resource", related, idKind, indexes, values: [] };
}
