/** Writes staged changes, all of a kind in one statement. */
import { formatPath } from "../../../collection/paths.ts";
import { type Reference, referencedIds } from "../../../collection/references.ts";
import { canBeId } from "../../commits/constraints.ts";
import type { StagedChange, StagedChanges, StagedResource } from "../../commits/staged-changes.ts";
import { integerOf } from "../../integer-ids.ts";
import type { ReceiptBounds } from "../../receipts.ts";
import { keptText } from "../../superseded.ts";
import type { Outcome, Statement } from "../connection/connections.ts";
import type { Transaction } from "../connection/transaction.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { keyOf } from "../tables/id-keys.ts";
import type { IdNumbers } from "./numbers.ts";
import { raiseTotals, storeReceipts } from "./receipts.ts";
import {
  deleteRefers,
  deleteResources,
  insertChanges,
  insertRefers,
  insertResources,
  noteId,
  type RefersRow,
  type ResourceRow,
  raiseHead,
  updateResources,
} from "./statements.ts";
import { writeWords } from "./words.ts";

type Staged = StagedChanges<NumberedCollection>;

/** What is written to one collection. */
interface CollectionChanges {
  collection: NumberedCollection;
  resources: readonly StagedResource[];
  changes: readonly StagedChange[];
}

/** Something else happened meanwhile: all has to be judged anew. `isDeclaration`: collections were declared anew. */
export class Overtaken extends Error {
  readonly isDeclaration: boolean;

  constructor(isDeclaration: boolean) {
    super("Another instance was faster.");
    this.isDeclaration = isDeclaration;
  }
}

/** What flushing needs. */
export interface FlushParts {
  transaction: Transaction;
  ids: IdNumbers;
  /** Whether changes are logged. */
  isLogged: boolean;
  receiptBounds: ReceiptBounds;
}

/** What was flushed: the sequence of each change, and what is left to be sent with the commit. */
export interface Flushed {
  sequences: ReadonlyMap<StagedChange, number>;
  last: readonly Statement[];
}

/** Writes all but the change log; `replaced` are the keys of expired receipts. Throws Overtaken. */
export async function flush(
  staged: Staged,
  parts: FlushParts,
  replaced: readonly string[] = [],
): Promise<Flushed> {
  const { transaction, receiptBounds: bounds } = parts;
  const byNumber = Map.groupBy(staged.since(0), ({ collection }) => collection.number);
  const changed = staged.collections.flatMap((each) => {
    const changes = byNumber.get(each.collection.number);
    return changes === undefined ? [] : [{ collection: each.collection, resources: each.resources, changes }];
  });
  const deltas = await Promise.all(changed.map((each) => writeCollection(each, parts)));
  // Sent in one go, and carried out in this order: the receipts, then the heads by their numbers.
  const stored =
    staged.receipts.size === 0 ? undefined : storeReceipts(transaction, staged, { replaced, bounds });
  const heads = changed.map(({ collection: { number }, changes }, n) =>
    transaction.run(raiseHead(number, { sequence: changes.length, ...(deltas[n] as HeadDelta) })),
  );
  const [totals, ...raised] = await Promise.all([stored, ...heads]);
  if (stored !== undefined && totals === undefined) throw new Overtaken(false);
  const sequences = new Map<StagedChange, number>();
  for (const [n, each] of changed.entries()) {
    const base = baseOf(each, raised[n] as Outcome);
    for (const [position, change] of each.changes.entries()) sequences.set(change, base + position + 1);
  }
  if (totals !== undefined && (await raiseTotals(transaction, totals, bounds))) throw new Overtaken(false);
  return { sequences, last: parts.isLogged ? changed.map((each) => logStatement(each, sequences)) : [] };
}

/** By how much a write changes its head. */
interface HeadDelta {
  count: number;
  words: number;
}

