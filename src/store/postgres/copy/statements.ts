/**
 * The SQL of a copy of a whole store: reads the items of each section, inserts them, and sets the counters. A mark in a table
 * of its own shows that the copy into this database is not complete.
 */
import { type Item, type Layout, layouts, type PageSize } from "../../core/copy/contents.ts";
import { insertRows } from "../commit/values.ts";
import type { Statement } from "../connection/connections.ts";
import { type Keyed, keysOf } from "../tables/indexes.ts";
import { changesTable, copyingTable, deletedTable, resourcesTable } from "../tables/tables.ts";

/** The table with the items of one section; `number` is that of the collection. */
export type ItemsTable =
  | { kind: "keys" | "receipts" }
  | { kind: "resources" | "changes" | "deleted"; number: number; keyed: Keyed };

function tableName(table: ItemsTable): string {
  if (!("number" in table)) return `holdfast_${table.kind}`;
  return { resources: resourcesTable, changes: changesTable, deleted: deletedTable }[table.kind](
    table.number,
  );
}

function columnsOf({ kind }: ItemsTable): readonly string[] {
  return layouts[kind].columns.map(({ name }) => columnOf(kind, name));
}

/** The table of resources has a key instead of an id. */
function columnOf(kind: ItemsTable["kind"], name: string): string {
  return kind === "resources" && name === "id" ? "key" : `"${name}"`;
}

function bytesOf({ kind }: ItemsTable): string {
  const { long } = layouts[kind] satisfies Layout;
  if (kind === "resources") return "size";
  return long === undefined ? "0" : `coalesce(octet_length(${columnOf(kind, long)}), 0)`;
}

/** The number of items. */
export function countItems(table: ItemsTable): Statement {
  return { sql: `select count(*) from ${tableName(table)}` };
}

/** The items after a key, up to the size of a page. */
export function selectItems(table: ItemsTable, after: Item[number], size: PageSize): Statement {
  const [key] = columnsOf(table);
  const type = layouts[table.kind].columns[0]?.type === "text" ? "text" : "bigint";
  return { sql: pageSql(table, `where ${key} > $3::${type}`), values: [size.items, size.bytes, after] };
}

/** The first items, up to the size of a page. */
export function selectFirstItems(table: ItemsTable, size: PageSize): Statement {
  return { sql: pageSql(table, ""), values: [size.items, size.bytes] };
}

function pageSql(table: ItemsTable, from: string): string {
  const columns = columnsOf(table);
  const [key] = columns;
  const shown = columns.map((column) => (column === '"doc"' ? "doc::text" : column));
  return `select ${shown.join(", ")}
    from (select *, sum(bytes) over (order by ${key} rows unbounded preceding) as running
      from (select *, ${bytesOf(table)} as bytes from ${tableName(table)} ${from} order by ${key} limit $1::bigint) as chunk
    ) as measured
    where running <= $2::bigint or running = bytes order by ${key}`;
}

/** Adds items. */
export function insertItems(table: ItemsTable, items: readonly Item[]): Statement[] {
  const names = columnsOf(table);
  const columns = Object.fromEntries(
    layouts[table.kind].columns.map(({ type }, n) => {
      const name = names[n] as string;
      return [name, name === '"doc"' ? "json" : type === "text" ? "text" : "bigint"] as const;
    }),
  );
  if (table.kind !== "resources") return insertRows({ table: tableName(table), columns }, items);
  const text = names.indexOf('"doc"');
  return insertRows(
    { table: tableName(table), columns: { ...columns, size: "integer", keys: "bytea[]" } },
    items.map((item) => {
      const doc = String(item[text]);
      return [...item, Buffer.byteLength(doc), keysOf(table.keyed, doc)];
    }),
  );
}

/** The last group number. */
export const selectGroups: Statement = { sql: "select value from holdfast_meta where name = 'groups'" };

/** Sets the last group number. */
export function setGroups(groups: number): Statement {
  return { sql: "update holdfast_meta set value = $1::bigint where name = 'groups'", values: [groups] };
}

/** The counters of all collections. */
export const selectCounters: Statement = {
  sql: `select number, sequence, count, last_id,
      coalesce((select value from holdfast_meta where name = 'gaps_' || number::text), 0)
    from holdfast_heads join holdfast_ids using (number)`,
};

/** Sets the sequence and the count of a collection. */
export function setHead(number: number, { sequence, count }: { sequence: number; count: number }): Statement {
  return {
    sql: "update holdfast_heads set sequence = $2::bigint, count = $3::bigint where number = $1::integer",
    values: [number, sequence, count],
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
