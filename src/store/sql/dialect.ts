/** What differs between the SQL of the kinds of stores. The core writes all other SQL once. */
import type { IdKind } from "../../collection/ids.ts";
import type { Value } from "./plans.ts";
import type { Columns } from "./table.ts";

/** The SQL of one kind of store. */
export interface Dialect {
  /** The beginning of the name of each table. */
  readonly tablePrefix: string;
  /** The column with the key of a resource. Keys have the order of ids in lists. */
  readonly keyColumn: string;
  keyOf(kind: IdKind, id: string): Value;
  idOf(kind: IdKind, key: unknown): string;
  /** The text of a resource. */
  readonly doc: string;
  /** The number of bytes of the text of a resource in the table with this alias. */
  docBytes(alias: string): string;
  /** The condition that the column has one of the values of a list. The parameter at `place` is the list. */
  among(column: string, place: number): string;
  list(values: readonly Value[]): Value;
  /** A table whose rows are in the parameter at `place`. Its column `place` counts from 1. */
  given(columns: Columns, place: number): string;
  records(rows: readonly Readonly<Record<string, Value>>[]): Value;
}
