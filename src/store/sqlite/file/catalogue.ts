/** Reads the catalogue of a store's file: its collections and their declarations. `../writer/migrate.ts` changes them. */
import type { DatabaseSync } from "node:sqlite";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { cataloguePlans, PlanRunner } from "../sqlite-dialect.ts";

export type { NumberedCollection } from "../../core/catalogue.ts";

/** Reads the catalogue. Returns the collections by name. */
export function readCatalogue(database: DatabaseSync): Map<string, NumberedCollection> {
  const collections = new PlanRunner(database).run(cataloguePlans.all());
  return new Map(collections.map((each) => [each.name, each]));
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
