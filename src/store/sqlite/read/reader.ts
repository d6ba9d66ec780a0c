/** Reads resources, lists and receipts on one connection. The caller decides on transactions. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { KeptReceipt } from "../../commit.ts";
import { maxPageBytes, type Page } from "../../page.ts";
import type { Stored } from "../../stored.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { resourcesTable, toSqliteId } from "../file/tables.ts";
import type { HotPages } from "../list/hot-pages.ts";
import { SearchState } from "../list/search.ts";
import { type PageQuery, selectCount, selectPage } from "../list/select.ts";
import { ListStatements } from "./list-statements.ts";

/** The longest page that is read without an iterator, in resources. This takes half the time, but no resource can be large. */
const maxShortPage = 128;

/** The most resources that are counted on the HTTP thread. */
const maxQuickCount = 2_000;

type Row = readonly unknown[];

/** The prepared statements of one collection. */
interface Statements {
  resource: StatementSync;
}

/** Reads from one connection. It prepares each statement only once. */
export class Reader {
  readonly #database: DatabaseSync;
  readonly #collections = new Map<number, Statements>();
  readonly #lists: ListStatements;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #head: StatementSync;
  readonly #receipt: StatementSync;
  readonly #search: SearchState;
  readonly #pages: HotPages | undefined;

  /** `pages` is the cache for the reader of the HTTP thread. Other readers have none. */
  constructor(database: DatabaseSync, pages?: HotPages) {
    this.#database = database;
    this.#pages = pages;
    this.#lists = new ListStatements(database);
    this.#begin = database.prepare("begin");
    this.#commit = database.prepare("commit");
    this.#head = this.#prepare("select sequence, count from heads where number = ?");
    this.#receipt = this.#prepare("select * from receipts where key = ? and expires_at > ?");
    this.#search = new SearchState(database);
  }

