/**
 * The catalogue of a store's file, that is, its collections and their declarations: reads it, and adds columns to the table of an
 * older version. `../writer/migrate.ts` changes the declarations.
 */
import type { DatabaseSync } from "node:sqlite";
import type { IdKind } from "../../../collection/ids.ts";
import type { Index } from "../../../collection/indexes.ts";
import type { Path } from "../../../collection/paths.ts";
import type { Reference } from "../../../collection/references.ts";
import type { Unique } from "../../../collection/unique.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";

export type { NumberedCollection } from "../../core/catalogue.ts";

/** The columns that newer versions have added. */
const addedColumns = [
  ["uniques", "text not null default '[]'"],
  ["refers", "text not null default '[]'"],
  ["timestamps", "integer not null default 0"],
] as const;

/** Adds the columns of the catalogue that a file of an older version does not have. */
export function addMissingColumns(database: DatabaseSync): void {
  const columns = database.prepare("select name from pragma_table_xinfo('collections')").all();
  for (const [added, type] of addedColumns) {
    if (columns.some(({ name }) => name === added)) continue;
    database.exec(`alter table collections add column ${added} ${type}`);
  }
}

/** Reads the catalogue. Returns the collections by name. */
export function readCatalogue(database: DatabaseSync): Map<string, NumberedCollection> {
  // The query names no columns, because a file of an older version does not have all of them until the writer opens it.
  const rows = database.prepare("select * from collections order by number").all();
  return new Map(
    rows.map(({ number, name, id_kind: idKind, schema, indexes, search, uniques, refers, timestamps }) => [
      String(name),
      {
        number: Number(number),
        name: String(name),
        idKind: idKind as IdKind,
        schema: schema === null ? undefined : String(schema),
        indexes: JSON.parse(String(indexes)) as readonly Index[],
        search: JSON.parse(String(search)) as readonly Path[],
        unique: JSON.parse(String(uniques ?? "[]")) as readonly Unique[],
        references: JSON.parse(String(refers ?? "[]")) as readonly Reference[],
        timestamps: Number(timestamps ?? 0) === 1,
      },
    ]),
  );
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
