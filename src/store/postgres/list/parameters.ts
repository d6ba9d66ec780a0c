/** The parameters of a list statement. */
import type { IdKind } from "../../../collection/ids.ts";
import type { Index } from "../../../collection/indexes.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import type { RelatedCollections } from "../../core/related.ts";

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
  /** The types of the values. */
  types: ParameterType[];
  /** The SQL of the value at a place from 1. */
  valueAt(place: number): string;
}

/** The type of a parameter. */
export type ParameterType = "text" | "text[]" | "float8" | "float8[]";

/** Adds a value, and returns its parameter, such as `$2::text`. */
export function bind({ values, types, valueAt }: SqlScope, value: unknown, type: ParameterType): string {
  values.push(value);
  types.push(type);
  return `${valueAt(values.length)}::${type}`;
}

/**
 * The context of a statement that reads a collection's table under the name `resource`. `valueAt`: how the statement names
 * its values, for example the columns of a row of values. @default parameters
 */
export function scopeOf(
  collection: NumberedCollection,
  related: RelatedCollections = {},
  valueAt: SqlScope["valueAt"] = (place) => `$${place}`,
): SqlScope {
  const { idKind, indexes } = collection;
  return { collection, table: "resource", related, idKind, indexes, values: [], types: [], valueAt };
}
