/** Writes what a ledger holds, all of a kind in one statement. */
import { formatPath } from "../../collection/paths.ts";
import { targetsOf } from "../../collection/refers.ts";
import { integerOf } from "../integer-ids.ts";
import { receiptBounds } from "../receipts.ts";
import type { NumberedCollection } from "./catalogue.ts";
import type { Outcome, Statement } from "./connections.ts";
import type { IdNumbers } from "./id-numbers.ts";
import { keyOf } from "./keys.ts";
import type { Account, Entry, Ledger, PendingReceipt } from "./ledger.ts";
import * as statements from "./statements.ts";
import type { Transaction } from "./transaction.ts";
import { writeWords } from "./words.ts";

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
}

/** What was flushed: the sequence that each collection had before, and what is left to be sent with the commit. */
export interface Flushed {
  bases: ReadonlyMap<number, number>;
  last: readonly Statement[];
}

/** Writes all but the change log. Throws Overtaken. */
export async function flush(ledger: Ledger, parts: FlushParts): Promise<Flushed> {
  const accounts = ledger.accounts.filter(({ changes }) => changes.length > 0);
  const deltas = await Promise.all(accounts.map((account) => writeAccount(account, parts)));
  // Sent in one go, and carried out in this order: the receipts, then the heads by their numbers.
  const receipts = [...ledger.receipts.values()];
  const kept =
    receipts.length === 0
      ? undefined
      : parts.transaction.run(statements.keepReceipts(receipts.map(toReceiptRow)));
  const heads = accounts.map(({ collection: { number }, changes }, n) =>
    parts.transaction.run(
      statements.raiseHead(number, { sequence: changes.length, ...(deltas[n] as Delta) }),
    ),
  );
  const [keptReceipts, ...raised] = await Promise.all([kept, ...heads]);
  if (keptReceipts !== undefined && keptReceipts.count < receipts.length) throw new Overtaken(false);
  const bases = new Map<number, number>();
  for (const [n, account] of accounts.entries())
    bases.set(account.collection.number, baseOf(account, raised[n] as Outcome));
  return { bases, last: parts.isLogged ? accounts.map((account) => logStatement(account, bases)) : [] };
}

/** An answer that is too long is not kept. */
function toReceiptRow({ brief = "", answer, ...others }: PendingReceipt): statements.ReceiptRow {
  const isKept = Buffer.byteLength(answer) <= receiptBounds.answer;
  return { ...others, brief, answer: isKept ? answer : "" };
}

/** By how much a write changes its head. */
interface Delta {
  count: number;
  words: number;
}

function baseOf({ collection, changes }: Account, { rows }: Outcome): number {
  const [sequence, declared] = rows[0] ?? [];
  if (Number(declared) !== collection.declared) throw new Overtaken(true);
  return Number(sequence) - changes.length;
}

function logStatement({ collection, changes }: Account, bases: ReadonlyMap<number, number>): Statement {
  const base = bases.get(collection.number) ?? 0;
  const rows = changes.map((change) => ({ ...change, sequence: base + change.sequence }));
  return statements.insertChanges(collection.number, rows);
}

/** Writes the resources of one collection, and what is derived from them. */
async function writeAccount(account: Account, parts: FlushParts): Promise<Delta> {
  const { collection } = account;
  const { number } = collection;
  const { transaction } = parts;
  const entries = [...account.entries.values()].filter(({ before, now }) => before !== now);
  const created = entries.filter(({ before }) => before === undefined);
  const deleted = entries.filter(({ now }) => now === undefined);
  const updated = entries.filter(({ before, now }) => before !== undefined && now !== undefined);
  const work: Promise<unknown>[] = [];
  if (created.length > 0) {
    const inserted = transaction.run(statements.insertResources(number, toRows(collection, created)));
    work.push(inserted.then(({ count }) => requireAll(count, created.length)));
    const noted = noteIds(account.collection, created, parts);
    if (noted !== undefined) work.push(noted);
  }
  if (updated.length > 0)
    work.push(transaction.run(statements.updateResources(number, toRows(collection, updated))));
  if (deleted.length > 0)
    work.push(transaction.run(statements.deleteResources(number, keysOf(collection, deleted))));
  if (collection.references.length > 0) work.push(...writeRefers(collection, entries, transaction));
  const words = collection.search.length === 0 ? 0 : writeWords(collection, entries, transaction);
  const [changed] = await Promise.all([words, ...work]);
  return { count: created.length - deleted.length, words: changed };
}

function requireAll(count: number, expected: number): void {
  if (count < expected) throw new Overtaken(false);
}

function toRows(collection: NumberedCollection, entries: readonly Entry[]): statements.ResourceRow[] {
  const rows = entries.flatMap(({ id, now }) =>
    now === undefined
      ? []
      : [{ key: keyOf(collection.idKind, id), version: now.version, at: now.at, text: now.text }],
  );
  return rows.sort((a, b) => (a.key < b.key ? -1 : 1));
}

function keysOf({ idKind }: NumberedCollection, entries: readonly Entry[]): string[] {
  return entries.map(({ id }) => keyOf(idKind, id)).sort();
}

function noteIds(
  { number, idKind }: NumberedCollection,
  created: readonly Entry[],
  { ids, transaction }: FlushParts,
): Promise<unknown> | undefined {
  const integers = created.flatMap(({ id }) => integerOf(idKind, id) ?? []);
  const greatest = Math.max(0, ...integers);
  if (greatest <= ids.seen(number)) return undefined;
  return transaction.run(statements.noteId(number, greatest));
}

function writeRefers(
  collection: NumberedCollection,
  entries: readonly Entry[],
  transaction: Transaction,
): Promise<unknown>[] {
  const { number, idKind, references } = collection;
  const changed = entries.filter(({ before }) => before !== undefined);
  const rows = entries.flatMap(({ id, now }) => {
    if (now === undefined) return [];
    const key = keyOf(idKind, id);
    return targetsOf(JSON.parse(now.text), references)
      .filter((target) => target.id.length <= statements.maxTargetLength)
      .map((target) => ({ attribute: formatPath(target.reference.path), target: target.id, key }));
  });
  const work: Promise<unknown>[] = [];
  if (changed.length > 0)
    work.push(transaction.run(statements.deleteRefers(number, keysOf(collection, changed))));
  if (rows.length > 0) work.push(transaction.run(statements.insertRefers(number, rows)));
  return work;
}