function baseOf({ collection, changes }: CollectionChanges, { rows }: Outcome): number {
  const [sequence, declared] = rows[0] ?? [];
  if (Number(declared) !== collection.declared) throw new Overtaken(true);
  return Number(sequence) - changes.length;
}

function logStatement(
  { collection, changes }: CollectionChanges,
  sequences: ReadonlyMap<StagedChange, number>,
): Statement {
  const rows = changes.map((change) => ({
    ...change,
    ...change.origin,
    sequence: sequences.get(change) as number,
    kept: keptText(change),
  }));
  return insertChanges(collection.number, rows);
}

/** Writes the resources of one collection, and what is derived from them. */
async function writeCollection(staged: CollectionChanges, parts: FlushParts): Promise<HeadDelta> {
  const { collection } = staged;
  const { number } = collection;
  const { transaction } = parts;
  const entries = staged.resources.filter(({ before, now }) => before !== now);
  const created = entries.filter(({ before }) => before === undefined);
  const deleted = entries.filter(({ now }) => now === undefined);
  const updated = entries.filter(({ before, now }) => before !== undefined && now !== undefined);
  const work: Promise<unknown>[] = [];
  if (created.length > 0) {
    const inserted = transaction.run(insertResources(number, toRows(collection, created)));
    work.push(inserted.then(({ count }) => requireAll(count, created.length)));
    const noted = noteIds(collection, created, parts);
    if (noted !== undefined) work.push(noted);
  }
  if (updated.length > 0) work.push(transaction.run(updateResources(number, toRows(collection, updated))));
  if (deleted.length > 0) work.push(transaction.run(deleteResources(number, keysOf(collection, deleted))));
  if (collection.references.length > 0) work.push(...writeRefers(collection, entries, transaction));
  const words = collection.search.length === 0 ? 0 : writeWords(collection, entries, transaction);
  const [changed] = await Promise.all([words, ...work]);
  return { count: created.length - deleted.length, words: changed };
}

function requireAll(count: number, expected: number): void {
  if (count < expected) throw new Overtaken(false);
}

function toRows(collection: NumberedCollection, entries: readonly StagedResource[]): ResourceRow[] {
  const rows = entries.flatMap(({ id, now }) =>
    now === undefined
      ? []
      : [{ key: keyOf(collection.idKind, id), version: now.version, at: now.updatedAt, text: now.text }],
  );
  return rows.sort((a, b) => (a.key < b.key ? -1 : 1));
}

function keysOf({ idKind }: NumberedCollection, entries: readonly StagedResource[]): string[] {
  return entries.map(({ id }) => keyOf(idKind, id)).sort();
}

function noteIds(
  { number, idKind }: NumberedCollection,
  created: readonly StagedResource[],
  { ids, transaction }: FlushParts,
): Promise<unknown> | undefined {
  const integers = created.flatMap(({ id }) => integerOf(idKind, id) ?? []);
  const greatest = Math.max(0, ...integers);
  if (greatest <= ids.seen(number)) return undefined;
  return transaction.run(noteId(number, greatest));
}

function writeRefers(
  collection: NumberedCollection,
  entries: readonly StagedResource[],
  transaction: Transaction,
): Promise<unknown>[] {
  const { number, idKind, references } = collection;
  const changed = entries.filter(({ before }) => before !== undefined);
  const rows = entries.flatMap(({ id, now }) =>
    now === undefined ? [] : refersRows(keyOf(idKind, id), now.text, references),
  );
  const work: Promise<unknown>[] = [];
  if (changed.length > 0) work.push(transaction.run(deleteRefers(number, keysOf(collection, changed))));
  if (rows.length > 0) work.push(transaction.run(insertRefers(number, rows)));
  return work;
}

/** What a resource refers to, as the database notes it. */
export function refersRows(key: string, text: string, references: readonly Reference[]): RefersRow[] {
  return referencedIds(JSON.parse(text), references)
    .filter(({ id }) => canBeId(id))
    .map(({ reference, id }) => ({ attribute: formatPath(reference.path), target: id, key }));
}
