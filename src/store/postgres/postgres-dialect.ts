/** The SQL of PostgreSQL, and the plans in it. */
import { createPlans } from "../core/driver.ts";
import type { Dialect } from "../sql/dialect.ts";
import { type Plan, together, type Value } from "../sql/plans.ts";
import { numberOf, query } from "../sql/table.ts";
import { isFreeSql } from "./commit/holds.ts";
import { insertNewRows, typesOf } from "./commit/statements.ts";
import { bytes, texts } from "./connection/arrays.ts";
import type { Row, Statement } from "./connection/connections.ts";
import { idOf, keyOf } from "./tables/id-keys.ts";
import { keySql } from "./tables/key-column.ts";
import { findCopyingTable, resourcesTable } from "./tables/tables.ts";

const raiseNumber = query<[string, number], number>(
  "update holdfast_meta set value = value + $2::bigint where name = $1::text returning value",
  numberOf,
);

/** What differs in the SQL of PostgreSQL. */
export const postgresDialect: Dialect = {
  tablePrefix: "holdfast_",
  keyColumn: "key",
  keyOf,
  idOf: (kind, key) => idOf(kind, String(key)),
  doc: "doc::text",
  docBytes: (alias) => `${alias}.size`,
  among: (column, place) => `${column} = any($${place}::text[])`,
  list: (values) => texts(values.map((value) => (value === null ? null : String(value)))),
  given: (columns, place) => {
    const types = typesOf(columns);
    const names = Object.keys(types);
    const declared = Object.entries(types).map((column) => column.join(" "));
    return `(select * from rows from (json_to_recordset($${place}::json) as (${declared.join(", ")}))
      with ordinality as asked (${names.join(", ")}, place))`;
  },
  records: (rows) => JSON.stringify(rows),
  position: (text, part) => `strpos(${text}, ${part})`,
  rowId: "null",
  // None if another transaction holds the collection, because others would wait for this one.
  lock: (number) => `and ${isFreeSql(number)} is not false order by key for update`,
  holders: {
    sql: (number, slot) =>
      `select key, encode(${keySql(slot)}, 'hex') from ${resourcesTable(number)} where ${keySql(slot)} = any($1::bytea[])`,
    values: (keys) => [[bytes(keys)]],
  },
  lastIds: "holdfast_ids",
  lockRows: " for update",
  skipLocked: " for update skip locked",
  raise: (changes) => together(...changes.map(([name, by]) => raiseNumber(name, by))),
  *insertNew(table, columns, rows) {
    const target = { table, columns: typesOf(columns) };
    const cells = rows.map((row) => Object.keys(columns).map((name) => row[name] ?? null));
    return (yield* askRows(insertNewRows(target, cells))).length;
  },
};

/** Runs statements that are sent together. Returns their rows. */
export function* askRows(statements: readonly Statement[]): Plan<Row[]> {
  if (statements.length === 0) return [];
  const asked = statements.map(({ sql, values = [] }) => ({
    text: { sql },
    values: [values as readonly Value[]],
    read: (rows: readonly unknown[]) => rows,
  }));
  return ((yield asked) as Row[][]).flat();
}

/** All plans. While a copy into the database is incomplete, the store has no collections for a service, and its keys stay as they are. */
export const storePlans = createPlans(postgresDialect, {
  chunk: { resources: 1_000, bytes: 2 * 1024 * 1024 },
  isServed: `${findCopyingTable} is null`,
});
