/** The background work of an open store: it builds search indexes, removes old data, and walks through the rows. */
import { wordsVersion } from "../../../query/words.ts";
import type { Damage } from "../../core/checksums.ts";
import { decideAsync } from "../../core/decision.ts";
import { Retention } from "../../core/log-plans.ts";
import type { Scheduler } from "../../core/scheduler.ts";
import {
  buildPauseMs,
  continueIndex,
  type SearchIndex,
  wordsAreSplitAgain,
} from "../../core/search-index.ts";
import { walk, walkTimes } from "../../core/walk.ts";
import type { ResolvedStoreOptions } from "../../port/options.ts";
import { replaceWords } from "../commit/words.ts";
import type { Connections, Statement } from "../connection/connections.ts";
import { smallWrite, type Transaction, transact } from "../connection/transaction.ts";
import { walkedDatabase } from "../copy/walked-database.ts";
import { runPlan, storePlans } from "../postgres-dialect.ts";
import type { Catalogue, NumberedCollection } from "../tables/catalogue.ts";
import { isUnfinished } from "../tables/prepare.ts";
import { lockHeads, selectAfter } from "../tables/statements.ts";
import { resourcesTable, wordsTable } from "../tables/tables.ts";

/** The parts of a store that the work uses. */
export interface BackgroundParts extends Pick<ResolvedStoreOptions, "history" | "sweepMs" | "onWarning"> {
  connections: Connections;
  /** The catalogue as it was last read. */
  catalogue: () => Catalogue;
  /** For work without a time limit. */
  long: Connections;
  damage: Damage;
  /** Whether this thread opened the store first. It walks through the rows. */
  isFirst: boolean;
}

/** The pause before the first piece of work, so that a new service answers requests first. In milliseconds. */
const initialDelayMs = 200;

/** The pause between two looks for search indexes that another service has not completed. In milliseconds. */
const buildEveryMs = 5_000;

/** Starts the work. Returns a function that looks for search indexes to build at once. */
export function startWork(scheduler: Scheduler, parts: BackgroundParts): () => void {
  const { connections, catalogue, history, sweepMs, onWarning, isFirst } = parts;
  let hasWarned = false;
  const warn = () => {
    if (!hasWarned) onWarning(wordsAreSplitAgain);
    hasWarned = true;
  };
  const retention = new Retention(storePlans.logs, history, slice);
  const sweep = () => sweepSome(connections, retention, Date.now());
  scheduler.repeat(sweep, { pauseMs: 5, everyMs: sweepMs, initialDelayMs });
  if (isFirst) scheduler.repeat(walkSteps(parts), walkTimes);
  const build = () => buildSearchIndexes(connections, catalogue(), warn);
  return scheduler.repeat(build, { pauseMs: buildPauseMs, everyMs: buildEveryMs, initialDelayMs });
}

/** Returns a function that reads the next slice of a walk, and returns whether there is more. */
function walkSteps({ long, connections, damage, onWarning }: BackgroundParts): () => Promise<boolean> {
  const report = (text: string) => {
    damage.set(true);
    onWarning(text);
  };
  let walking: AsyncGenerator<void, boolean> | undefined;
  return async () => {
    if (await isUnfinished(connections)) return false; // the copy is compared with its source
    walking ??= walk(walkedDatabase(long), report);
    const step = await walking.next().catch((error: unknown) => {
      walking = undefined; // the next walk starts at the beginning
      throw error;
    });
    if (step.done !== true) return true;
    walking = undefined;
    damage.set(step.value);
    return false;
  };
}

/** The limits of one step. */
const slice = { changes: 500, bytes: 1024 * 1024 };

/** Removes some old changes and expired receipts. Returns whether there may be more. */
async function sweepSome(connections: Connections, retention: Retention, now: number): Promise<boolean> {
  if (await isUnfinished(connections)) return false; // the copy must be compared before anything is removed
  const hadReceipts = await transact(connections, smallWrite, async (transaction) => {
    const hasRemoved = await transaction.runPlan(storePlans.receipts.trim(now));
    if (!hasRemoved) await transaction.rollBack(); // nothing to flush
    return hasRemoved;
  });
  const hadChanges = await runPlan(retention.step(now), (statement) => connections.run(statement));
  return hadChanges || hadReceipts;
}

