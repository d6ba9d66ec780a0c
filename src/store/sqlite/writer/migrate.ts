/** Creates collections in the file and changes their declarations. The caller keeps a transaction open. */
import type { DatabaseSync } from "node:sqlite";
import { idKindChanged, type NumberedCollection, redeclared, undeclared } from "../../core/catalogue.ts";
import { damageOf, nameOfResource } from "../../core/checksums.ts";
import { type CollectionRecord, isEqualJson } from "../../port/record.ts";
import { readCatalogue } from "../file/catalogue.ts";
import { failureOf, InvalidStateError } from "../file/failures.ts";
import { collectionTables, resourcesTable } from "../file/tables.ts";
import { cataloguePlans, PlanRunner } from "../sqlite-dialect.ts";
import { buildEntries, buildReferences } from "./entry-tables.ts";
import type { Heads } from "./heads.ts";

/** Creates a collection, or changes its declaration. Never removes data. Throws InvalidStateError if the kind of id cannot change. */
export function migrateCollection(
  database: DatabaseSync,
  heads: Heads,
  record: CollectionRecord,
): NumberedCollection {
  const plans = new PlanRunner(database);
  const before = plans.run(cataloguePlans.find(record.name));
  const number = before?.number ?? create(database);
  if (before !== undefined && before.idKind !== record.idKind && heads.of(number).count > 0)
    throw new InvalidStateError(idKindChanged(before, record));
  const after = redeclared(record, before ?? { number, ...undeclared });
  plans.run(cataloguePlans.put(after));
  if (!isEqualJson(before?.references ?? [], after.references))
    buildReferences(database, number, after.references);
  const { next } = (before ?? undeclared).numbers;
  buildEntries(
    database,
    number,
    [...after.slots, ...after.uniqueSlots].filter(({ slot }) => slot >= next),
  );
  return after;
}

/** An InvalidStateError that names a resource whose text is no JSON, if there is one; otherwise the error itself. */
export function declarationError(database: DatabaseSync, name: string, error: unknown): unknown {
  const collection = failureOf(error) === "other" && readCatalogue(database).get(name);
  if (!collection || error instanceof InvalidStateError) return error;
  const table = resourcesTable(collection.number);
  const damaged = database.prepare(`select id from ${table} where not json_valid(doc) limit 1`).get();
  return damaged === undefined
    ? error
    : new InvalidStateError(damageOf(nameOfResource(name, String(damaged.id))));
}

/** Creates the tables of the next collection. Returns its number. */
function create(database: DatabaseSync): number {
  const { lastInsertRowid } = database.prepare("insert into heads values (null, 0, 0, 0, 0)").run();
  const number = Number(lastInsertRowid);
  database.exec(collectionTables(number));
  return number;
}
