/** Pages of lists, each from one statement within a deadline. */
import { Problem } from "../../../errors.ts";
import { adviceFor } from "../../advice.ts";
import { type Batch, createBatch } from "../../batch.ts";
import type { Page } from "../../page.ts";
import { isQuick } from "../../serving.ts";
import type { Connection, Connections, Row, Statement } from "../connection/connections.ts";
import { Exhausted, failureOf, isWithoutTable, sqlState } from "../connection/failures.ts";
import { toStored } from "../read/reads.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { isNarrowed, type PageQuery, selectPage } from "./page.ts";

/** A page of a collection as it was declared when the page was read. */
export type Read = { page: Page } | "declaredAnew";

/** How lists are read. */
export interface ListsOptions {
  /** For lists that cost no more than the page itself. */
  quick: Connections;
  /** For all others. */
  slow: Connections;
  /** How long a list may take, in milliseconds. */
  maxMs: number;
}

/** A statement, and what tells it from others. */
interface NamedStatement {
  name: string;
  statement: Statement;
}

/** Quick lists that are under way at once; and slow ones that may be unanswered. */
const maxQuick = 4;
const maxSlow = 1_000;

/** After its deadline the database ends a statement itself; where it does not, the connection is given up. */
const graceMs = 1_000;

/** Reads lists. */
export class Lists {
  readonly #options: ListsOptions;
  readonly #quick: Batch<NamedStatement, readonly Row[]>;
  /** Quick lists that wait to be asked for, by what they are. */
  readonly #waiting = new Map<string, Promise<readonly Row[]>>();
  #slow = 0;

  constructor(options: ListsOptions) {
    this.#options = options;
    this.#quick = createBatch({
      perform: async ([asked]) => {
        const { name, statement } = asked as NamedStatement;
        this.#waiting.delete(name);
        return [{ answer: (await options.quick.run(statement)).rows }];
      },
      maxBatchSize: 1,
      maxConcurrent: maxQuick,
    });
  }

  /** A page. Throws QUERY_TOO_EXPENSIVE, UNAVAILABLE while words are gathered, and the signal's reason. */
  async page(
    collection: NumberedCollection,
    query: PageQuery,
    signal: (() => AbortSignal) | undefined,
  ): Promise<Read> {
    if (query.words !== undefined && collection.search.length === 0) return "declaredAnew";
    const statement = selectPage(collection, query);
    const isCounted = query.count === true && isNarrowed(query);
    if (isQuick(query, collection.indexes) && !isCounted)
      return toPage(collection, query, await this.#shared(statement));
    try {
      return toPage(collection, query, await this.#withinDeadline(statement, signal?.()));
    } catch (error) {
      if (isWithoutTable(error)) return "declaredAnew";
      if (failureOf(error) !== "tooLong" && !isLate(error)) throw error;
      throw tooExpensive(collection, query, this.#options.maxMs);
    }
  }

  /** Equal lists that wait together are asked for once: what all of them asked for before is read after. */
  #shared(statement: Statement): Promise<readonly Row[]> {
    const name = JSON.stringify([statement.sql, statement.values]);
    const known = this.#waiting.get(name);
    if (known !== undefined) return known;
    const asked = this.#quick.run({ name, statement });
    this.#waiting.set(name, asked);
    asked.catch(() => {
      if (this.#waiting.get(name) === asked) this.#waiting.delete(name); // it never came to be asked
    });
    return asked;
  }

  async #withinDeadline(statement: Statement, signal: AbortSignal | undefined): Promise<readonly Row[]> {
    signal?.throwIfAborted();
    if (this.#slow >= maxSlow) throw new Problem("UNAVAILABLE", "Too many lists are waiting. Try again.");
    this.#slow++;
    const late = Promise.withResolvers<never>();
    const { maxMs } = this.#options;
    const begun = Date.now();
    const timer = setTimeout(() => late.reject(new Late()), maxMs + graceMs);
    const abort = () => late.reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      return await this.#options.slow.use((connection) =>
        this.#run(connection, statement, { late: late.promise, leftMs: maxMs - (Date.now() - begun) }),
      );
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      this.#slow--;
    }
  }

  /** A statement that nobody waits for any more is cancelled, and its connection given up. */
  async #run(
    connection: Connection,
    statement: Statement,
    { late, leftMs }: { late: Promise<never>; leftMs: number },
  ): Promise<readonly Row[]> {
    const timeout = `set local statement_timeout = ${Math.max(1, Math.ceil(leftMs))}`;
    const work = Promise.all([
      connection.runAll(`begin isolation level read committed read only; ${timeout}`),
      connection.run(statement),
      connection.runAll("rollback"),
    ]);
    work.catch(() => {});
    try {
      const [, { rows }] = await Promise.race([work, late]);
      return rows;
    } catch (error) {
      if (sqlState(error) === undefined) connection.cancel();
      throw error;
    }
  }
}

class Late extends Error {}

/** No connection became free before the deadline, or no answer came. */
function isLate(error: unknown): boolean {
  return error instanceof Late || error instanceof Exhausted;
}

/** Rows of a page, of which there is at least one: the head, with the first resource if there is any. */
function toPage(collection: NumberedCollection, query: PageQuery, rows: readonly Row[]): Read {
  const [first] = rows;
  if (first === undefined) return "declaredAnew";
  const [sequence, count, declared, hasWords, counted, found] = first;
  if (Number(declared) !== collection.declared) return "declaredAnew";
  if (query.words !== undefined && hasWords !== "t") throw notGathered();
  const items = rows.filter((row) => row[6] !== null).map((row) => toStored(collection, row.slice(6)));
  const more = Number(found ?? 0) > items.length || items.length > query.limit;
  if (items.length > query.limit) items.pop();
  const total = isNarrowed(query) ? (counted === null ? undefined : Number(counted)) : Number(count);
  return { page: { items, more, total, sequence: Number(sequence) } };
}

function notGathered(): Problem {
  return new Problem("UNAVAILABLE", "The search index of the collection is not complete yet. Try again.");
}

function tooExpensive(collection: NumberedCollection, query: PageQuery, maxMs: number): Problem {
  return new Problem(
    "QUERY_TOO_EXPENSIVE",
    `The list takes longer than the limit of ${maxMs} ms. ${adviceFor(query, collection.indexes)}`,
  );
}
