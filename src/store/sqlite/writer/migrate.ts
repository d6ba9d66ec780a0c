/** Creates collections in the file and changes their declarations. The caller keeps a transaction open. */
import type { DatabaseSync } from "node:sqlite";
import { changeSlots, noSlots, numberedOf, type Slots } from "../../core/entries.ts";
import type { CollectionRecord } from "../../port/record.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { InvalidStateError } from "../file/failures.ts";
import { collectionTables } from "../file/tables.ts";
import { buildEntries, buildReferences } from "./entry-tables.ts";
import type { Heads } from "./heads.ts";

/** Creates a collection, or changes its declaration. Never removes data. Throws InvalidStateError if the kind of id cannot change. */
export function migrateCollection(
  database: DatabaseSync,
  heads: Heads,
  record: CollectionRecord,
): NumberedCollection {
  const row = database
    .prepare(
      "select number, id_kind as idKind, refers, indexes, uniques, slots from collections where name = ?",
    )
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
  const known = {
    indexes: JSON.parse(String(row?.indexes ?? "[]")),
    unique: JSON.parse(String(row?.uniques ?? "[]")),
  };
  const numbers = changeSlots(known, before, record);
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
      JSON.stringify(numbers),
      number,
    );
  if (row?.refers !== JSON.stringify(references)) buildReferences(database, number, references);
  const numbered = numberedOf(record, numbers);
  const places = [...numbered.slots, ...numbered.uniqueSlots];
  buildEntries(
    database,
    number,
    places.filter(({ slot }) => !before.used.includes(slot)),
  );
  return { ...record, number, unique, references, timestamps, ...numbered };
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
