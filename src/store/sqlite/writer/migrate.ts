/** How SQLite changes its tables for a declaration, and builds indexes and words. The caller keeps a transaction open. */
import type { DatabaseSync } from "node:sqlite";
import { StartError } from "../../../errors.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { damageOf, nameOfResource } from "../../core/checksums.ts";
import { entryOf } from "../../core/entries.ts";
import { MigrationPlans } from "../../core/migration.ts";
import { searchedWords } from "../../core/search-index.ts";
import { ask, done, type Value } from "../../sql/plans.ts";
import { numberOf } from "../../sql/table.ts";
import { failureOf, InvalidStateError } from "../file/failures.ts";
import {
  collectionTables,
  entriesTable,
  referencesDdl,
  referencesTable,
  resourcesTable,
} from "../file/tables.ts";
import { searchDdl, searchTable } from "../list/search.ts";
import { readCatalogue, storePlans } from "../sqlite-dialect.ts";
import { buildEntries, entryCells, entryPlaces } from "./entry-tables.ts";
import type { Heads } from "./heads.ts";

/**
 * The plans that change declarations. `buildsAtOnce`: the entries of new indexes are complete afterwards, in any collection. That is
 * faster than in steps, but other writes wait for it.
 */
export function createMigrations(
  database: DatabaseSync,
  heads: Heads,
  { buildsAtOnce = false } = {},
): MigrationPlans {
  const clearWords = ({ number, search }: NumberedCollection) => {
    database.exec(`drop table if exists ${searchTable(number)}`);
    if (search.length > 0) database.exec(searchDdl(number));
    return done(undefined);
  };
  return new MigrationPlans({
    ...storePlans,
    buildsAtOnce,
    beforeAll: 0,
    create(number) {
      database
        .prepare("insert into heads (number, sequence, count, last_id, checksums) values (?, 0, 0, 0, 0)")
        .run(number);
      database.exec(collectionTables(number));
      return done(undefined);
    },
    addAll({ number }, places) {
      buildEntries(database, number, places);
      return done(undefined);
    },
    changeIndexes: () => done(undefined),
    clearReferences({ number, references }) {
      database.exec(`drop table if exists ${referencesTable(number)}`);
      if (references.length > 0) database.exec(referencesDdl(number));
      return done(undefined);
    },
    lockHeads: ([number = 0]) => done(heads.of(number).count),
    lockHead: () => done(true),
    raiseDeclared: () => done(undefined),
    addKeys({ number, numbers, places }, resources) {
      const built = places.filter(({ slot }) => numbers.building?.slots.includes(slot));
      const entries = resources.flatMap(({ key, attributes }) =>
        built.flatMap((place) => {
          const entry = entryOf(attributes, place);
          return entry === undefined ? [] : [entryCells(entry, Number(key)) as readonly Value[]];
        }),
      );
      const sql = `insert into ${entriesTable(number)} values (${entryPlaces}) on conflict do nothing`;
      return ask({ text: { sql }, values: entries, read: () => {}, isSilent: true });
    },
    removeEntries({ number }, slot, most) {
      const table = entriesTable(number);
      const sql = `delete from ${table} where slot = $1 and k in (select k from ${table} where slot = $1 order by k limit $2)`;
      return ask({ text: { sql }, values: [[slot, most]], read: numberOf, isSilent: true });
    },
    clearWords,
    emptyWords: clearWords, // the segments of FTS5 keep words of rows that are removed
    addWords({ number, search }, resources) {
      const sql = `insert or replace into ${searchTable(number)} (rowid, words) values ($1, $2)`;
      const values = resources.map(({ key, attributes }) => [
        key,
        searchedWords(attributes, search).join(" "),
      ]);
      return ask({ text: { sql }, values, read: () => {}, isSilent: true });
    },
  });
}

/** Removes all entries of indexes that are no longer declared. */
export function removeUnused(database: DatabaseSync, { number, numbers }: NumberedCollection): void {
  for (const slot of numbers.building?.unused ?? [])
    database.prepare(`delete from ${entriesTable(number)} where slot = ?`).run(slot);
}

/** The reason why a declaration is refused, and otherwise the error itself. It names a resource whose text is no JSON. */
export function declarationError(database: DatabaseSync, name: string, error: unknown): unknown {
  if (error instanceof StartError) return new InvalidStateError(error.message);
  const collection = failureOf(error) === "other" && readCatalogue(database).get(name);
  if (!collection || error instanceof InvalidStateError) return error;
  const table = resourcesTable(collection.number);
  const damaged = database.prepare(`select id from ${table} where not json_valid(doc) limit 1`).get();
  return damaged === undefined
    ? error
    : new InvalidStateError(damageOf(nameOfResource(name, String(damaged.id))));
}
