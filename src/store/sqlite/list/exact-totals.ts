/** The SQL functions for sums and averages of exact numbers. SQLite itself adds only numbers of JSON. */
import type { AggregateOptions, DatabaseSync } from "node:sqlite";
import {
  averageText,
  type Exact,
  exactOf,
  isDecimal,
  keyOfExact,
  sumOfExact,
  textOfExact,
} from "../../../collection/exact-numbers.ts";

interface Total {
  sum: Exact;
  count: number;
}

/** Adds the functions to a connection. They return texts, and ignore values that are not texts of exact numbers. */
export function addExactTotals(database: DatabaseSync): void {
  addTotal(database, "sum", ({ sum }) => textOfExact(sum));
  addTotal(database, "avg", ({ sum, count }) => (count === 0 ? null : averageText(sum, count)));
  database.function("holdfast_exact_key", { deterministic: true }, (text) =>
    text === null ? null : keyOfExact(String(text)),
  );
}

/** The text of a total of exact numbers, and the key by which it is sorted. */
export function exactTotalSql(kind: "sum" | "avg", values: string): { text: string; order: string } {
  const text = `holdfast_exact_${kind}(${values})`;
  return { text, order: `holdfast_exact_key(${text})` };
}

function addTotal(
  database: DatabaseSync,
  kind: "sum" | "avg",
  result: (total: Total) => string | null,
): void {
  const options = {
    start: (): Total => ({ sum: { digits: 0n, scale: 0 }, count: 0 }),
    step: ({ sum, count }: Total, value: unknown): Total =>
      typeof value === "string" && isDecimal(value)
        ? { sum: sumOfExact(sum, exactOf(value)), count: count + 1 }
        : { sum, count },
    result,
  };
  // Node passes on any state. Its types know only values of SQLite.
  database.aggregate(`holdfast_exact_${kind}`, options as unknown as AggregateOptions);
}
