/** Lists that cost no more than their page. Equal lists share a statement, and hot pages are not read again. */
import { type Batch, createBatch } from "../../batch.ts";
import type { PageQuery } from "../../page.ts";
import type { Connections, Row, Statement } from "../connection/connections.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { HotPages, keyOf } from "./hot-pages.ts";
import { type ListAttempt, selectPage, toPage } from "./page.ts";

/** A statement in the queue. */
interface QueuedStatement {
  /** Equal for equal statements. */
  key: string;
  statement: Statement;
}

/** How many quick lists run at the same time. */
const maxQuick = 4;

/** The quick lists of one store. */
export class QuickLists {
  readonly #pages: HotPages;
  readonly #queue: Batch<QueuedStatement, readonly Row[]>;
  /** The statements that have not been sent, by key. */
  readonly #waiting = new Map<string, Promise<unknown>>();

  constructor(connections: Connections) {
    this.#pages = new HotPages((statement) => connections.run(statement));
    this.#queue = createBatch({
      perform: async ([first]) => {
        const { key, statement } = first as QueuedStatement;
        this.#waiting.delete(key);
        return [{ answer: (await connections.run({ ...statement, isRepeated: true })).rows }];
      },
      maxBatchSize: 1,
      maxConcurrent: maxQuick,
    });
  }

  /** Reads a page. */
  async page(collection: NumberedCollection, query: PageQuery): Promise<ListAttempt> {
    const key = keyOf(collection, query);
    const hot = await this.#pages.find(collection, key);
    if (hot !== undefined) return { page: hot };
    return this.#share(
      key,
      () => selectPage(collection, query),
      (rows) => {
        const read = toPage(collection, query, rows);
        if (read !== "redeclared") this.#pages.note(key, read);
        return read;
      },
    );
  }

  /** The rows of a statement. */
  rows(statement: Statement): Promise<readonly Row[]> {
    const key = JSON.stringify([statement.sql, statement.values]);
    return this.#share(
      key,
      () => statement,
      (rows) => rows,
    );
  }

  /**
   * Equal lists that wait at the same time share one statement and its result. It is sent after all of them were
   * requested, so each gets a current page.
   */
  #share<T>(key: string, statementOf: () => Statement, toResult: (rows: readonly Row[]) => T): Promise<T> {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting as Promise<T>;
    const running = this.#queue.run({ key, statement: statementOf() }).then(toResult);
    this.#waiting.set(key, running);
    running.catch(() => {
      if (this.#waiting.get(key) === running) this.#waiting.delete(key); // it was never sent
    });
    return running;
  }
}
