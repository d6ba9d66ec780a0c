/** Creates collections and changes their declarations, in a transaction that locks the catalogue. It also builds indexes and search words. */
import { randomInt } from "node:crypto";
import { Problem } from "../../../errors.ts";
import type { BuildingPlans } from "../../core/building.ts";
import { MigrationPlans, refuse, targetNumbers } from "../../core/migration.ts";
import { searchedWords } from "../../core/search-index.ts";
import { type CollectionRecord, isDeclared } from "../../port/record.ts";
import { done } from "../../sql/plans.ts";
import { command } from "../../sql/table.ts";
import { hold, lockHeads } from "../commit/holds.ts";
import { replaceWords, wordRows } from "../commit/words.ts";
import { integers } from "../connection/arrays.ts";
import type { Transaction } from "../connection/transaction.ts";
import { askRows, storePlans } from "../postgres-dialect.ts";
import {
  Catalogue,
  catalogueSql,
  type NumberedCollection,
  requireSameFormat,
  toCollection,
} from "./declared-catalogue.ts";
import { indexStatements, updateKeys } from "./key-column.ts";
import { isUnfinished, lockCatalogue } from "./prepare.ts";
import { collectionTables, referencesTable, resourcesTable, wordsTable, wordsTables } from "./tables.ts";

/**
 * Declarations start at a random number. If a database is emptied and filled again, an instance that has not noticed
 * this therefore does not confuse a new collection with an old one of the same number.
 */
const maxFirstDeclared = 1_000_000_000;

const clearWordCount = command<[number]>("update holdfast_heads set words = 0 where number = $1::integer");
const addWordCount = command<[number, number]>(
  "update holdfast_heads set words = words + $2::bigint where number = $1::integer",
);

const migrations: MigrationPlans = new MigrationPlans({
  ...storePlans,
  beforeAll: "",
  *create(number) {
    const tables = collectionTables(number).map((sql) => ({ sql }));
    const declared = randomInt(maxFirstDeclared) + 1;
    const head = { sql: "insert into holdfast_heads (number, declared) values ($1::integer, $2::integer)" };
    const ids = { sql: "insert into holdfast_ids (number) values ($1::integer)" };
    yield* askRows([...tables, { ...head, values: [number, declared] }, { ...ids, values: [number] }]);
  },
  /** Reads do not wait for this lock. It waits for the writers in progress, because a writer can already have locked a resource. */
  *addAll(collection) {
    yield* askRows([{ sql: `lock table ${resourcesTable(collection.number)} in exclusive mode` }]);
    yield* building.withAll(collection, (resources) => askRows([updateKeys(collection, resources)]), refuse);
  },
  /** Reads wait for a drop, so it comes last. */
  *changeIndexes(...numbers) {
    const { created, dropped } = indexStatements(...numbers);
    yield* askRows([...created, ...dropped].map((sql) => ({ sql })));
  },
  *clearReferences({ number }) {
    yield* askRows([{ sql: `delete from ${referencesTable(number)}` }]);
  },
  *lockHeads(numbers) {
    const rows = yield* askRows([lockHeads(numbers)]);
    return Number(rows.find(([number]) => Number(number) === numbers[0])?.[3]);
  },
  *lockHead(collection) {
    const [head] = yield* askRows([lockHeads([collection.number])]);
    return Number(head?.[2]) === (collection as NumberedCollection).declared;
  },
  /** The next write or search of another instance notices the new number. */
  *raiseDeclared(numbers) {
    const sql = "update holdfast_heads set declared = declared + 1 where number = any($1::integer[])";
    yield* askRows([{ sql, values: [integers(numbers)] }]);
  },
  *addKeys(collection, resources) {
    yield* askRows([updateKeys(collection, resources)]);
  },
  removeEntries: () => done(0), // keys are in the rows of the resources
  *clearWords({ number, search }) {
    const tables = search.length > 0 ? wordsTables(number) : [];
    const dropped = `drop table if exists ${wordsTable(number)}`;
    yield* askRows([dropped, ...tables].map((sql) => ({ sql })));
    yield* clearWordCount(number);
  },
  *emptyWords({ number }) {
    yield* askRows([{ sql: `delete from ${wordsTable(number)}` }]);
    yield* clearWordCount(number);
  },
  *addWords({ number, search }, resources) {
    const gone = resources.map(({ key }) => String(key));
    const rows = resources.flatMap(({ key, attributes }) =>
      wordRows(String(key), searchedWords(attributes, search)),
    );
    yield* addWordCount(number, yield* replaceWords(number, gone, rows));
  },
});

/** The plans that build indexes and search words. */
export const building: BuildingPlans = migrations.building;

/**
 * Carries out the plan of a service. Throws StartError, and UNAVAILABLE while a copy into the database is incomplete.
 */
export async function migrateServed(
  transaction: Transaction,
  plan: readonly CollectionRecord[],
): Promise<void> {
  await transaction.run(lockCatalogue); // a copy also locks the catalogue before it starts
  if (await isUnfinished(transaction))
    throw new Problem(
      "UNAVAILABLE",
      "A copy into the database is in progress. Try again when it is complete.",
    );
  await migrateAll(transaction, plan);
}

/**
 * Carries out a plan. It never removes data of resources. Throws StartError, and UNAVAILABLE if another version has changed the
 * tables.
 */
export async function migrateAll(transaction: Transaction, plan: readonly CollectionRecord[]): Promise<void> {
  const { rows: formats } = await transaction.run(lockCatalogue);
  requireSameFormat(formats[0]?.[0]); // an empty catalogue does not show it
  const { rows } = await transaction.run({ sql: catalogueSql });
  const known = new Map(rows.map(toCollection).map((each) => [each.name, each]));
  for (const record of plan) {
    const before = known.get(record.name);
    if (before !== undefined && isDeclared(before, record)) continue;
    if (before !== undefined) await keepOthersOut(transaction, [before, record], known);
    const after = await transaction.runPlan(migrations.migrate(record, known));
    known.set(record.name, { ...after, declared: (before?.declared ?? 0) + 1 });
  }
}

/**
 * Waits for the writers and imports in progress. A change of a table that waits for an import would make all reads of the table wait.
 * If writers lock heads first because of constraints, this function also locks them first.
 */
async function keepOthersOut(
  transaction: Transaction,
  [before, after]: readonly [NumberedCollection, CollectionRecord],
  known: ReadonlyMap<string, NumberedCollection>,
): Promise<void> {
  await hold(transaction, [before.number]);
  if (new Catalogue(known.values()).relatedTo(before).length > 0)
    await transaction.run(lockHeads([before.number, ...targetNumbers([before, after], known)]));
}
