/** Makes collections be as they are declared, inside a transaction that has the catalogue locked. */
import { randomInt } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { Problem, StartError } from "../../../errors.ts";
import { decideAsync } from "../../decision.ts";
import type { CollectionRecord } from "../../record.ts";
import { isDeclared } from "../../record.ts";
import { startIndex } from "../../searched-words.ts";
import { refersRows } from "../commit/flush.ts";
import { insertRefers } from "../commit/statements.ts";
import type { Transaction } from "../connection/transaction.ts";
import { searchIndexOf } from "../upkeep/gather.ts";
import { gatherNoMore } from "../upkeep/statements.ts";
import { Catalogue, catalogueSql, type NumberedCollection, toCollection } from "./catalogue.ts";
import { indexStatements } from "./indexes.ts";
import { isUnfinished } from "./prepare.ts";
import {
  type DeclarationRow,
  declareAnew,
  deleteAllRefers,
  insertHead,
  insertIds,
  lockCatalogue,
  lockHeads,
  putDeclaration,
  selectAfter,
} from "./statements.ts";
import { collectionTables, wordsTable, wordsTables } from "./tables.ts";

/** Resources that are looked at in one statement. */
const slice = 500;

/**
 * The states of declarations begin anywhere: an instance that has not noticed that its database was emptied and filled with
 * something else takes no collection for another one of the same number.
 */
const maxFirst = 1_000_000_000;

/** Carries out the plan of a service. Throws UNAVAILABLE while a copy fills it, and StartError. */
export async function migrateServed(
  transaction: Transaction,
  plan: readonly CollectionRecord[],
): Promise<void> {
  await transaction.run(lockCatalogue); // a copy begins only with the catalogue locked
  if (await isUnfinished(transaction))
    throw new Problem(
      "UNAVAILABLE",
      "A copy into the database is in progress. Try again when it is complete.",
    );
  await migrateAll(transaction, plan);
}

/** Carries out a plan. Nothing that resources hold is ever dropped. Throws StartError. */
export async function migrateAll(transaction: Transaction, plan: readonly CollectionRecord[]): Promise<void> {
  await transaction.run(lockCatalogue);
  const { rows } = await transaction.run({ sql: catalogueSql });
  const known = new Map(rows.map(toCollection).map((each) => [each.name, each]));
  let last = Math.max(0, ...[...known.values()].map(({ number }) => number));
  for (const record of plan) {
    const before = known.get(record.name);
    if (before !== undefined && isDeclared(before, record)) continue;
    const after = numbered(record, before ?? { number: ++last, declared: randomInt(maxFirst) });
    await migrateOne(transaction, { before, after, known });
    known.set(record.name, after);
  }
}

function numbered(
  record: CollectionRecord,
  { number, declared }: { number: number; declared: number },
): NumberedCollection {
  const { unique = [], references = [], timestamps = false } = record;
  return { ...record, unique, references, timestamps, number, declared: declared + 1 };
}

interface Migration {
  before: NumberedCollection | undefined;
  after: NumberedCollection;
  known: ReadonlyMap<string, NumberedCollection>;
}

/**
 * Tables and indexes first, which wait for whoever is writing; only then the head, for which those may be waiting. Where
 * writers begin with the heads, so does this.
 */
async function migrateOne(transaction: Transaction, { before, after, known }: Migration): Promise<void> {
  const { number } = after;
  const isSearchNew = !isDeepStrictEqual(before?.search ?? [], after.search);
  const tables = before === undefined ? collectionTables(number) : [];
  const words = isSearchNew ? wordsDdl(before, after) : [];
  const touched = before === undefined ? [number] : [number, ...targetNumbers([before, after], known)];
  if (before !== undefined && new Catalogue(known.values()).relatedTo(before).length > 0)
    await transaction.run(lockHeads(touched));
  for (const sql of [...tables, ...words, ...indexStatements(number, before, after)])
    await transaction.run({ sql });
  if (before === undefined) {
    await transaction.run(insertHead(number, after.declared));
    await transaction.run(insertIds(number));
  }
  const { rows } = await transaction.run(lockHeads(touched));
  const count = Number(rows.find(([each]) => Number(each) === number)?.[3]);
  if (before !== undefined && before.idKind !== after.idKind && count > 0) throw idKindMistake(before, after);
  await transaction.run(putDeclaration(toRow(after)));
  if (!isDeepStrictEqual(before?.references ?? [], after.references)) await refill(transaction, after);
  if (isSearchNew && after.search.length === 0) await transaction.run(gatherNoMore(number));
  if (isSearchNew && after.search.length > 0)
    await decideAsync(startIndex<string>(), searchIndexOf(transaction, after));
  if (before !== undefined) await transaction.run(declareAnew(touched));
  else if (after.references.length > 0) await transaction.run(declareAnew(targetNumbers([after], known)));
}

function wordsDdl(before: NumberedCollection | undefined, after: NumberedCollection): readonly string[] {
  const dropped = (before?.search ?? []).length > 0 ? [`drop table ${wordsTable(after.number)}`] : [];
  return after.search.length > 0 ? [...dropped, ...wordsTables(after.number)] : dropped;
}

/** Whoever writes to a collection that others refer to has to know. */
function targetNumbers(
  declarations: readonly NumberedCollection[],
  known: ReadonlyMap<string, NumberedCollection>,
): number[] {
  const names = declarations.flatMap(({ references }) => references.map(({ collection }) => collection));
  return [...new Set(names.flatMap((name) => known.get(name)?.number ?? []))];
}

/** Notes anew what the resources refer to. */
async function refill(transaction: Transaction, collection: NumberedCollection): Promise<void> {
  const { number, references } = collection;
  await transaction.run(deleteAllRefers(number));
  if (references.length === 0) return;
  for (let after = ""; ; ) {
    const { rows } = await transaction.run(selectAfter(number, after, slice));
    const refers = rows.flatMap(([key, , , text]) => refersRows(String(key), String(text), references));
    if (refers.length > 0) await transaction.run(insertRefers(number, refers));
    if (rows.length < slice) return;
    after = String(rows.at(-1)?.[0]);
  }
}

function toRow(collection: NumberedCollection): DeclarationRow {
  const { number, name, idKind, schema, indexes, search, unique, references, timestamps } = collection;
  return {
    number,
    name,
    idKind,
    schema: schema ?? null,
    indexes: JSON.stringify(indexes),
    search: JSON.stringify(search),
    uniques: JSON.stringify(unique),
    refers: JSON.stringify(references),
    timestamps,
  };
}

function idKindMistake({ name, idKind }: CollectionRecord, after: CollectionRecord): StartError {
  return new StartError(
    `collections.${name}.id: the store has resources with ids of kind "${idKind}", which cannot become "${after.idKind}". ` +
      `Declare "${idKind}" again, or import the resources into a collection with another name.`,
  );
}
