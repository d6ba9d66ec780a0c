/** Reads pages of lists. Each page needs one statement, which has a deadline. */
import { Problem } from "../../../errors.ts";
import { isQuick } from "../../access-path.ts";
import { listTooExpensive } from "../../advice.ts";
import { type Batch, createBatch } from "../../batch.ts";
import type { PastQuery } from "../../changed-resources.ts";
import { decideAsync } from "../../decision.ts";
import { type Figures, type FiguresOf, figuresTooExpensive } from "../../figures.ts";
import type { Page, PageQuery } from "../../page.ts";
import { pageAt } from "../../past-page.ts";
import { listLike, type ReferringGroups, toGroups } from "../../referring.ts";
import { pastQuery } from "../../related.ts";
import type { Connections, Row, Statement } from "../connection/connections.ts";
import { isUndefinedTable } from "../connection/failures.ts";
import { pastPageLookups } from "../read/past-page.ts";
import { toStored } from "../read/reads.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { selectFigures, toFigures } from "./figures.ts";
import { isNarrowed, selectPage } from "./page.ts";
import { type GroupsQuery, isQuickReferring, rowsOf, selectReferring } from "./referring.ts";
import { isTooLong, SlowReads } from "./slow-reads.ts";

/** A page, or the fact that the declaration of the collection has changed since the catalogue was read. */
export type ListAttempt = { page: Page } | "redeclared";

/** As `ListAttempt`, for figures. */
export type FiguresAttempt = { figures: Figures } | "redeclared";

/** What lists depend on. */
export interface ListsOptions {
  /** Connections for lists that cost no more than their page. */
  quick: Connections;
  /** Connections for all other lists. */
  slow: Connections;
  /** How long a list can take, in milliseconds. */
  maxMs: number;
}

/** A statement in the queue of quick lists. */
interface QueuedList {
  /** Equal for equal statements. */
  key: string;
  statement: Statement;
}

/** How many quick lists run at the same time. */
const maxQuick = 4;

/** Reads lists. */
export class Lists {
  readonly #maxMs: number;
  readonly #slow: SlowReads;
  readonly #quick: Batch<QueuedList, readonly Row[]>;
  /** The quick lists that have not been sent, by key. */
  readonly #waiting = new Map<string, Promise<readonly Row[]>>();

