/** The SQL of SQLite, and how a connection runs the statements of plans. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { NumberedCollection } from "../core/catalogue.ts";
import { createPlans } from "../core/driver.ts";
import type { Dialect } from "../sql/dialect.ts";
import { ask, type Plan, type Row, runNow, type Statement, type Text, type Value } from "../sql/plans.ts";
import { command, numberOf, numbersOf, query, quoteColumn } from "../sql/table.ts";
import { entriesTable, resourcesTable, toSqliteId } from "./file/tables.ts";
import { withBigIntsIfNeeded } from "./file/wide-integers.ts";

/** What differs in the SQL of SQLite. */
export const sqliteDialect: Dialect = {
  tablePrefix: "",
  keyColumn: "id",
  keyOf: toSqliteId,
  idOf: (_, key) => String(key),
  doc: "doc",
  docBytes: (alias) => `octet_length(${alias}.doc)`,
  among: (column, place) => `${column} in (select value from json_each($${place}))`,
  list: jsonOf,
  given: (columns, place) => {
    const values = Object.keys(columns).map((name) => `value ->> '${name}' as ${quoteColumn(name)}`);
    return `(select key + 1 as place, ${values.join(", ")} from json_each($${place}))`;
  },
  records: jsonOf,
  position: (text, part) => `instr(${text}, ${part})`,
  rowId: "key",
  lock: () => "",
  holders: {
    sql: (number, slot) => `select id, hex($1) from ${entriesTable(number)} as entry
      cross join ${resourcesTable(number)} as resource on resource.key = entry.row
      where slot = ${slot} and k > $2 and k < $3 limit $4`,
    values: (keys, enough) =>
      keys.map((key) => [key, ...[0, 1].map((end) => Buffer.concat([key, Buffer.of(end)])), enough]),
  },
  lastIds: "heads",
  lockRows: "",
  skipLocked: "",
  *raise(changes) {
    const sums: number[] = [];
    for (const [name, by] of changes) {
      if (by !== 0) yield* add(by, name); // faster than one statement with `returning`
      sums.push(yield* total(name));
    }
    return sums;
  },
  insertNew(table, columns, rows) {
    const names = Object.keys(columns);
    const values = rows.map((row) => names.map((name) => row[name] ?? null));
    return ask({ text: insertText(table, names), values, read: sumOf, isSilent: true });
  },
};

const add = command<[number, string]>("update meta set value = value + $1 where name = $2");
const total = query<[string], number>("select value from meta where name = $1", numberOf);

function sumOf(rows: readonly Row[]): number {
  return numbersOf(rows).reduce((sum, changed) => sum + changed, 0);
}

const inserts = new Map<string, Text>();

/** The text is made once for each table. */
function insertText(table: string, names: readonly string[]): Text {
  const known = inserts.get(table);
  if (known !== undefined) return known;
  const places = names.map((_, n) => `$${n + 1}`);
  const sql = `insert into ${table} (${names.map(quoteColumn).join(", ")}) values (${places.join(", ")}) on conflict do nothing`;
  const text = { sql };
  inserts.set(table, text);
  return text;
}

/** All plans. With these limits, one read of the history takes a few milliseconds of its thread at most. */
export const storePlans = createPlans(sqliteDialect, { chunk: { resources: 256, bytes: 512 * 1024 } });

function jsonOf(value: readonly unknown[]): string {
  return JSON.stringify(value, (_, each) => (typeof each === "bigint" ? Number(each) : each));
}

/** Runs the statements of plans on one connection. It prepares each text once. */
export class PlanRunner {
  readonly #database: DatabaseSync;
  readonly #prepared = new WeakMap<Text, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Runs a plan. The caller keeps a transaction open. Throws the errors of SQLite. */
  run<T>(plan: Plan<T>): T {
    return runNow(plan, this.#ask);
  }

  readonly #ask = <T>({ text, values, read, isSilent }: Statement<T>): T => {
    const statement = this.#prepared.get(text) ?? this.#prepare(text);
    const runs = values as readonly (readonly (Value & SQLInputValue)[])[];
    if (isSilent === true) return read(runs.map((each) => [statement.run(...each).changes]));
    const [only] = runs;
    const rows = (each: readonly SQLInputValue[]) =>
      withBigIntsIfNeeded(statement, () => statement.all(...each) as unknown as Row[]);
    return read(runs.length === 1 && only !== undefined ? rows(only) : runs.flatMap(rows));
  };

  #prepare(text: Text): StatementSync {
    const untyped = text.sql.replaceAll(/\$(\d+)(?:::\w+(?:\[\])?)?/g, "?$1");
    // SQLite plans a statement again for each new value of a bare parameter in `limit`, which takes ten times as long as the rest.
    const statement = this.#database.prepare(untyped.replaceAll("limit ?", "limit +?"));
    statement.setReturnArrays(true);
    this.#prepared.set(text, statement);
    return statement;
  }
}

/** Reads the catalogue. Returns the collections by name. */
export function readCatalogue(database: DatabaseSync): Map<string, NumberedCollection> {
  const collections = new PlanRunner(database).run(storePlans.catalogue.all());
  return new Map(collections.map((each) => [each.name, each]));
}

/** The collection with a number. Throws an Error if it does not exist. */
export function collectionOf(
  collections: ReadonlyMap<number, NumberedCollection>,
  number: number,
): NumberedCollection {
  const collection = collections.get(number);
  if (collection === undefined) throw new Error(`There is no collection ${number}.`);
  return collection;
}