  /** Runs `read` in one read transaction, so that it sees a single state. If the caller has a transaction, uses that one. */
  inSnapshot<T>(read: () => T): T {
    if (this.#database.isTransaction) return read();
    this.#begin.run();
    try {
      return read();
    } catch (error) {
      this.#lists.clear();
      throw error;
    } finally {
      if (this.#database.isTransaction) this.#commit.run();
    }
  }

  /** The resource. `undefined` if it does not exist. */
  resource({ number, idKind }: NumberedCollection, id: string): Stored | undefined {
    const row = get(this.#statementsOf(number).resource, toSqliteId(idKind, id));
    if (row === undefined) return undefined;
    // The result reuses the caller's string of the id. A new string would take a tenth of the time of the read.
    return { id, version: Number(row[0]), text: String(row[2]), updatedAt: Number(row[1]) };
  }

  /**
   * A page, with the state of its collection in the same snapshot. With `isInterruptible`, the statements call
   * `interruptFunction`. Without it, a long list is not counted. Throws UNAVAILABLE while the search index is incomplete.
   */
  page(collection: NumberedCollection, query: PageQuery, isInterruptible = false): Page {
    return this.inSnapshot(() => {
      if (query.words !== undefined) this.#search.requireComplete(collection);
      const head = this.head(collection);
      const read = () => this.#page(collection, query, { isInterruptible, ...head });
      if (query.words !== undefined) return read();
      return this.#pages?.find(collection, query, { sequence: head.sequence, read }) ?? read();
    });
  }

  #page(
    collection: NumberedCollection,
    query: PageQuery,
    { isInterruptible, sequence, count }: { isInterruptible: boolean; sequence: number; count: number },
  ): Page {
    // One resource more than the limit shows whether the list continues.
    const { items, isTruncated } = this.resources(
      collection,
      { ...query, limit: query.limit + 1 },
      isInterruptible,
    );
    const more = isTruncated || items.length > query.limit;
    if (items.length > query.limit) items.pop();
    const isNarrowed = query.filter !== undefined || query.words !== undefined;
    return {
      items,
      more,
      total: isNarrowed ? this.#count(collection, query, isInterruptible) : count,
      sequence,
    };
  }

  /** Resources in the order of the list. `isTruncated`: the list continues, but its text would exceed `maxPageBytes`. */
  resources(
    collection: NumberedCollection,
    query: PageQuery,
    isInterruptible = false,
  ): { items: Stored[]; isTruncated: boolean } {
    const shortPage = isInterruptible ? undefined : this.#shortPage(collection, query);
    if (shortPage !== undefined) return { items: shortPage, isTruncated: false };
    const { statements, offset } = selectPage(collection, query, { isInterruptible });
    const page: PartialPage = { items: [], bytes: 0, isTruncated: false };
    for (const { sql, values } of statements) {
      if (page.isTruncated || page.items.length >= query.limit) break;
      fill(page, this.#lists.get(sql), [...values, query.limit - page.items.length, offset]);
    }
    return page;
  }

  /** The sequence of a collection, and its number of resources. */
  head({ number }: NumberedCollection): { sequence: number; count: number } {
    const row = get(this.#head, number);
    return { sequence: Number(row?.[0] ?? 0), count: Number(row?.[1] ?? 0) };
  }

  /** The receipt with this key that is valid at `now`. */
  receipt(key: string, now: number): KeptReceipt | undefined {
    const row = get(this.#receipt, key, now);
    if (row === undefined) return undefined;
    const kept = { key, fingerprint: String(row[1]), expiresAt: Number(row[3]) };
    const answer = String(row[2]);
    return answer === "" ? { ...kept, answer: undefined, brief: String(row[4]) } : { ...kept, answer };
  }

  /** A short page, read without an iterator. `undefined` if the page is long or has a large resource. */
  #shortPage(collection: NumberedCollection, query: PageQuery): Stored[] | undefined {
    const { limit } = query;
    if (limit > maxShortPage) return undefined;
    const maxBytes = Math.floor(maxPageBytes / Math.max(1, limit));
    const { statements, offset } = selectPage(collection, query, { isInterruptible: false, maxBytes });
    const items: Stored[] = [];
    for (const { sql, values } of statements) {
      if (items.length >= limit) break;
      for (const row of all(this.#lists.get(sql), ...values, limit - items.length, offset)) {
        if (row[3] === null) return undefined;
        items.push(toStored(row));
      }
    }
    return items;
  }

  /** The number of resources in the list. `undefined` if the query does not ask for it, or if it takes too long. */
  #count(collection: NumberedCollection, query: PageQuery, isInterruptible: boolean): number | undefined {
    if (query.count !== true) return undefined;
    const { sql, values } = selectCount(collection, query, isInterruptible ? undefined : maxQuickCount);
    const count = Number(get(this.#lists.get(sql), ...values)?.[0]);
    return isInterruptible || count <= maxQuickCount ? count : undefined;
  }

  #statementsOf(number: number): Statements {
    const known = this.#collections.get(number);
    if (known !== undefined) return known;
    const resources = resourcesTable(number);
    const statements = {
      resource: this.#prepare(`select version, updated_at, doc from ${resources} where id = ?`),
    };
    this.#collections.set(number, statements);
    return statements;
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  }
}

function toStored(row: Row): Stored {
  return { id: String(row[0]), version: Number(row[1]), text: String(row[3]), updatedAt: Number(row[2]) };
}

function get(statement: StatementSync, ...values: SQLInputValue[]): Row | undefined {
  return withBigIntsIfNeeded(statement, () => statement.get(...values) as unknown as Row | undefined);
}

function all(statement: StatementSync, ...values: SQLInputValue[]): Row[] {
  return withBigIntsIfNeeded(statement, () => statement.all(...values) as unknown as Row[]);
}

/** A page while it is being read. */
interface PartialPage {
  items: Stored[];
  /** The bytes of the texts of `items`. */
  bytes: number;
  isTruncated: boolean;
}

/** Adds resources to a page until their texts reach `maxPageBytes`. A page has at least one resource. */
function fill(page: PartialPage, statement: StatementSync, values: readonly SQLInputValue[]): void {
  const { length } = page.items;
  withBigIntsIfNeeded(statement, () => {
    page.items.length = length;
    for (const row of statement.iterate(...values)) {
      const stored = toStored(row as unknown as Row);
      page.bytes += Buffer.byteLength(stored.text);
      page.isTruncated = page.items.length > 0 && page.bytes > maxPageBytes;
      if (page.isTruncated) return;
      page.items.push(stored);
    }
  });
}

/**
 * Runs a statement again with big integers if it returns an integer above 2^53. `node:sqlite` throws on such an integer. Only
 * another program can have written it, and one such resource must not make the whole list fail.
 */
function withBigIntsIfNeeded<T>(statement: StatementSync, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_OUT_OF_RANGE")) throw error;
    statement.setReadBigInts(true);
    try {
      return run();
    } finally {
      statement.setReadBigInts(false);
    }
  }
}
