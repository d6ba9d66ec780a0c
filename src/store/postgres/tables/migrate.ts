/** Creates collections and changes their declarations, in a transaction that locks the catalogue. */
import { randomInt } from "node:crypto";
import { Problem, StartError } from "../../../errors.ts";
import { idKindChanged, redeclared, undeclared } from "../../core/catalogue.ts";
import { damageOf, nameOfResource } from "../../core/checksums.ts";
import { decideAsync } from "../../core/decision.ts";
import { startIndex } from "../../core/search-index.ts";
import { type CollectionRecord, isDeclared, isEqualJson } from "../../port/record.ts";
import { hold } from "../commit/holds.ts";
import { insertReferences, referenceRows, updateKeys } from "../commit/statements.ts";
import type { Transaction } from "../connection/transaction.ts";
import { askRows, cataloguePlans } from "../postgres-dialect.ts";
import { selectChunk } from "../read/reads.ts";
import { clearIndex, searchIndexOf } from "../upkeep/background.ts";
import {
  Catalogue,
  catalogueSql,
  type NumberedCollection,
  requireSameFormat,
  toCollection,
} from "./catalogue.ts";
import { idOf } from "./id-keys.ts";
import { indexStatements, keysOf } from "./indexes.ts";
import { isUnfinished } from "./prepare.ts";
import {
  deleteAllReferences,
  insertHead,
  insertIdCounter,
  lockCatalogue,
  lockHeads,
  raiseDeclared,
} from "./statements.ts";
import { collectionTables, resourcesTable, wordsTable, wordsTables } from "./tables.ts";

/** How much one statement reads: resources, and bytes of text. */
const page = { resources: 500, size: 2 * 1024 * 1024 };

/**
 * Declarations start at a random number. If a database is emptied and filled again, an instance that has not noticed
 * this therefore does not confuse a new collection with an old one of the same number.
 */
const maxFirstDeclared = 1_000_000_000;

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
  let last = Math.max(0, ...[...known.values()].map(({ number }) => number));
  for (const record of plan) {
    const before = known.get(record.name);
    if (before !== undefined && isDeclared(before, record)) continue;
    const declared = (before?.declared ?? randomInt(maxFirstDeclared)) + 1;
    const after = {
      ...redeclared(record, before ?? { number: ++last, ...undeclared }),
      declared,
    };
    await migrateOne(transaction, { before, after, known }).catch(async (error: unknown) => {
      if (error instanceof SyntaxError) await refuseDamaged(transaction, after);
      throw error;
    });
    known.set(record.name, after);
  }
}

interface Migration {
  before: NumberedCollection | undefined;
  after: NumberedCollection;
  known: ReadonlyMap<string, NumberedCollection>;
}

/**
 * Changes tables and indexes before it locks the head, because these changes wait for writers, and the writers may wait
 * for the head. If the writers lock heads first because of constraints, this does the same. Before that, it waits for imports:
 * a change of a table that waits for an import would make all reads of the table wait.
 */
async function migrateOne(transaction: Transaction, { before, after, known }: Migration): Promise<void> {
  const { number } = after;
  const hasSearchChanged = !isEqualJson(before?.search ?? [], after.search);
  const tables = before === undefined ? collectionTables(number) : [];
  const words = hasSearchChanged ? wordsTableStatements(before, after) : [];
  const affected = before === undefined ? [number] : [number, ...targetNumbers([before, after], known)];
  if (before !== undefined) await hold(transaction, [number]);
  if (before !== undefined && new Catalogue(known.values()).relatedTo(before).length > 0)
    await transaction.run(lockHeads(affected));
  for (const sql of [...tables, ...words]) await transaction.run({ sql });
  const { dropped, created } = indexStatements(number, before?.numbers.used ?? [], after.numbers.used);
  if (before !== undefined && created.length > 0) await buildKeys(transaction, after);
  // Reads wait for a drop, so it comes after the keys.
  for (const sql of [...created, ...dropped]) await transaction.run({ sql });
  if (before === undefined) {
    await transaction.run(insertHead(number, after.declared));
    await transaction.run(insertIdCounter(number));
  }
  const { rows } = await transaction.run(lockHeads(affected));
  const count = Number(rows.find(([each]) => Number(each) === number)?.[3]);
  if (before !== undefined && before.idKind !== after.idKind && count > 0)
    throw new StartError(idKindChanged(before, after));
  await transaction.runPlan(cataloguePlans.put(after));
  if (!isEqualJson(before?.references ?? [], after.references)) await rewriteReferences(transaction, after);
  if (hasSearchChanged && after.search.length === 0) await transaction.run(clearIndex(number));
  if (hasSearchChanged && after.search.length > 0)
    await decideAsync(startIndex<string>(), searchIndexOf(transaction, after));
  if (before !== undefined) await transaction.run(raiseDeclared(affected));
  else if (after.references.length > 0) await transaction.run(raiseDeclared(targetNumbers([after], known)));
}

function wordsTableStatements(
  before: NumberedCollection | undefined,
  after: NumberedCollection,
): readonly string[] {
  const dropped = (before?.search ?? []).length > 0 ? [`drop table ${wordsTable(after.number)}`] : [];
  return after.search.length > 0 ? [...dropped, ...wordsTables(after.number)] : dropped;
}

/** The numbers of the collections that declarations refer to. Their writers must know of the references. */
function targetNumbers(
  declarations: readonly NumberedCollection[],
  known: ReadonlyMap<string, NumberedCollection>,
): number[] {
  const names = declarations.flatMap(({ references }) => references.map(({ collection }) => collection));
  return [...new Set(names.flatMap((name) => known.get(name)?.number ?? []))];
}

/**
 * Writes the keys of all resources again. It waits for the writers in progress, because a writer can already have the lock of a
 * resource. Later writers wait for it. Reads do not wait for this lock.
 */
async function buildKeys(transaction: Transaction, collection: NumberedCollection): Promise<void> {
  const { number } = collection;
  await transaction.run({ sql: `lock table ${resourcesTable(number)} in exclusive mode` });
  for await (const rows of pagesOf(transaction, number))
    await transaction.run(
      updateKeys(
        number,
        rows.map(({ key, text }) => [key, keysOf(collection, text)]),
      ),
    );
}

/** Throws a StartError that names a resource whose text is no JSON, if there is one. */
async function refuseDamaged(transaction: Transaction, { name, number, idKind }: NumberedCollection) {
  for await (const rows of pagesOf(transaction, number))
    for (const { key, text } of rows)
      try {
        JSON.parse(text);
      } catch {
        throw new StartError(damageOf(nameOfResource(name, idOf(idKind, key))));
      }
}

/** Writes the references of all resources again. */
async function rewriteReferences(transaction: Transaction, collection: NumberedCollection): Promise<void> {
  const { number, references } = collection;
  await transaction.run(deleteAllReferences(number));
  if (references.length === 0) return;
  for await (const rows of pagesOf(transaction, number)) {
    const found = rows.flatMap(({ key, text }) => referenceRows(key, text, references));
    await transaction.runPlan(askRows(insertReferences(number, found)));
  }
}

/** All resources of a collection. */
async function* pagesOf(
  transaction: Transaction,
  number: number,
): AsyncGenerator<readonly { key: string; text: string }[]> {
  for (let after = ""; ; ) {
    const { rows } = await transaction.run(selectChunk(number, after, page));
    if (rows.length === 0) return;
    yield rows.map(([key, , , text]) => ({ key: String(key), text: String(text) }));
    after = String(rows.at(-1)?.[0]);
  }
}
