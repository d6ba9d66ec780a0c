/** Writes staged changes, with few statements for all rows of a kind. */

import { checksumOfDeleted, damagedCounters } from "../../core/checksums.ts";
import type { WriteParts } from "../../core/commits/resolved-commit.ts";
import {
  type CollectionChanges,
  countChange,
  type LogCells,
  logCells,
  type StagedChange,
  type StagedChanges,
  type StagedResource,
} from "../../core/commits/staged-changes.ts";
import type { ReceiptTotals } from "../../core/receipt-plans.ts";
import { keptTexts } from "../../core/superseded.ts";
import { isInternal } from "../../port/record.ts";
import { done, type Plan, together } from "../../sql/plans.ts";
import type { Row, Statement } from "../connection/connections.ts";
import { askRows } from "../postgres-dialect.ts";
import type { NumberedCollection } from "../tables/declared-catalogue.ts";
import { keyOf } from "../tables/id-keys.ts";
import { keysOf as indexKeysOf } from "../tables/key-column.ts";
import type { IdNumbers } from "./numbers.ts";
import {
  deleteReferences,
  deleteResources,
  insertChanges,
  insertReferences,
  insertResources,
  noteDeleted,
  type ResourceRow,
  raiseHead,
  raiseLastId,
  readDeleted,
  referenceRows,
  updateResources,
} from "./statements.ts";
import { writeWords } from "./words.ts";

type Changes = CollectionChanges<NumberedCollection>;

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
export interface FlushParts extends Pick<WriteParts, "receipts" | "isLogged"> {
  ids: IdNumbers;
}

/** The writes of one store. */
export function flushing(
  parts: FlushParts,
): FlushParts & Pick<WriteParts<NumberedCollection>, "write" | "noteErasure"> {
  return {
    ...parts,
    *write(staged) {
      yield* askRows(yield* flush(parts, staged));
    },
    *noteErasure({ number }, sequence) {
      yield* askRows([raiseHead(number, { sequence, count: 0, words: 0, checksums: 0 }, ["gaps_up_to"])]);
    },
  };
}

/**
 * Writes everything that is staged, except the last rows of the change logs. Returns the statements for these, to send together with
 * the commit. All instances write in this order, so that they do not wait for each other in a circle: resources, receipts, heads by
 * the numbers of their collections, totals of receipts. Throws Overtaken.
 */
export function* flush(
  { ids, receipts, isLogged }: FlushParts,
  staged: StagedChanges<NumberedCollection>,
): Plan<readonly Statement[]> {
  const { changed } = staged;
  const words = yield* together<number[]>(...changed.map(writeCollection));
  // All statements are sent at once.
  const [totals] = yield* together<[ReceiptTotals | undefined, ...unknown[]]>(
    staged.receipts.size === 0 ? done(undefined) : receipts.add([...staged.receipts.values()]),
    ...changed.map((each, n) =>
      numberChanges(each, { words: words[n] as number, ids, isLogged: hasLog(each, isLogged) }),
    ),
  );
  if (totals === undefined && staged.receipts.size > 0) throw new Overtaken(false);
  if (totals !== undefined && (yield* receipts.raise(totals))) throw new Overtaken(false);
  const last: Statement[] = [];
  for (const each of changed) {
    if (!hasLog(each, isLogged)) continue;
    const { collection, changes } = each;
    const portions = yield* logPortions(changes);
    // One after the other: a statement is made in one piece, and a large one would delay other requests.
    for (const rows of portions.slice(0, -1)) yield* askRows(insertChanges(collection.number, rows));
    last.push(...insertChanges(collection.number, portions.at(-1) ?? []));
  }
  return last;
}

