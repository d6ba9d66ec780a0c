/** Creates collections in the file and changes their declarations. The caller keeps a transaction open. */
import type { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import type { Unique } from "../../../collection/unique.ts";
import { idKindChanged, type NumberedCollection, redeclared, undeclared } from "../../core/catalogue.ts";
import { damageOf, nameOfResource } from "../../core/checksums.ts";
import type { CollectionRecord } from "../../port/record.ts";
import { readCatalogue } from "../file/catalogue.ts";
import { failureOf, InvalidStateError } from "../file/failures.ts";
import { collectionTables, quoteName, resourcesTable } from "../file/tables.ts";
import { cataloguePlans, PlanRunner } from "../sqlite-dialect.ts";
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
  const plans = new PlanRunner(database);
  const before = plans.run(cataloguePlans.find(record.name));
  const number = before?.number ?? create(database);
  if (before !== undefined && before.idKind !== record.idKind && heads.of(number).count > 0)
    throw new InvalidStateError(idKindChanged(before, record));
  const after = redeclared(record, before ?? { number, ...undeclared }, ({ indexes }) => indexes);
  plans.run(cataloguePlans.put(after));
  if (!isDeepStrictEqual(before?.references ?? [], after.references))
    rebuildReferences(database, number, after.references);
  updateUnique(database, number, after.unique);
  const { next } = (before ?? undeclared).numbers;
  buildEntries(
    database,
    number,
    after.slots.filter(({ slot }) => slot >= next),
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
