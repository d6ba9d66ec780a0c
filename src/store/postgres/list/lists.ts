/** Reads pages of lists. Each page needs one statement, which has a deadline. */
import { Problem } from "../../../errors.ts";
import { adviceFor } from "../../advice.ts";
import { type Batch, createBatch } from "../../batch.ts";
import type { Page } from "../../page.ts";
import { isQuick } from "../../serving.ts";
import type { Connection, Connections, Row, Statement } from "../connection/connections.ts";
import { failureOf, isUndefinedTable, PoolExhausted, sqlState } from "../connection/failures.ts";
import { toStored } from "../read/reads.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { isNarrowed, type PageQuery, selectPage } from "./page.ts";

/** A page, or the fact that the declaration of the collection has changed since the catalogue was read. */
export type ListResult = { page: Page } | "declaredAnew";

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

/** How many quick lists run at the same time, and how many slow ones can wait or run. */
const maxQuick = 4;
const maxSlow = 1_000;

/** The database ends a statement at its deadline. If it does not end it within this time, the connection is closed. */
const graceMs = 1_000;

/** Reads lists. */
export class Lists {
  readonly #options: ListsOptions;
  readonly #quick: Batch<QueuedList, readonly Row[]>;
  /** The quick lists that have not been sent, by key. */
  readonly #waiting = new Map<string, Promise<readonly Row[]>>();
  #slow = 0;

  constructor(options: ListsOptions) {
    this.#options = options;
    this.#quick = createBatch({
      perform: async ([first]) => {
        const { key, statement } = first as QueuedList;
        this.#waiting.delete(key);
        return [{ answer: (await options.quick.run(statement)).rows }];
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
  ): Promise<ListResult> {
    if (query.words !== undefined && collection.search.length === 0) return "declaredAnew";
    const statement = selectPage(collection, query);
    const isCounted = query.count === true && isNarrowed(query);
    if (isQuick(query, collection.indexes) && !isCounted)
      return toPage(collection, query, await this.#runQuick(statement));
    try {
      return toPage(collection, query, await this.#withinDeadline(statement, signal?.()));
    } catch (error) {
      if (isUndefinedTable(error)) return "declaredAnew";
      if (failureOf(error) !== "tooLong" && !hasPassedDeadline(error)) throw error;
      throw tooExpensive(collection, query, this.#options.maxMs);
    }
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

  async #withinDeadline(statement: Statement, signal: AbortSignal | undefined): Promise<readonly Row[]> {
    signal?.throwIfAborted();
    if (this.#slow >= maxSlow) throw new Problem("UNAVAILABLE", "Too many lists are waiting. Try again.");
    this.#slow++;
    const deadline = Promise.withResolvers<never>();
    const { maxMs } = this.#options;
    const startedAt = Date.now();
    const timer = setTimeout(() => deadline.reject(new DeadlinePassed()), maxMs + graceMs);
    const abort = () => deadline.reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      return await this.#options.slow.use((connection) =>
        this.#runUntil(connection, statement, {
          deadline: deadline.promise,
          leftMs: maxMs - (Date.now() - startedAt),
        }),
      );
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      this.#slow--;
    }
  }

  /** Runs a statement until the deadline. If the deadline passes first, cancels it and closes the connection. */
  async #runUntil(
    connection: Connection,
    statement: Statement,
    { deadline, leftMs }: { deadline: Promise<never>; leftMs: number },
  ): Promise<readonly Row[]> {
    const timeout = `set local statement_timeout = ${Math.max(1, Math.ceil(leftMs))}`;
    const work = Promise.all([
      connection.runAll(`begin isolation level read committed read only; ${timeout}`),
      connection.run(statement),
      connection.runAll("rollback"),
    ]);
    work.catch(() => {});
    try {
      const [, { rows }] = await Promise.race([work, deadline]);
      return rows;
    } catch (error) {
      if (sqlState(error) === undefined) connection.cancel();
      throw error;
    }
  }
}

class DeadlinePassed extends Error {}

/** Whether no connection became free, or no response came, before the deadline. */
function hasPassedDeadline(error: unknown): boolean {
  return error instanceof DeadlinePassed || error instanceof PoolExhausted;
}

/**
 * The page from its rows. The first row always has the head of the collection, and the first resource if the page has
 * any.
 */
function toPage(collection: NumberedCollection, query: PageQuery, rows: readonly Row[]): ListResult {
  const [first] = rows;
  if (first === undefined) return "declaredAnew";
  const [sequence, count, declared, areWordsComplete, counted, found] = first;
  if (Number(declared) !== collection.declared) return "declaredAnew";
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

function tooExpensive(collection: NumberedCollection, query: PageQuery, maxMs: number): Problem {
  return new Problem(
    "QUERY_TOO_EXPENSIVE",
    `The list takes longer than the limit of ${maxMs} ms. ${adviceFor(query, collection.indexes)}`,
  );
}
