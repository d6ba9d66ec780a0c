/** What the store's file knows about its collections. */
import type { DatabaseSync } from "node:sqlite";
import type { IdKind } from "../../collection/ids.ts";
import type { Index } from "../../collection/indexes.ts";
import type { Path } from "../../collection/paths.ts";
import type { CollectionRecord } from "../store.ts";

/** A collection with the number that its tables are named by. */
export interface NumberedCollection extends CollectionRecord {
  number: number;
}

/** The collections by name. */
export type Catalogue = ReadonlyMap<string, NumberedCollection>;

/** Reads the catalogue. */
export function readCatalogue(database: DatabaseSync): Map<string, NumberedCollection> {
  const rows = database
    .prepare(
      "select number, name, id_kind as idKind, schema, indexes, search from collections order by number",
    )
    .all();
  return new Map(
    rows.map(({ number, name, idKind, schema, indexes, search }) => [
      String(name),
      {
        number: Number(number),
        name: String(name),
        idKind: idKind as IdKind,
        schema: schema === null ? undefined : String(schema),
        indexes: JSON.parse(String(indexes)) as readonly Index[],
        search: JSON.parse(String(search)) as readonly Path[],
      },
    ]),
  );
}
