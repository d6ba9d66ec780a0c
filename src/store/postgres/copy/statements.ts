/** Every shape of statement that a copy sends, beside those that declare collections and gather words. */
import { type Item, type Layout, layouts, type PageSize, type Section } from "../../copy/whole.ts";
import { bigints, texts } from "../connection/arrays.ts";
import type { Statement } from "../connection/connections.ts";
import { changesTable, copyingTable, resourcesTable } from "../tables/tables.ts";

/** Where the items of a section are. */
export type Place =
  | { kind: Exclude<Section["kind"], "resources" | "changes"> }
  | { kind: "resources" | "changes"; number: number };

function tableOf(place: Place): string {
  if (!("number" in place)) return `holdfast_${place.kind}`;
  return place.kind === "resources" ? resourcesTable(place.number) : changesTable(place.number);
}

function columnsOf({ kind }: Place): readonly string[] {
  return layouts[kind].columns.map(({ name }) => columnOf(kind, name));
}

/** The id of a resource is in its key, and the column of superseded texts was renamed (`../tables/tables.ts`). */
function columnOf(kind: Place["kind"], name: string): string {
  if (kind === "changes" && name === "superseded") return "previous";
  return kind === "resources" && name === "id" ? "key" : `"${name}"`;
}

function bytesOf({ kind }: Place): string {
  const { long } = layouts[kind] satisfies Layout;
  if (kind === "resources") return "size";
  return long === undefined ? "0" : `coalesce(octet_length(${columnOf(kind, long)}), 0)`;
}

/** How many items there are. */
export function countItems(place: Place): Statement {
  return { sql: `select count(*) from ${tableOf(place)}` };
}

/** The items after a key: as many as one page takes. */
export function selectItems(place: Place, after: Item[number], size: PageSize): Statement {
  const [key] = columnsOf(place);
  return { sql: pageSql(place, `where ${key} > $3`), values: [size.items, size.bytes, after] };
}

/** The first items. */
export function selectFirstItems(place: Place, size: PageSize): Statement {
  return { sql: pageSql(place, ""), values: [size.items, size.bytes] };
}

function pageSql(place: Place, from: string): string {
  const columns = columnsOf(place);
  const [key] = columns;
  const shown = columns.map((column) => (column === '"doc"' ? "doc::text" : column));
  return `select ${shown.join(", ")}
    from (select *, sum(bytes) over (order by ${key} rows unbounded preceding) as running
      from (select *, ${bytesOf(place)} as bytes from ${tableOf(place)} ${from} order by ${key} limit $1) as chunk
    ) as measured
    where running <= $2 or running = bytes order by ${key}`;
}

/** Adds items. */
export function insertItems(place: Place, items: readonly Item[]): Statement {
  const { columns } = layouts[place.kind];
  const arrays = columns.map(({ type }, n) => `$${n + 1}::${type === "text" ? "text" : "bigint"}[]`);
  const names = columnsOf(place);
  const values = columns.map(({ type }, n) => {
    const cells = items.map((item) => item[n] ?? null);
    return type === "text"
      ? texts(cells.map((cell) => (cell === null ? null : String(cell))))
      : bigints(cells.map((cell) => (cell === null ? null : Number(cell))));
  });
  const from = `from unnest(${arrays.join(", ")}) as item (${names.join(", ")})`;
  const sql =
    place.kind === "resources"
      ? `insert into ${tableOf(place)} (${names.join(", ")}, size)
        select ${names.map((name) => (name === '"doc"' ? "doc::json" : name)).join(", ")}, octet_length(doc) ${from}`
      : `insert into ${tableOf(place)} (${names.join(", ")}) select ${names.join(", ")} ${from}`;
  return { sql, values };
}

/** The last number that a group of changes was given. */
export const selectGroups: Statement = { sql: "select value from holdfast_meta where name = 'groups'" };

/** Sets that number. */
export function setGroups(groups: number): Statement {
  return { sql: "update holdfast_meta set value = $1 where name = 'groups'", values: [groups] };
}

/** The counters of all collections. */
export const selectCounters: Statement = {
  sql: `select number, sequence, count, last_id,
      coalesce((select value from holdfast_meta where name = 'gaps_' || number), 0)
    from holdfast_heads join holdfast_ids using (number)`,
};

/** Sets the sequence of a collection and how many resources it has. */
export function setHead(number: number, { sequence, count }: { sequence: number; count: number }): Statement {
  return {
    sql: "update holdfast_heads set sequence = $2, count = $3 where number = $1",
    values: [number, sequence, count],
  };
}

/** Sets the integer id that was used or reserved last. */
export function setLastId(number: number, lastId: number): Statement {
  return { sql: "update holdfast_ids set last_id = $2 where number = $1", values: [number, lastId] };
}

/** Whether the store holds anything. */
export const selectAnything: Statement = {
  sql: `select 1 where exists (select 1 from holdfast_collections) or exists (select 1 from holdfast_keys)
    or exists (select 1 from holdfast_receipts)`,
};

/** Makes the table of the mark. */
export const createMark: Statement = {
  sql: `create table ${copyingTable} (name text primary key, mark text not null)`,
};

/** Leaves the first mark. */
export function insertMark(mark: string): Statement {
  return { sql: `insert into ${copyingTable} values ('mark', $1)`, values: [mark] };
}

/** The mark. */
export const selectMark: Statement = { sql: `select mark from ${copyingTable}` };

/** Puts one mark in the place of another. */
export function moveMark({ before, after }: { before: string; after: string }): Statement {
  return { sql: `update ${copyingTable} set mark = $2 where mark = $1`, values: [before, after] };
}

/** Removes the table of the mark. */
export const dropMark: Statement = { sql: `drop table ${copyingTable}` };

/** Has the database look at what its tables hold now, so that it plans well. */
export function analyze(number: number): Statement {
  return { sql: `analyze ${resourcesTable(number)}` };
}
