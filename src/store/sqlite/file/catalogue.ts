/** Reads the catalogue of a store's file: its collections and their declarations. `../writer/migrate.ts` changes them. */
import type { DatabaseSync } from "node:sqlite";
import type { IdKind } from "../../../collection/ids.ts";
import type { Index } from "../../../collection/indexes.ts";
import type { Path } from "../../../collection/paths.ts";
import type { Reference } from "../../../collection/references.ts";
import type { Unique } from "../../../collection/unique.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { type Slots, slotsOf } from "../../core/order-keys.ts";

export type { NumberedCollection } from "../../core/catalogue.ts";

/** Reads the catalogue. Returns the collections by name. */
export function readCatalogue(database: DatabaseSync): Map<string, NumberedCollection> {
  const rows = database.prepare("select * from collections order by number").all();
  return new Map(
    rows.map(({ number, name, id_kind: idKind, schema, search, uniques, refers, timestamps, ...row }) => {
      const indexes = JSON.parse(String(row.indexes)) as readonly Index[];
      const collection = {
        number: Number(number),
        name: String(name),
        idKind: idKind as IdKind,
        schema: schema === null ? undefined : String(schema),
        indexes,
        search: JSON.parse(String(search)) as readonly Path[],
        unique: JSON.parse(String(uniques)) as readonly Unique[],
        references: JSON.parse(String(refers)) as readonly Reference[],
        timestamps: timestamps === 1,
        slots: slotsOf(indexes, JSON.parse(String(row.slots)) as Slots),
      };
      return [collection.name, collection];
    }),
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
