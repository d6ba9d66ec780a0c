/**
 * The SQL of a copy of a whole store: reads the items of each section, inserts them, and sets the counters. A mark in a table
 * of its own shows that the copy into this database is not complete.
 */
import type { Numbering } from "../../core/catalogue.ts";
import {
  type Cell,
  type Column,
  type Item,
  type ItemsTable,
  layouts,
  type PageSize,
  type Section,
} from "../../core/copy/contents.ts";
import { insertRows } from "../commit/values.ts";
import type { Statement } from "../connection/connections.ts";
import { keysOf } from "../tables/indexes.ts";
import { copyingTable, resourcesTable } from "../tables/tables.ts";

/** The items after a key, or the first ones, up to the size of a page. */
export function selectItems(
  { kind }: Section,
  { name, columns, shown, toKey }: ItemsTable,
  { after, size }: { after: Cell | undefined; size: PageSize },
): Statement {
  const { columns: declared, long } = layouts[kind];
  const [key] = columns;
  const from = after === undefined ? "" : `where ${key} > $3::${typeOf(declared[0])}`;
  const measured = long === undefined ? "0" : `coalesce(octet_length(${long}), 0)`;
  const bytes = kind === "resources" ? "size" : measured;
  return {
    sql: `select ${shown}
      from (select *, sum(bytes) over (order by ${key} rows unbounded preceding) as running
        from (select *, ${bytes} as bytes from ${name} ${from} order by ${key} limit $1::bigint) as chunk
      ) as measured
      where running <= $2::bigint or running = bytes order by ${key}`,
    values: [size.items, size.bytes, ...(after === undefined ? [] : [toKey(after)])],
  };
}

/** Adds items. */
export function insertItems(
  { kind }: Section,
  { name, columns, toKey, keyed }: ItemsTable & { keyed: Numbering | undefined },
  items: readonly Item[],
): Statement[] {
  const rows = items.map(([key = null, ...others]) => [toKey(key) as Cell, ...others]);
  const types = layouts[kind].columns.map((column, n) => [columns[n], typeOf(column)] as const);
  const table = { table: name, columns: Object.fromEntries(types) };
  if (kind !== "resources") return insertRows(table, rows);
  const text = columns.indexOf("doc");
  return insertRows(
    { table: name, columns: { ...table.columns, size: "integer", keys: "bytea[]" } },
    rows.map((row) => {
      const doc = String(row[text]);
      return [...row, Buffer.byteLength(doc), keyed === undefined ? null : keysOf(keyed, doc)];
    }),
  );
}

function typeOf({ name, type }: Column): "bigint" | "json" | "text" {
  if (type === "integer") return "bigint";
  return name === "doc" ? "json" : "text";
}

/** The last group number. */
export const selectGroups: Statement = { sql: "select value from holdfast_meta where name = 'groups'" };

/** Sets the last group number. */
export function setGroups(groups: number): Statement {
  return { sql: "update holdfast_meta set value = $1::bigint where name = 'groups'", values: [groups] };
}

/** The counters of all collections. */
export const selectCounters: Statement = {
  sql: `select number, sequence, count, checksums & 4294967295, last_id,
      coalesce((select value from holdfast_meta where name = 'gaps_' || number::text), 0)
    from holdfast_heads join holdfast_ids using (number)`,
};

/** Sets the sequence, the count and the sum of checksums of a collection. */
export function setHead(
  number: number,
  { sequence, count, checksums }: { sequence: number; count: number; checksums: number },
): Statement {
  return {
    sql: `update holdfast_heads set sequence = $2::bigint, count = $3::bigint, checksums = $4::bigint
      where number = $1::integer`,
    values: [number, sequence, count, checksums],
  };
}

/** Sets the last integer id that was used or reserved. */
export function setLastId(number: number, lastId: number): Statement {
  return {
    sql: "update holdfast_ids set last_id = $2::bigint where number = $1::integer",
    values: [number, lastId],
  };
}

/** A row if the store is not empty. */
export const selectAnything: Statement = {
  sql: `select 1 where exists (select 1 from holdfast_collections) or exists (select 1 from holdfast_keys)
    or exists (select 1 from holdfast_receipts)`,
};

/** Creates the table of the mark. It exists until the copy is complete. */
export const createMark: Statement = {
  sql: `create table ${copyingTable} (name text primary key, mark text not null)`,
};

/** Writes the first mark. */
export function insertMark(mark: string): Statement {
  return { sql: `insert into ${copyingTable} values ('mark', $1::text)`, values: [mark] };
}

/** The mark. */
export const selectMark: Statement = { sql: `select mark from ${copyingTable}` };

/** Replaces one mark with another. Returns no row if the mark is not `before`. */
export function moveMark({ before, after }: { before: string; after: string }): Statement {
  return {
    sql: `update ${copyingTable} set mark = $2::text where mark = $1::text returning mark`,
    values: [before, after],
  };
}

/** Removes the table of the mark. */
export const dropMark: Statement = { sql: `drop table ${copyingTable}` };

/** Updates the statistics of the query planner. */
export function analyze(number: number): Statement {
  return { sql: `analyze ${resourcesTable(number)}` };
}

/** Sets the totals of all receipts, after a copy has added them. */
export const countReceipts: Statement = {
  sql: `insert into holdfast_meta select 'receipts', count(*) from holdfast_receipts
    union all select 'answers', coalesce(sum(octet_length(answer)), 0)::bigint from holdfast_receipts
    on conflict (name) do update set value = excluded.value`,
};
