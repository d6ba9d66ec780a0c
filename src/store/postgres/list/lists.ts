/** Reads pages of lists. Each page needs one statement, which has a deadline. */
import { Problem } from "../../../errors.ts";
import { adviceFor } from "../../advice.ts";
import { type Batch, createBatch } from "../../batch.ts";
import type { PastQuery } from "../../changed-resources.ts";
import { decideAsync } from "../../decision.ts";
import type { Page } from "../../page.ts";
import { pageAt } from "../../past-page.ts";
import { isQuick } from "../../serving.ts";
import type { Connection, Connections, Row, Statement } from "../connection/connections.ts";
import { failureOf, isUndefinedTable, PoolExhausted } from "../connection/failures.ts";
import { pastPageRows } from "../read/past-page.ts";
import { type Run, toStored } from "../read/reads.ts";
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
    const { at } = query;
    try {
      if (at !== undefined) return { page: await this.#pageAt(collection, { ...query, at }, signal) };
    } catch (error) {
      if (error instanceof DeclaredAnew) return "declaredAnew";
      throw this.#problemOf(error, collection, query);
    }
    const statement = selectPage(collection, query);
    const isCounted = query.count === true && isNarrowed(query);
    if (isQuick(query, collection.indexes) && !isCounted)
      return toPage(collection, query, await this.#runQuick(statement));
    try {
      const read = (connection: Connection, leftMs: number) => runOnly(connection, statement, leftMs);
      return toPage(collection, query, await this.#withinDeadline(read, signal?.()));
    } catch (error) {
      if (isUndefinedTable(error)) return "declaredAnew";
      throw this.#problemOf(error, collection, query);
    }
  }

  /** Reads a page as of a time, in one snapshot. */
  #pageAt(
    collection: NumberedCollection,
    query: PastQuery,
    signal: (() => AbortSignal) | undefined,
  ): Promise<Page> {
    const read = (connection: Connection, leftMs: number) =>
      inSnapshotUntil(connection, leftMs, (run) => {
        const current = async (each: PageQuery) => {
          const { rows } = await run(selectPage(collection, each));
          const found = toPage(collection, each, rows);
          if (found === "declaredAnew") throw new DeclaredAnew();
          return found.page;
        };
        return decideAsync(pageAt(query, collection.idKind), { ...pastPageRows(collection, run), current });
      });
    return this.#withinDeadline(read, signal?.());
  }

  #problemOf(error: unknown, collection: NumberedCollection, query: PageQuery): unknown {
    if (failureOf(error) !== "tooLong" && !hasPassedDeadline(error)) return error;
    return tooExpensive(collection, query, this.#options.maxMs);
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

  async #withinDeadline<T>(read: TimedRead<T>, signal: AbortSignal | undefined): Promise<T> {
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
        untilDeadline(connection, read(connection, maxMs - (Date.now() - startedAt)), deadline.promise),
      );
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      this.#slow--;
    }
  }
}

/** Reads on a connection, for at most `leftMs` milliseconds. */
type TimedRead<T> = (connection: Connection, leftMs: number) => Promise<T>;

/** The result of `work`. If the deadline passes first, cancels the running statement and closes the connection. */
async function untilDeadline<T>(
  connection: Connection,
  work: Promise<T>,
  deadline: Promise<never>,
): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  try {
    return await Promise.race([work, deadline]);
  } finally {
    if (!isOver) connection.cancel();
  }
}

/** Runs one statement in a transaction that is sent at once. */
async function runOnly(
  connection: Connection,
  statement: Statement,
  leftMs: number,
): Promise<readonly Row[]> {
  const [, { rows }] = await Promise.all([
    connection.runAll(`begin isolation level read committed read only; ${timeoutSql(leftMs)}`),
    connection.run(statement),
    connection.runAll("rollback"),
  ]);
  return rows;
}

/** Runs several statements that see the same state. */
async function inSnapshotUntil<T>(
  connection: Connection,
  leftMs: number,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const end = Date.now() + leftMs;
  await connection.runAll(`begin isolation level repeatable read read only; ${timeoutSql(leftMs)}`);
  try {
    return await work((statement) => {
      if (Date.now() > end) throw new DeadlinePassed();
      return connection.run(statement);
    });
  } finally {
    await connection.runAll("rollback").catch(() => {}); // a lost connection also rolls back
  }
}

function timeoutSql(ms: number): string {
  return `set local statement_timeout = ${Math.max(1, Math.ceil(ms))}`;
}

/** The declaration of the collection has changed since the catalogue was read. */
class DeclaredAnew extends Error {}

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
