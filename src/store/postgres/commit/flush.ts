/** Writes staged changes, with few statements for all rows of a kind. */
import type { Reference } from "../../../collection/references.ts";
import { checksumOfChange, checksumOfKept } from "../../core/checksums.ts";
import type { StagedChange, StagedChanges, StagedResource } from "../../core/commits/staged-changes.ts";
import { referencesOf } from "../../core/entries.ts";
import { integerOf } from "../../core/integer-ids.ts";
import type { ReceiptPlans, ReceiptTotals } from "../../core/receipt-plans.ts";
import { keptTexts } from "../../core/superseded.ts";
import { isInternal } from "../../port/record.ts";
import type { Statement, StatementResult } from "../connection/connections.ts";
import type { Transaction } from "../connection/transaction.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { keyOf } from "../tables/id-keys.ts";
import { keysOf as indexKeysOf } from "../tables/indexes.ts";
import type { IdNumbers } from "./numbers.ts";
import {
  type ChangeRow,
  deleteReferences,
  deleteResources,
  insertChanges,
  insertReferences,
  insertResources,
  noteDeleted,
  type ReferenceRow,
  type ResourceRow,
  raiseHead,
  raiseLastId,
  updateResources,
} from "./statements.ts";
import { runTogether } from "./values.ts";
import { writeWords } from "./words.ts";

type Staged = StagedChanges<NumberedCollection>;

/** The changes of one collection. */
interface CollectionChanges {
  collection: NumberedCollection;
  resources: readonly StagedResource[];
  changes: readonly StagedChange[];
}

/** Another instance has changed something that the decisions depend on, so all commits must be decided again. */
export class Overtaken extends Error {
  /** Whether the declaration of a collection has changed. */
  readonly isRedeclared: boolean;

  constructor(isRedeclared: boolean) {
    super("Another instance was faster.");
    this.isRedeclared = isRedeclared;
  }
}

/** What a flush depends on. */
export interface FlushParts {
  transaction: Transaction;
  ids: IdNumbers;
  /** Whether the change log is written. */
  isLogged: boolean;
  receipts: ReceiptPlans;
}

/** The sequence of each change, and the statements to send with the commit. */
export interface Flushed {
  sequences: ReadonlyMap<StagedChange, number>;
  last: readonly Statement[];
}

/** Writes everything except the change log. `replaced` are the keys of expired receipts. Throws Overtaken. */
export async function flush(
  staged: Staged,
  parts: FlushParts,
  replaced: readonly string[] = [],
): Promise<Flushed> {
  const { transaction, receipts } = parts;
  const byNumber = Map.groupBy(staged.since(0), ({ collection }) => collection.number);
  const changed = staged.collections.flatMap((each) => {
    const changes = byNumber.get(each.collection.number);
    return changes === undefined ? [] : [{ collection: each.collection, resources: each.resources, changes }];
  });
  const headDeltas = await Promise.all(changed.map((each) => writeCollection(each, parts)));
  // All statements are sent at once and run in this order: receipts, then heads by their numbers.
  const stored = staged.receipts.size === 0 ? undefined : storeReceipts(staged, parts, replaced);
  const heads = changed.map(({ collection: { number }, changes }, n) =>
    transaction.run(raiseHead(number, { sequence: changes.length, ...(headDeltas[n] as HeadDelta) })),
  );
  const [totals, ...raised] = await Promise.all([stored, ...heads]);
  if (stored !== undefined && totals === undefined) throw new Overtaken(false);
  const sequences = new Map<StagedChange, number>();
  for (const [n, each] of changed.entries()) {
    const base = sequenceBefore(each, raised[n] as StatementResult);
    for (const [position, change] of each.changes.entries()) sequences.set(change, base + position + 1);
  }
  if (totals !== undefined && (await transaction.runPlan(receipts.raise(totals)))) throw new Overtaken(false);
  const logged = parts.isLogged ? changed.filter(({ collection }) => !isInternal(collection.name)) : [];
  const last: Statement[] = [];
  for (const each of logged) {
    const { number } = each.collection;
    const portions = await logRows(each, sequences);
    // One after the other: a statement is made in one piece, and a large one would delay other requests.
    for (const rows of portions.slice(0, -1)) await runTogether(transaction, insertChanges(number, rows));
    last.push(...insertChanges(number, portions.at(-1) ?? []));
  }
  return { sequences, last };
}

function storeReceipts(
  staged: Staged,
  { transaction, receipts }: FlushParts,
  replaced: readonly string[],
): Promise<ReceiptTotals | undefined> {
  const all = [...staged.receipts.values()];
  const now = Math.max(...all.map(({ at }) => at));
  return transaction.runPlan(receipts.add(all, { replaced, now }));
}

/** How a write changes the counters in the head. */
interface HeadDelta {
  count: number;
  words: number;
  checksums: number;
}

function sequenceBefore({ collection, changes }: CollectionChanges, { rows }: StatementResult): number {
  const [sequence, declared] = rows[0] ?? [];
  if (Number(declared) !== collection.declared) throw new Overtaken(true);
  return Number(sequence) - changes.length;
}

