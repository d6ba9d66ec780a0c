/** Creates collections in the file and changes their declarations. The caller keeps a transaction open. */
import type { DatabaseSync } from "node:sqlite";
import type { Index } from "../../../collection/indexes.ts";
import type { Unique } from "../../../collection/unique.ts";
import type { CollectionRecord } from "../../port/record.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { InvalidStateError } from "../file/failures.ts";
import { collectionTables, quoteName, resourcesTable } from "../file/tables.ts";
import { columnDdl, indexDdl, indexName } from "../list/columns.ts";
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
    .prepare("select number, id_kind as idKind, refers from collections where name = ?")
    .get(record.name);
  const number = row === undefined ? create(database, record) : Number(row.number);
  if (row !== undefined && row.idKind !== record.idKind && heads.of(number).count > 0) {
    throw new InvalidStateError(
      `collections.${record.name}.id: the store has resources with ids of kind "${row.idKind}", which cannot become "${record.idKind}". ` +
        `Declare "${row.idKind}" again, or import the resources into a collection with another name.`,
    );
  }
  const { idKind, schema, indexes, search, unique = [], references = [], timestamps = false } = record;
  database
    .prepare(
      "update collections set id_kind = ?, schema = ?, indexes = ?, search = ?, uniques = ?, refers = ?, timestamps = ? where number = ?",
    )
    .run(
      idKind,
      schema ?? null,
      JSON.stringify(indexes),
      JSON.stringify(search),
      JSON.stringify(unique),
      JSON.stringify(references),
      Number(timestamps),
      number,
    );
  if (row?.refers !== JSON.stringify(references)) rebuildReferences(database, number, references);
  updateIndexes(database, number, { indexes, unique });
  return { ...record, number, unique, references, timestamps };
}

function create(database: DatabaseSync, { name, idKind }: CollectionRecord): number {
  const { lastInsertRowid } = database
    .prepare(
      `insert into collections (name, id_kind, indexes, search, uniques, refers, timestamps)
       values (?, ?, '[]', '[]', '[]', '[]', 0)`,
    )
    .run(name, idKind);
  const number = Number(lastInsertRowid);
  database.prepare("insert into heads values (?, 0, 0, 0, 0)").run(number);
  database.exec(collectionTables(number));
  return number;
}

/** Creates the declared indexes and drops all others. Readers can continue at the same time. */
function updateIndexes(
  database: DatabaseSync,
  number: number,
  { indexes, unique }: { indexes: readonly Index[]; unique: readonly Unique[] },
): void {
  const declared = new Map(indexes.map((index) => [indexName(number, index), index]));
  const declaredUnique = new Map(unique.map((each) => [uniqueIndexName(number, each), each]));
  const existing = indexesOf(database, number);
  for (const name of existing) {
    if (!declared.has(name) && !declaredUnique.has(name)) database.exec(`drop index ${quoteName(name)}`);
  }
  const missing = [...declared].filter(([name]) => !existing.includes(name)).map(([, index]) => index);
  for (const statement of columnDdl(number, missing, columnsOf(database, number))) database.exec(statement);
  for (const index of missing) database.exec(indexDdl(number, index));
  const columns = columnsOf(database, number);
  for (const [name, each] of declaredUnique) {
    if (!columns.has(uniqueColumn(each))) database.exec(uniqueColumnDdl(number, each));
    if (!existing.includes(name)) database.exec(uniqueIndexDdl(number, each));
  }
}

/** Drops the declared indexes while an import fills the table. Returns a function that creates them again. */
export function suspendIndexes(
  database: DatabaseSync,
  { number, indexes }: Pick<NumberedCollection, "number" | "indexes">,
): () => void {
  for (const index of indexes) database.exec(`drop index ${quoteName(indexName(number, index))}`);
  return () => {
    for (const index of indexes) database.exec(indexDdl(number, index));
  };
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