  constructor({ quick, slow, maxMs }: ListsOptions) {
    this.#maxMs = maxMs;
    this.#slow = new SlowReads(slow, maxMs);
    this.#quick = createBatch({
      perform: async ([first]) => {
        const { key, statement } = first as QueuedList;
        this.#waiting.delete(key);
        return [{ answer: (await quick.run({ ...statement, isRepeated: true })).rows }];
      },
      maxBatchSize: 1,
      maxConcurrent: maxQuick,
    });
  }

  /**
   * Reads a page. Throws QUERY_TOO_EXPENSIVE, UNAVAILABLE while the search words are incomplete, and the reason of the
   * signal.
   */
  async page(
    collection: NumberedCollection,
    query: PageQuery,
    signal: (() => AbortSignal) | undefined,
  ): Promise<ListAttempt> {
    if (query.words !== undefined && collection.search.length === 0) return "redeclared";
    const { at } = query;
    try {
      if (at !== undefined) return { page: await this.#pageAt(collection, pastQuery(query, at), signal) };
    } catch (error) {
      if (error instanceof Redeclared) return "redeclared";
      throw this.#problemOf(error, collection, query);
    }
    const statement = selectPage(collection, query);
    const isCounted = query.count === true && isNarrowed(query);
    if (isQuick(query, collection.indexes) && !isCounted)
      return toPage(collection, query, await this.#runQuick(statement));
    try {
      return toPage(collection, query, await this.#slow.rows(statement, signal?.()));
    } catch (error) {
      if (isUndefinedTable(error)) return "redeclared";
      throw this.#problemOf(error, collection, query);
    }
  }

  /** Reads the resources that refer to others. Throws QUERY_TOO_EXPENSIVE, and the reason of the signal. */
  async referring(
    collection: NumberedCollection,
    query: GroupsQuery,
    signal: (() => AbortSignal) | undefined,
  ): Promise<ReferringGroups> {
    const statement = selectReferring(collection, query);
    const toResult = (rows: readonly Row[]) =>
      toGroups(rowsOf(collection, rows), query.ids.length, query.limit);
    if (isQuickReferring(collection, query)) return toResult(await this.#runQuick(statement));
    try {
      return toResult(await this.#slow.rows(statement, signal?.()));
    } catch (error) {
      throw this.#problemOf(error, collection, listLike(query));
    }
  }

  /** Figures. Throws as `page` does. */
  async figures(
    collection: NumberedCollection,
    query: FiguresOf,
    signal: (() => AbortSignal) | undefined,
  ): Promise<FiguresAttempt> {
    if (query.words !== undefined && collection.search.length === 0) return "redeclared";
    const statement = selectFigures(collection, query);
    try {
      const result = toFigures(await this.#slow.rows(statement, signal?.()), statement, query);
      if (result === "words incomplete") throw wordsIncomplete();
      return result;
    } catch (error) {
      if (isUndefinedTable(error)) return "redeclared";
      if (!isTooLong(error)) throw error;
      throw figuresTooExpensive(query, collection.indexes, this.#maxMs);
    }
  }

  /** Reads a page as of a time, in one snapshot. */
  #pageAt(
    collection: NumberedCollection,
    query: PastQuery,
    signal: (() => AbortSignal) | undefined,
  ): Promise<Page> {
    return this.#slow.inSnapshot((run) => {
      const current = async (each: PageQuery) => {
        const { rows } = await run(selectPage(collection, each));
        const found = toPage(collection, each, rows);
        if (found === "redeclared") throw new Redeclared();
        return found.page;
      };
      const lookups = { ...pastPageLookups(collection, run), current };
      return decideAsync(pageAt(query, collection.idKind), lookups);
    }, signal?.());
  }

  #problemOf(error: unknown, collection: NumberedCollection, query: PageQuery): unknown {
    return isTooLong(error) ? listTooExpensive(query, collection.indexes, this.#maxMs) : error;
  }

  /**
   * Equal lists that wait at the same time share one statement. It is sent after all of them were requested, so each
   * gets a current page.
   */
  #runQuick(statement: Statement): Promise<readonly Row[]> {
    const key = JSON.stringify([statement.sql, statement.values]);
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting;
    const running = this.#quick.run({ key, statement });
    this.#waiting.set(key, running);
    running.catch(() => {
      if (this.#waiting.get(key) === running) this.#waiting.delete(key); // it was never sent
    });
    return running;
  }
}

/** The declaration of the collection has changed since the catalogue was read. */
class Redeclared extends Error {}

/**
 * The page from its rows. The first row always has the head of the collection, and the first resource if the page has
 * any.
 */
function toPage(collection: NumberedCollection, query: PageQuery, rows: readonly Row[]): ListAttempt {
  const [first] = rows;
  if (first === undefined) return "redeclared";
  const [sequence, count, declared, areWordsComplete, counted, found] = first;
  if (Number(declared) !== collection.declared) return "redeclared";
  if (query.words !== undefined && areWordsComplete !== "t") throw wordsIncomplete();
  const items = rows.filter((row) => row[6] !== null).map((row) => toStored(collection, row.slice(6)));
  const more = Number(found ?? 0) > items.length || items.length > query.limit;
  if (items.length > query.limit) items.pop();
  const total = isNarrowed(query) ? (counted === null ? undefined : Number(counted)) : Number(count);
  return { page: { items, more, total, sequence: Number(sequence) } };
}

function wordsIncomplete(): Problem {
  return new Problem("UNAVAILABLE", "The search index of the collection is not complete yet. Try again.");
}