/** The text that one statement adds to a change log, in characters. One row can have more. */
const maxLoggedText = 4 * 1024 * 1024;

/** The rows of the change log, in portions with about `maxLoggedText` each. */
async function logRows(
  { collection, changes }: CollectionChanges,
  sequences: ReadonlyMap<StagedChange, number>,
): Promise<ChangeRow[][]> {
  const kept = await keptTexts(changes);
  const portions: ChangeRow[][] = [];
  let text = Number.POSITIVE_INFINITY;
  for (const [index, change] of changes.entries()) {
    const superseded = kept[index] as string | null;
    const row = {
      ...change,
      ...change.origin,
      sequence: sequences.get(change) as number,
      superseded,
      kept_checksum: superseded === null ? null : checksumOfKept(superseded),
    };
    const length = superseded?.length ?? 0;
    if (text + length > maxLoggedText) {
      portions.push([]);
      text = 0;
    }
    portions.at(-1)?.push({ ...row, checksum: checksumOfChange(collection.name, row) });
    text += length;
  }
  return portions;
}

/** Writes the resources of one collection and the rows that are derived from them. */
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
    const inserted = runTogether(transaction, insertResources(number, toRows(collection, created)));
    work.push(inserted.then((rows) => requireInserted(rows.length, created.length)));
  }
  if (updated.length > 0) work.push(transaction.run(updateResources(number, toRows(collection, updated))));
  if (deleted.length > 0) work.push(transaction.run(deleteResources(number, keysOf(collection, deleted))));
  // The changes also have a resource that commits of this group have both created and deleted.
  const raised = raiseLastIdFor(collection, staged.changes, parts);
  if (raised !== undefined) work.push(raised);
  const versions = deletedVersions(staged.changes);
  if (versions.length > 0) work.push(runTogether(transaction, noteDeleted(number, versions)));
  if (collection.references.length > 0) work.push(...writeReferences(collection, entries, transaction));
  const words = collection.search.length === 0 ? 0 : writeWords(collection, entries, transaction);
  const [changed] = await Promise.all([words, ...work]);
  const checksums = entries.reduce(
    (sum, { before, now }) => sum + (now?.checksum ?? 0) - (before?.checksum ?? 0),
    0,
  );
  return { count: created.length - deleted.length, words: changed, checksums };
}

/** The version of the last delete of each id. */
function deletedVersions(changes: readonly StagedChange[]): [string, number][] {
  const deletes = changes.filter(({ kind }) => kind === "deleted");
  return [...new Map(deletes.map(({ id, version }) => [id, version]))];
}

function requireInserted(count: number, expected: number): void {
  if (count < expected) throw new Overtaken(false);
}

function toRows(collection: NumberedCollection, entries: readonly StagedResource[]): ResourceRow[] {
  const rows = entries.flatMap(({ id, now }) =>
    now === undefined
      ? []
      : [
          {
            key: keyOf(collection.idKind, id),
            version: now.version,
            at: now.updatedAt,
            checksum: now.checksum,
            text: now.text,
            keys: indexKeysOf(collection, now.text),
          },
        ],
  );
  return rows.sort((a, b) => (a.key < b.key ? -1 : 1));
}

function keysOf({ idKind }: NumberedCollection, entries: readonly StagedResource[]): string[] {
  return entries.map(({ id }) => keyOf(idKind, id)).sort();
}

function raiseLastIdFor(
  { number, idKind }: NumberedCollection,
  changes: readonly StagedChange[],
  { ids, transaction }: FlushParts,
): Promise<unknown> | undefined {
  const integers = changes.flatMap(({ id, kind }) =>
    kind === "created" ? (integerOf(idKind, id) ?? []) : [],
  );
  const greatest = integers.reduce((most, id) => Math.max(most, id), 0); // too many for the arguments of one call
  if (greatest <= ids.seen(number)) return undefined;
  return transaction.run(raiseLastId(number, greatest));
}

function writeReferences(
  collection: NumberedCollection,
  entries: readonly StagedResource[],
  transaction: Transaction,
): Promise<unknown>[] {
  const { number, idKind, references } = collection;
  const changed = entries.filter(({ before }) => before !== undefined);
  const rows = entries.flatMap(({ id, now }) =>
    now === undefined ? [] : referenceRows(keyOf(idKind, id), now.text, references),
  );
  const work: Promise<unknown>[] = [];
  if (changed.length > 0) work.push(transaction.run(deleteReferences(number, keysOf(collection, changed))));
  if (rows.length > 0) work.push(runTogether(transaction, insertReferences(number, rows)));
  return work;
}

/** The rows for the references of a resource. */
export function referenceRows(key: string, text: string, references: readonly Reference[]): ReferenceRow[] {
  return referencesOf(JSON.parse(text), references).map(([attribute, target]) => ({
    attribute,
    target,
    key,
  }));
}
