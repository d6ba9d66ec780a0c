/**
 * Inserts that tell which rows they inserted, as `values … returning`. Some clusters report the number of rows that were
 * offered for `insert … select`, and do not find the type of a parameter without a cast.
 */
import type { Row, Statement } from "../connection/connections.ts";
import type { Transaction } from "../connection/transaction.ts";

/** Where rows go. */
export interface RowsTarget {
  table: string;
  /** The columns with their types. The first one is the key. */
  columns: Readonly<Record<string, "text" | "bigint" | "integer" | "json">>;
}

/** The most rows of one statement. */
const maxRows = 64;

/**
 * Adds rows whose keys do not exist yet. Each number of rows is a power of two, so that there are few different texts, which
 * the server counts and keeps one by one. Each statement returns the keys that it added.
 */
export function insertNewRows(
  target: RowsTarget,
  rows: readonly (readonly (string | number | null)[])[],
): Statement[] {
  const statements: Statement[] = [];
  for (let start = 0; start < rows.length; ) {
    const n = Math.min(maxRows, 2 ** Math.floor(Math.log2(rows.length - start)));
    statements.push({ sql: insertSql(target, n), values: rows.slice(start, start + n).flat() });
    start += n;
  }
  return statements;
}

function insertSql({ table, columns }: RowsTarget, rows: number): string {
  const types = Object.values(columns);
  const lists = Array.from({ length: rows }, (_, row) => {
    const first = row * types.length + 1;
    return `(${types.map((type, n) => `$${first + n}::${type}`).join(", ")})`;
  });
  const names = Object.keys(columns);
  return `insert into ${table} (${names.join(", ")}) values ${lists.join(", ")}
    on conflict do nothing returning ${names[0]}`;
}

/** Runs statements in their order, all sent at once. Returns their rows. */
export async function runTogether(
  transaction: Transaction,
  statements: readonly Statement[],
): Promise<Row[]> {
  const results = await Promise.all(statements.map((statement) => transaction.run(statement)));
  return results.flatMap(({ rows }) => rows);
}