/** Takes one step, if an index is not complete. Returns whether there may be more. Calls `onOutdated` for words of another version. */
export async function buildSearchIndexes(
  connections: Connections,
  catalogue: Catalogue,
  onOutdated: () => void = () => {},
): Promise<boolean> {
  const { rows } = await connections.run(selectIncompleteIndexes(wordsVersion));
  for (const [number, to, version] of rows) {
    const collection = catalogue.byNumber.get(Number(number));
    if (collection === undefined || collection.search.length === 0) continue;
    if (version !== wordsVersion) onOutdated();
    await transact(connections, smallWrite, async (transaction) => {
      if (catalogue.relatedTo(collection).length > 0) await transaction.run(lockHeads([collection.number])); // as its writers begin
      const index = searchIndexOf(transaction, collection);
      await decideAsync(continueIndex(String(version), to ?? null), index);
    });
    return true;
  }
  return false;
}

/** The search index of a collection in a transaction. Locks resources before the head, as every writer does. */
export function searchIndexOf(
  transaction: Transaction,
  { number, search }: NumberedCollection,
): SearchIndex<string> {
  return {
    async clear() {
      await transaction.run(lockHeads([number]));
      await transaction.run(deleteAllWords(number));
      await transaction.run(restartIndex(number, wordsVersion));
      return "";
    },
    async sizesAfter(key, limit) {
      const { rows } = await transaction.run(selectSizesAfter(number, key, limit));
      return rows.map(([size]) => Number(size));
    },
    async resourcesAfter(after, limit) {
      const { rows } = await transaction.run(lockAfter(number, after, limit));
      return rows.map(([key, , , text]) => ({ key: String(key), text: String(text) }));
    },
    async add(put, { from, to }) {
      const gone = put.map(({ key }) => key);
      const words = await transaction.runPlan(replaceWords({ number, search, gone, put }));
      const { rows } = await transaction.run(noteIndexed(number, { from, to, words }));
      if (rows.length === 0) throw new Error("Another instance has indexed these words.");
    },
  };
}

/** Reads the resources after a key, as `selectAfter` does, and locks them. */
export function lockAfter(number: number, after: string, limit: number): Statement {
  const { sql, values = [] } = selectAfter(number, after, limit);
  return { sql: `${sql} for update`, values };
}

/** The sizes of resources after a key, in bytes. */
export function selectSizesAfter(number: number, after: string, limit: number): Statement {
  return {
    sql: `select size from ${resourcesTable(number)} where key > $1::text order by key limit $2::bigint`,
    values: [after, limit],
  };
}

/**
 * The collections whose search words are incomplete or of another version, each with the key up to which words are
 * indexed.
 */
export function selectIncompleteIndexes(version: string): Statement {
  return {
    sql: `select number, gathered_to, words_version from holdfast_heads
      where gathered_to is not null or words_version <> $1::text order by number`,
    values: [version],
  };
}

/** Starts to index the search words of a collection from the beginning. */
export function restartIndex(number: number, version: string): Statement {
  return {
    sql: "update holdfast_heads set words = 0, gathered_to = '', words_version = $2::text where number = $1::integer",
    values: [number, version],
  };
}

/** Records that a collection has no search words. */
export function clearIndex(number: number): Statement {
  return {
    sql: "update holdfast_heads set words = 0, gathered_to = null, words_version = null where number = $1::integer",
    values: [number],
  };
}

/**
 * Records that words were indexed from one key to another, or to the end (null). Returns no row if another
 * instance has recorded it first.
 */
export function noteIndexed(
  number: number,
  indexed: { from: string; to: string | null; words: number },
): Statement {
  return {
    sql: `update holdfast_heads set words = words + $4::bigint, gathered_to = $3::text
      where number = $1::integer and gathered_to = $2::text returning number`,
    values: [number, indexed.from, indexed.to, indexed.words],
  };
}

/** Deletes all search words of a collection. */
export function deleteAllWords(number: number): Statement {
  return { sql: `delete from ${wordsTable(number)}` };
}
