/** Creates collections in the file and changes their declarations. The caller keeps a transaction open. */
import type { DatabaseSync } from "node:sqlite";
import type { Index } from "../../../collection/indexes.ts";
import type { Unique } from "../../../collection/unique.ts";
import { changeSlots, noSlots, type Slots, slotsOf } from "../../core/order-keys.ts";
import type { CollectionRecord } from "../../port/record.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { InvalidStateError } from "../file/failures.ts";
import { collectionTables, quoteName, resourcesTable } from "../file/tables.ts";
import { buildEntries } from "./entry-tables.ts";
import type { Heads } from "./heads.ts";
import { rebuildReferences } from "./references.ts";
import { uniqueColumn, uniqueColumnDdl, uniqueIndexDdl, uniqueIndexName } from "./unique.ts";

/** Creates a collection, or changes its declaration. Never removes data. Throws InvalidStateError if the kind of id cannot change. */
export function migrateCollection(
  database: DatabaseSync,
  heads: Heads,
  record: CollectionRecord,
): NumberedCollection {
  const row = database
    .prepare("select number, id_kind as idKind, refers, indexes, slots from collections where name = ?")
    .get(record.name);
  const number = row === undefined ? create(database, record) : Number(row.number);
  if (row !== undefined && row.idKind !== record.idKind && heads.of(number).count > 0) {
    throw new InvalidStateError(
      `collections.${record.name}.id: the store has resources with ids of kind "${row.idKind}", which cannot become "${record.idKind}". ` +
        `Declare "${row.idKind}" again, or import the resources into a collection with another name.`,
    );
  }
  const { idKind, schema, indexes, search, unique = [], references = [], timestamps = false } = record;
  const before = row === undefined ? noSlots : (JSON.parse(String(row.slots)) as Slots);
  const known = row === undefined ? [] : slotsOf(JSON.parse(String(row.indexes)) as readonly Index[], before);
  const { slots, added } = changeSlots(known, before, indexes);
  database
    .prepare(
      "update collections set id_kind = ?, schema = ?, indexes = ?, search = ?, uniques = ?, refers = ?, timestamps = ?, slots = ? where number = ?",
    )
    .run(
      idKind,
      schema ?? null,
      JSON.stringify(indexes),
      JSON.stringify(search),
      JSON.stringify(unique),
      JSON.stringify(references),
      Number(timestamps),
      JSON.stringify(slots),
      number,
    );
  if (row?.refers !== JSON.stringify(references)) rebuildReferences(database, number, references);
  updateUnique(database, number, unique);
  buildEntries(database, number, added);
  return { ...record, number, unique, references, timestamps, slots: slotsOf(indexes, slots) };
}

function create(database: DatabaseSync, { name, idKind }: CollectionRecord): number {
  const { lastInsertRowid } = database
    .prepare(
      `insert into collections (name, id_kind, indexes, search, uniques, refers, timestamps, slots)
       values (?, ?, '[]', '[]', '[]', '[]', 0, ?)`,
    )
    .run(name, idKind, JSON.stringify(noSlots));
  const number = Number(lastInsertRowid);
  database.prepare("insert into heads values (?, 0, 0, 0, 0)").run(number);
  database.exec(collectionTables(number));
  return number;
}

/** Creates the indexes of unique attributes and drops all others. Readers can continue at the same time. */
function updateUnique(database: DatabaseSync, number: number, unique: readonly Unique[]): void {
  const declared = new Map(unique.map((each) => [uniqueIndexName(number, each), each]));
  const existing = indexesOf(database, number);
  for (const name of existing) if (!declared.has(name)) database.exec(`drop index ${quoteName(name)}`);
  const columns = columnsOf(database, number);
  for (const [name, each] of declared) {
    if (!columns.has(uniqueColumn(each))) database.exec(uniqueColumnDdl(number, each));
    if (!existing.includes(name)) database.exec(uniqueIndexDdl(number, each));
  }
}

function indexesOf(database: DatabaseSync, number: number): string[] {
  return database
    .prepare("select name from sqlite_schema where type = 'index' and tbl_name = ? and sql is not null")
    .all(resourcesTable(number))
    .map(({ name }) => String(name));
}

function columnsOf(database: DatabaseSync, number: number): Set<string> {
  const rows = database.prepare("select name from pragma_table_xinfo(?)").all(resourcesTable(number));
  return new Set(rows.map(({ name }) => String(name)));
}
