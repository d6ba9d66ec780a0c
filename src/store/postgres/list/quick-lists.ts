/** Lists that cost no more than their page. Similar lists share a statement, and hot pages are not read again. */
import { LRUCache } from "lru-cache";
import type { Declared } from "../../core/driver.ts";
import type { PageQuery } from "../../core/related.ts";
import { type Batch, createBatch, type Outcome } from "../../port/batch.ts";
import type { Page } from "../../port/page.ts";
import type { Connections, Row, Statement } from "../connection/connections.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { type FormedList, formOf, mostTogether, selectTogether, toPages } from "./gathered.ts";
import { HotPages, isKeepable, keyOf, type ReadPage } from "./hot-pages.ts";
import { selectPage, toPage } from "./page.ts";

/** What a read sends: a list that others of its form join, or a statement of its own. */
type Sent = { list: FormedList } | { statement: Statement };

/** A read in the queue. Equal reads have equal keys. */
type QueuedRead = Sent & { key: string };

type Rows = readonly Row[];

/** The rows of a statement, or the page of a list that was read with others. */
type Answer = Rows | ReadPage | "redeclared" | "apart";

/** How many statements run at the same time. Lists that arrive in the meantime share the next ones. */
const maxStatements = 4;

/** After a page with large texts, this many lists of its form have statements of their own. */
const readsApart = 100;

/** How many forms with large texts are remembered. */
const maxForms = 256;

/** The quick lists of one store. */
export class QuickLists {
  readonly #connections: Connections;
  readonly #pages: HotPages;
  readonly #queue: Batch<QueuedRead, Answer>;
  /** The reads that have not been sent, by key. */
  readonly #waiting = new Map<string, Promise<unknown>>();
  /** How many of the next lists of a form have statements of their own. */
  readonly #apart = new LRUCache<string, number>({ max: maxForms });

  constructor(connections: Connections) {
    this.#connections = connections;
    this.#pages = new HotPages((statement) => connections.run(statement));
    this.#queue = createBatch({
      perform: (reads) => this.#perform(reads),
      kindOf: (read) => ("list" in read ? read.list.form : read.key),
      maxBatchSize: (first) => ("list" in first ? mostTogether(first.list) : 1),
      maxConcurrent: maxStatements,
    });
  }

  /** Reads a page. */
  async page(collection: NumberedCollection, query: PageQuery): Declared<Page> {
    if (!isKeepable(query)) {
      const rows = await this.#queue.run({ key: "", statement: selectPage(collection, query) });
      return pageOf(toPage(collection, query, rows as Rows));
    }
    const key = keyOf(collection, query);
    const hot = await this.#pages.find(collection, key);
    if (hot !== undefined) return hot;
    const send = () => this.#sendingOf(collection, query);
    const read = await this.#share(key, send, (answer) => {
      const page = Array.isArray(answer)
        ? toPage(collection, query, answer)
        : (answer as Exclude<Answer, Rows>);
      if (typeof page === "object") this.#pages.note(key, page);
      return page;
    });
    return read === "apart" ? this.page(collection, query) : pageOf(read);
  }

  /** The rows of a statement. */
  rows(statement: Statement): Promise<Rows> {
    const key = JSON.stringify([statement.sql, statement.values]);
    const send = () => ({ statement });
    return this.#share(key, send, (answer) => answer as Rows);
  }

  #sendingOf(collection: NumberedCollection, query: PageQuery): Sent {
    const list = formOf(collection, query);
    const left = this.#apart.get(list.form) ?? 0;
    if (left === 0) return { list };
    this.#apart.set(list.form, left - 1);
    return { statement: selectPage(collection, query) };
  }

  /**
   * Equal reads that wait at the same time share one statement and its result. It is sent after all of them were
   * requested, so each gets a current page.
   */
  #share<T>(key: string, send: () => Sent, toResult: (answer: Answer) => T): Promise<T> {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting as Promise<T>;
    const running = this.#queue.run({ ...send(), key }).then(toResult);
    this.#waiting.set(key, running);
    running.catch(() => {
      if (this.#waiting.get(key) === running) this.#waiting.delete(key); // it was never sent
    });
    return running;
  }

  /** Reads lists of one form, or the rows of one statement. */
  async #perform(reads: readonly QueuedRead[]): Promise<Outcome<Answer>[]> {
    for (const { key } of reads) this.#waiting.delete(key);
    const lists = reads.flatMap((read) => ("list" in read ? [read.list] : []));
    const [first] = reads as [QueuedRead];
    const statement = "statement" in first ? first.statement : selectTogether(lists);
    const { rows } = await this.#connections.run({ ...statement, isRepeated: true });
    if ("statement" in first) return [{ answer: rows }];
    return toPages(lists, rows).map((answer) => {
      if (answer === "apart") this.#apart.set(first.list.form, readsApart);
      return { answer };
    });
  }
}

function pageOf(read: ReadPage | "redeclared"): Page | "redeclared" {
  return typeof read === "object" ? read.page : read;
}
