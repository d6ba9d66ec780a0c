/** The parameters of a list statement. */
import type { IdKind } from "../../../collection/ids.ts";
import type { Index } from "../../../collection/indexes.ts";

/** What the conditions of a list statement depend on, and the values of its parameters so far. */
export interface Scope {
  idKind: IdKind;
  indexes: readonly Index[];
  values: unknown[];
}

/** Adds a value, and returns its parameter, such as `$2::text`. */
export function bind(
  { values }: Scope,
  value: unknown,
  type: "text" | "text[]" | "float8" | "float8[]",
): string {
  values.push(value);
  return `$${values.length}::${type}`;
}
