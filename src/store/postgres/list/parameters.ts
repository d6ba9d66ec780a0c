/** The parameters of a list statement. */
import type { IdKind } from "../../../collection/ids.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import type { Range } from "../../core/ranges.ts";
import type { RelatedCollections } from "../../core/related.ts";
import { keySql, keyText } from "../tables/indexes.ts";

/** What the conditions of a list statement depend on, and the values of its parameters so far. */
export interface SqlScope {
  collection: NumberedCollection;
  /** The name of the collection's table in the statement. */
  table: string;
  /** The collections of related resources. */
  related: RelatedCollections;
  idKind: IdKind;
  values: unknown[];
  /** The types of the values. */
  types: ParameterType[];
  /** The SQL of the value at a place from 1. */
  valueAt(place: number): string;
}

/** The type of a parameter. */
export type ParameterType = "text" | "text[]" | "float8" | "float8[]" | "bytea" | "bytea[]";

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
  const { idKind } = collection;
  return { collection, table: "resource", related, idKind, values: [], types: [], valueAt };
}

/** The ends of a range. */
export function boundsSql({ low, high }: Range, scope: SqlScope): readonly [low: string, high: string] {
  return [bind(scope, keyText(low), "bytea"), bind(scope, keyText(high), "bytea")];
}

/** The condition for the resources of a range. */
export function rangeSql(range: Range, scope: SqlScope): string {
  const key = `${scope.table}.${keySql(range.slot)}`;
  const [low, high] = boundsSql(range, scope);
  return `${key} > ${low} and ${key} < ${high}`;
}
