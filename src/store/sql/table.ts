/** Columns of tables with their types. Statements, and the types and the reading of their rows, are made from them. */
import { ask, type Plan, type Row, type Statement, type Value } from "./plans.ts";

/** How a column is read. The same name is its type in each dialect. */
const readers = {
  int: Number,
  text: String,
  optionalInt: (value: unknown) => (value == null ? undefined : Number(value)),
  optionalText: (value: unknown) => (value == null ? undefined : String(value)),
} as const;

/** The type of a column. */
export type ColumnType = keyof typeof readers;

/** The columns of a table. The first one is its key. */
export type Columns = Readonly<Record<string, ColumnType>>;

/** A row as an object. */
export type RowOf<C extends Columns> = { [Name in keyof C]: ReturnType<(typeof readers)[C[Name]]> };

/** Some columns of a table. */
export interface Selection<T> {
  /** The columns, as in a statement. */
  readonly sql: string;
  read(row: Row): T;
}

/** Selects columns of a table. */
export function select<C extends Columns, Name extends keyof C & string>(
  columns: C,
  ...names: readonly Name[]
): Selection<RowOf<Pick<C, Name>>> {
  const own = names.map((name) => [name, readers[columns[name] as ColumnType]] as const);
  return {
    sql: names.map(quoteColumn).join(", "),
    read(row) {
      const object: Record<string, unknown> = {};
      for (const [place, [name, read]] of own.entries()) object[name] = read(row[place]);
      return object as RowOf<Pick<C, Name>>;
    },
  };
}

/** The name of a column in a statement. `group` is a word of SQL. */
export function quoteColumn(name: string): string {
  return name === "group" ? '"group"' : name;
}

/** Reads all rows. */
export function allOf<T>({ read }: Selection<T>): (rows: readonly Row[]) => T[] {
  return (rows) => rows.map((row) => read(row));
}

/** Reads the first row. `undefined` without rows. */
export function firstOf<T>({ read }: Selection<T>): (rows: readonly Row[]) => T | undefined {
  return ([row]) => (row === undefined ? undefined : read(row));
}

/** Reads the first number of the first row; 0 without rows. */
export function numberOf([row]: readonly Row[]): number {
  return Number(row?.[0] ?? 0);
}

/** Reads the first column of all rows, which has numbers. */
export function numbersOf(rows: readonly Row[]): number[] {
  return rows.map(([length]) => Number(length));
}

/** Reads the first column of all rows, which has texts. */
export function textsOf(rows: readonly Row[]): string[] {
  return rows.map(([text]) => String(text));
}

/** A statement whose text is made once. With values, it is a plan that runs it. */
export type Query<V extends readonly Value[], T> = (...values: V) => Plan<T>;

/** Makes a query. `sql` has typed parameters such as `$1::bigint`, which a dialect can write in its own way. */
export function query<V extends readonly Value[], T>(
  sql: string,
  read: (rows: readonly Row[]) => T,
): Query<V, T> {
  const text = { sql };
  return (...values) => ask({ text, values: [values], read } satisfies Statement<T>);
}

/** Makes a query that returns nothing. */
export function command<V extends readonly Value[]>(sql: string): Query<V, void> {
  const text = { sql };
  return (...values) => ask({ text, values: [values], read: () => {}, isSilent: true });
}

/** The names of the tables that each collection has in all stores, by its number. `prefix`: the beginning of each name. */
export function tableNames(prefix: string) {
  const named = (contents: string) => (number: number) => `${prefix}${contents}_${number}`;
  return {
    resourcesTable: named("resources"),
    changesTable: named("changes"),
    deletedTable: named("deleted"),
    /** The ids that resources refer to. */
    referencesTable: named("refers"),
  };
}

/** Numbers of the whole store, by their names. */
export const meta = { name: "text", value: "int" } as const satisfies Columns;

/** The changes of a collection. `kept_checksum` is that of `superseded`, and `checksum` that of all other columns. */
export const changes = {
  sequence: "int",
  id: "text",
  version: "int",
  kind: "text",
  at: "int",
  principal: "optionalText",
  group: "optionalInt",
  superseded: "optionalText",
  kept_checksum: "optionalInt",
  checksum: "int",
} as const satisfies Columns;

/** The responses of idempotent writes. */
export const receipts = {
  key: "text",
  fingerprint: "text",
  answer: "text",
  brief: "text",
  expires_at: "int",
  checksum: "int",
} as const satisfies Columns;

/** The API keys. */
export const keys = {
  prefix: "text",
  hash: "text",
  name: "text",
  subject: "text",
  roles: "text",
  scopes: "optionalText",
  created_at: "int",
  expires_at: "optionalInt",
  revoked_at: "optionalInt",
  last_used_at: "optionalInt",
  checksum: "int",
} as const satisfies Columns;

/** The resources of a collection. Each kind of store has its own form of `id`. */
export const resources = {
  id: "text",
  version: "int",
  updated_at: "int",
  doc: "text",
  checksum: "int",
} as const satisfies Columns;

/** The ids that the resources of a collection refer to. `key`: the resource. */
export const references = { attribute: "text", target: "text", key: "text" } as const satisfies Columns;

/** The last versions of the deleted ids of a collection. */
export const deleted = { id: "text", version: "int", checksum: "int" } as const satisfies Columns;

/** The end of an insert into a table of deleted ids. A row that exists keeps the higher version. */
export function replaceDeleted(table: string): string {
  return `on conflict (id) do update set version = excluded.version, checksum = excluded.checksum
    where excluded.version > ${table}.version`;
}