/** Writes the resources of one collection and the rows that are derived from them. Returns how much the number of words grows. */
function* writeCollection({ collection, resources, changes }: Changes): Plan<number> {
  const { number, references, search } = collection;
  const created = resources.filter(({ before }) => before === undefined);
  const existing = resources.filter(({ before }) => before !== undefined);
  const updated = existing.filter(({ now }) => now !== undefined);
  const deleted = existing.filter(({ now }) => now === undefined);
  const inserts = insertResources(number, toRows(collection, created));
  const reused = changes.filter(({ kind, after }) => kind === "created" && after !== undefined);
  const reusedIds = reused.map(({ id }) => id);
  const check = reused.length === 0 ? [] : [readDeleted(number, reusedIds)];
  const statements: Statement[] = [];
  if (updated.length > 0) statements.push(updateResources(number, toRows(collection, updated)));
  if (deleted.length > 0) statements.push(deleteResources(number, keysOf(collection, deleted)));
  // The changes also have a resource that commits of this group have both created and deleted.
  const deletes = changes.filter(({ kind }) => kind === "deleted");
  const versions = [...new Map(deletes.map(({ id, version }) => [id, version]))];
  const lastDeletes = versions.map(
    ([id, version]) => [id, version, checksumOfDeleted(collection.name, { id, version })] as const,
  );
  statements.push(...noteDeleted(number, lastDeletes));
  if (references.length > 0 && existing.length > 0)
    statements.push(deleteReferences(number, keysOf(collection, existing)));
  if (references.length > 0) {
    const rows = resources.flatMap(({ id, now }) =>
      now === undefined ? [] : referenceRows(keyOf(collection.idKind, id), now.text, references),
    );
    statements.push(...insertReferences(number, rows));
  }
  const write: Plan<unknown>[] = [askRows(inserts), askRows(check), askRows(statements)];
  if (search.length > 0) write.push(writeWords(collection, resources));
  const [rows, lasts, , words] = (yield* together<unknown[]>(...write)) as [Row[], Row[], Row[], number?];
  if (rows.length < created.length) throw new Overtaken(false);
  // Another instance can have created and deleted a resource before this insert. The inserted rows now prevent that.
  const lastVersions = new Map(lasts.map(([id, version]) => [id, Number(version)]));
  if (reused.some(({ id, after = 0 }) => (lastVersions.get(id) ?? 0) > after)) throw new Overtaken(false);
  return words ?? 0;
}

/** Whether the changes of a collection are in a change log. */
function hasLog({ collection }: Changes, isLogged: boolean): boolean {
  return isLogged && !isInternal(collection.name);
}

/** Raises the head of a collection. Its changes have their sequences afterwards. */
function* numberChanges(
  { collection, changes }: Changes,
  { words, ids, isLogged }: Pick<FlushParts, "ids" | "isLogged"> & { words: number },
): Plan<void> {
  const { number } = collection;
  const by = { sequence: 0, count: 0, checksums: 0, lastId: 0 };
  for (const change of changes) countChange(by, change);
  const statements = by.lastId > ids.seen(number) ? [raiseLastId(number, by.lastId)] : [];
  const raise = raiseHead(number, { ...by, words }, isLogged ? [] : ["gaps_up_to", "unlogged_up_to"]);
  const [[sequence, declared] = []] = yield* askRows([...statements, raise]);
  if (Number(declared) !== collection.declared) throw new Overtaken(true);
  if (!Number.isSafeInteger(Number(sequence))) throw damagedCounters(collection.name);
  const before = Number(sequence) - changes.length;
  for (const [n, change] of changes.entries()) change.sequence = before + n + 1;
}

/** The text that one statement adds to a change log, in characters. One row can have more. */
const maxLoggedText = 4 * 1024 * 1024;

/** The rows of a change log, in portions with about `maxLoggedText` each. */
function* logPortions(changes: readonly StagedChange[]): Plan<LogCells[][]> {
  const kept = yield* keptTexts(changes);
  const portions: LogCells[][] = [];
  let text = Number.POSITIVE_INFINITY;
  for (const [n, change] of changes.entries()) {
    const superseded = kept[n] as string | null;
    const length = superseded?.length ?? 0;
    if (text + length > maxLoggedText) {
      portions.push([]);
      text = 0;
    }
    portions.at(-1)?.push(logCells(change, superseded));
    text += length;
  }
  return portions;
}

function toRows(collection: NumberedCollection, resources: readonly StagedResource[]): ResourceRow[] {
  const rows = resources.flatMap(({ id, now }): ResourceRow[] => {
    if (now === undefined) return [];
    const { version, updatedAt, checksum, text } = now;
    const key = keyOf(collection.idKind, id);
    return [
      [key, version, updatedAt, Buffer.byteLength(text), checksum, text, indexKeysOf(collection, text)],
    ];
  });
  return rows.sort(([a], [b]) => (a < b ? -1 : 1));
}

function keysOf({ idKind }: NumberedCollection, resources: readonly StagedResource[]): string[] {
  return resources.map(({ id }) => keyOf(idKind, id)).sort();
}
