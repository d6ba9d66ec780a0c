/** The statements of writes. */
import type { Reference } from "../../../collection/references.ts";
import type { LogCells } from "../../core/commits/staged-changes.ts";
import { referencesOf } from "../../core/entries.ts";
import { type Columns, changes, deleted, quoteColumn, references, replaceDeleted } from "../../sql/table.ts";
import { bigints, integers, jsons, texts } from "../connection/arrays.ts";
import type { Statement } from "../connection/connections.ts";
import { keysFromList, listOf } from "../tables/key-column.ts";
import { changesTable, deletedTable, referencesTable, resourcesTable, wordsTable } from "../tables/tables.ts";

const resourceTypes = {
  key: "text",
  version: "bigint",
  updated_at: "bigint",
  size: "integer",
  checksum: "integer",
  doc: "json",
  keys: "bytea[]",
} as const;

/** The cells of a resource, in the order of `resourceTypes`. The last one has the form that `keysOf` makes (`tables/key-column.ts`). */
export type ResourceRow = readonly [
  key: string,
  version: number,
  at: number,
  size: number,
  checksum: number,
  text: string,
  keys: string | null,
];

/**
 * Creates resources in the order of keys. The statements return the keys of the created ones: fewer, if another instance
 * has created one of them.
 */
export function insertResources(number: number, rows: readonly ResourceRow[]): Statement[] {
  return insertNewRows({ table: resourcesTable(number), columns: resourceTypes }, rows);
}

/** Updates locked resources. */
export function updateResources(number: number, rows: readonly ResourceRow[]): Statement {
  return {
    sql: `update ${resourcesTable(number)} as resource
      set version = next.version, updated_at = next.updated_at, size = next.size, checksum = next.checksum, doc = next.doc,
        keys = ${keysFromList("next.keys")}
      from unnest($1::text[], $2::bigint[], $3::bigint[], $4::integer[], $5::integer[], $6::json[], $7::text[])
        as next (key, version, updated_at, size, checksum, doc, keys) where resource.key = next.key`,
    values: [
      texts(rows.map(([key]) => key)),
      bigints(rows.map(([, version]) => version)),
      bigints(rows.map(([, , at]) => at)),
      integers(rows.map(([, , , size]) => size)),
      integers(rows.map(([, , , , checksum]) => checksum)),
      jsons(rows.map(([, , , , , text]) => text)),
      texts(rows.map(([, , , , , , keys]) => keys && listOf(keys))),
    ],
  };
}

/** Deletes locked resources. */
export function deleteResources(number: number, keys: readonly string[]): Statement {
  return { sql: `delete from ${resourcesTable(number)} where key = any($1::text[])`, values: [texts(keys)] };
}

/** A column of the head that tells which changes a log can lack. */
type GapColumn = "gaps_up_to" | "unlogged_up_to";

/**
 * Adds to the counters of a head, and locks it until the end of the transaction. Returns the new sequence, and the
 * number of the declaration.
 */
export function raiseHead(
  number: number,
  by: { sequence: number; count: number; words: number; checksums: number },
  gaps: readonly GapColumn[],
): Statement {
  const raised = gaps.map((column) => `, ${column} = sequence + $2::bigint`).join("");
  return {
    sql: `update holdfast_heads set sequence = sequence + $2::bigint, count = count + $3::bigint, words = words + $4::bigint,
        checksums = checksums + $5::bigint${raised}
      where number = $1::integer returning sequence, declared`,
    values: [number, by.sequence, by.count, by.words, by.checksums],
  };
}

const changeTypes = typesOf(changes);

/** Adds rows to the change log. */
export function insertChanges(number: number, rows: readonly LogCells[]): Statement[] {
  return insertRows({ table: changesTable(number), columns: changeTypes }, rows);
}

const deletedTypes = typesOf(deleted);

/** Notes the last versions of deleted ids, or raises them. */
export function noteDeleted(
  number: number,
  rows: readonly (readonly [id: string, version: number, checksum: number])[],
): Statement[] {
  const table = deletedTable(number);
  return insertRows({ table, columns: deletedTypes }, rows, ` ${replaceDeleted(table)}`);
}

/** The last versions of deleted ids, for those of these ids that were deleted. */
export function readDeleted(number: number, ids: readonly string[]): Statement {
  return {
    sql: `select id, version from ${deletedTable(number)} where id = any($1::text[])`,
    values: [texts(ids)],
  };
}

/** Reserves `n` integer ids and returns the last. Returns no row if not enough ids are left. */
export function reserveIds(number: number, n: number): Statement {
  return {
    sql: `update holdfast_ids set last_id = last_id + $2::bigint
      where number = $1::integer and last_id <= ${Number.MAX_SAFE_INTEGER} - $2::bigint returning last_id`,
    values: [number, n],
  };
}

/** Raises the last integer id, if this id is greater. New ids are above it. */
export function raiseLastId(number: number, id: number): Statement {
  return {
    sql: "update holdfast_ids set last_id = $2::bigint where number = $1::integer and last_id < $2::bigint",
    values: [number, id],
  };
}

/** The rows for the references of a resource. */
export function referenceRows(key: string, text: string, declared: readonly Reference[]): Cells[] {
  return referencesOf(JSON.parse(text), declared).map((reference) => [...reference, key]);
}

const referenceTypes = typesOf(references);

/** Adds the references of resources, as `referenceRows` gives them. */
export function insertReferences(number: number, rows: readonly Cells[]): Statement[] {
  const target = { table: referencesTable(number), columns: referenceTypes };
  return insertRows(target, rows, " on conflict do nothing");
}

/** Deletes the references of resources. */
export function deleteReferences(number: number, keys: readonly string[]): Statement {
  return { sql: `delete from ${referencesTable(number)} where key = any($1::text[])`, values: [texts(keys)] };
}

/** How often a word occurs in a resource. The empty word has the number of all words of the resource. */
export interface WordRow {
  word: string;
  key: string;
  times: number;
}

const wordTypes = { word: "text", key: "text", times: "integer" } as const;

/** Adds the words of resources. */
export function insertWords(number: number, rows: readonly WordRow[]): Statement[] {
  return insertRows(
    { table: wordsTable(number), columns: wordTypes },
    rows.map(({ word, key, times }) => [word, key, times]),
  );
}

/** Deletes the words of resources. Returns each word with its count. */
export function deleteWords(number: number, keys: readonly string[]): Statement {
  return {
    sql: `delete from ${wordsTable(number)} where key = any($1::text[]) returning word, times`,
    values: [texts(keys)],
  };
}

/** Where rows go. */
export interface RowsTarget {
  table: string;
  /** The columns with their types, named as in SQL. The first one is the key. */
  columns: Readonly<Record<string, "text" | "bigint" | "integer" | "json" | "bytea[]">>;
}

/** The columns of a table with their types. */
export function typesOf(columns: Columns): RowsTarget["columns"] {
  const types = { int: "bigint", optionalInt: "bigint", text: "text", optionalText: "text" } as const;
  return Object.fromEntries(Object.entries(columns).map(([name, type]) => [quoteColumn(name), types[type]]));
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
