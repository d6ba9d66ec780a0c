/** The SQL of PostgreSQL, and how a connection runs the statements of plans. */
import { CataloguePlans } from "../core/catalogue.ts";
import { createLookups } from "../core/commits/lookups.ts";
import type { StorePlans } from "../core/driver.ts";
import { createHistories } from "../core/history-plans.ts";
import { KeyPlans } from "../core/key-plans.ts";
import { LogPlans } from "../core/log-plans.ts";
import { ReceiptPlans } from "../core/receipt-plans.ts";
import { SecretPlans } from "../core/secret.ts";
import type { Dialect } from "../sql/dialect.ts";
import { type Plan, runLater, together, type Value } from "../sql/plans.ts";
import { type ColumnType, numberOf, query, quoteColumn } from "../sql/table.ts";
import { isFreeSql } from "./commit/holds.ts";
import { insertNewRows } from "./commit/statements.ts";
import { bytes, texts } from "./connection/arrays.ts";
import type { Row, Statement } from "./connection/connections.ts";
import { idOf, keyOf } from "./tables/id-keys.ts";
import { keySql } from "./tables/indexes.ts";
import { findCopyingTable, resourcesTable } from "./tables/tables.ts";

const raiseNumber = query<[string, number], number>(
  "update holdfast_meta set value = value + $2::bigint where name = $1::text returning value",
  numberOf,
);

const types: Readonly<Record<ColumnType, "bigint" | "text">> = {
  int: "bigint",
  text: "text",
  optionalInt: "bigint",
  optionalText: "text",
};

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
    const names = Object.keys(columns).map(quoteColumn);
    const declared = Object.entries(columns).map(([name, type]) => `${quoteColumn(name)} ${types[type]}`);
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
    const target = {
      table,
      columns: Object.fromEntries(
        Object.entries(columns).map(([name, type]) => [quoteColumn(name), types[type]]),
      ),
    };
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

/** The history of a collection. */
export const historyOf = createHistories(postgresDialect, { resources: 1_000, bytes: 2 * 1024 * 1024 });

/** The lookups of a transaction that writes. */
export const lookupsOf = createLookups(postgresDialect);
/** The collections of a store. */
export const cataloguePlans = new CataloguePlans(postgresDialect);
/** While a copy into the database is incomplete, the store has no collections for a service, and its keys stay as they are. */
const isServed = `${findCopyingTable} is null`;

/** The secret of a store. */
export const secretPlans = new SecretPlans(postgresDialect);

/** The change logs of a store. */
export const logPlans = new LogPlans(postgresDialect, isServed);

/** All plans. */
export const storePlans: StorePlans = {
  keys: new KeyPlans(postgresDialect, isServed),
  logs: logPlans,
  receipts: new ReceiptPlans(postgresDialect),
  secret: secretPlans,
  historyOf,
};

/** Runs a plan. `run` runs one of its statements. */
export function runPlan<T>(
  plan: Plan<T>,
  run: (statement: Statement) => Promise<{ rows: readonly Row[] }>,
): Promise<T> {
  return runLater(plan, async ({ text, values, read }) => {
    const results = await Promise.all(values.map((each) => run({ sql: text.sql, values: each })));
    return read(results.flatMap(({ rows }) => rows));
  });
}
