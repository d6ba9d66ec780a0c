/**
 * Inserts of rows, as `values` lists. In a Citus cluster, `insert … select` goes through the coordinator, which makes the commit a
 * two-phase commit, and it reports the number of rows that were offered, not of those that were inserted.
 */
import type { Statement } from "../connection/connections.ts";

/** Where rows go. */
export interface RowsTarget {
  table: string;
  /** The columns with their types, named as in SQL. The first one is the key. */
  columns: Readonly<Record<string, "text" | "bigint" | "integer" | "json" | "bytea[]">>;
}

/** The cells of a row, in the order of the columns. */
export type Cells = readonly (string | number | null)[];

/** The most values of one statement. More in one statement save little, and its text gets long. */
const maxValues = 1_024;

/**
 * Adds rows. Each number of rows is a power of two, so that there are few different texts, which the server counts and keeps one by
 * one. `ending` comes after the values.
 */
export function insertRows(target: RowsTarget, rows: readonly Cells[], ending = ""): Statement[] {
  const maxRows = maxValues / Object.keys(target.columns).length;
  const statements: Statement[] = [];
  for (let start = 0; start < rows.length; ) {
    const n = 2 ** Math.floor(Math.log2(Math.min(maxRows, rows.length - start)));
    statements.push({ sql: insertSql(target, n) + ending, values: rows.slice(start, start + n).flat() });
    start += n;
  }
  return statements;
}

/** Adds rows whose keys do not exist yet. Each statement returns the keys that it added. */
export function insertNewRows(target: RowsTarget, rows: readonly Cells[]): Statement[] {
  return insertRows(target, rows, ` on conflict do nothing returning ${Object.keys(target.columns)[0]}`);
}

function insertSql({ table, columns }: RowsTarget, rows: number): string {
  const types = Object.values(columns);
  const lists = Array.from({ length: rows }, (_, row) => {
    const first = row * types.length + 1;
    return `(${types.map((type, n) => `$${first + n}::${type}`).join(", ")})`;
  });
  return `insert into ${table} (${Object.keys(columns).join(", ")}) values ${lists.join(", ")}`;
}
