/** What differs between the SQL of the kinds of stores. The core writes all other SQL once. */
import type { IdKind } from "../../collection/ids.ts";
import type { Plan, Value } from "./plans.ts";
import type { Columns, RowOf } from "./table.ts";

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
  /** The place of one text in another one, from 1; 0 if it is not there. */
  position(text: string, part: string): string;
  /** The number by which other tables refer to a resource, if it is not the key. */
  readonly rowId: string;
  /** Locks the resources of a collection that a statement selects. It is the end of the statement, after a condition. */
  lock(number: number): string;
  /** The statement that finds the resources with keys of unique values: the key of each, and that of its value in hexadecimal digits. */
  readonly holders: {
    sql(number: number, slot: number): string;
    /** `enough`: the most resources of one value that are needed. */
    values(keys: readonly Uint8Array[], enough: number): readonly (readonly Value[])[];
  };
  /** The table with the greatest integer ids of all collections, in the column `last_id`. */
  readonly lastIds: string;
  /** Locks the rows that a statement selects. Empty if only one writes. */
  readonly lockRows: string;
  /** Locks the rows that a statement selects, without those that another transaction has locked. Empty if only one writes. */
  readonly skipLocked: string;
  /**
   * Adds to numbers in the table `meta`, and returns their sums. Where several transactions write, it locks the numbers in the given
   * order.
   */
  raise(changes: readonly (readonly [name: string, by: number])[]): Plan<readonly number[]>;
  /** Adds rows, except those whose keys exist. Returns how many it has added. */
  insertNew<C extends Columns>(table: string, columns: C, rows: readonly RowOf<C>[]): Plan<number>;
}
