/** Reads from one connection. Whoever calls decides which transaction a read belongs to. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { KeptReceipt } from "../../commit.ts";
import { maxPageBytes, type Page } from "../../page.ts";
import type { Stored } from "../../stored.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { resourcesTable, toSqliteId } from "../file/tables.ts";
import type { HotPages } from "../list/hot-pages.ts";
import { SearchState } from "../list/search.ts";
import { type PageQuery, selectCount, selectPage } from "../list/select.ts";

/** So many resources are read in one step, which takes half the time; then none may be large. */
const maxInOneStep = 128;

/** So many resources are counted at once without holding others up. */
const maxQuickCount = 2_000;

type Row = readonly unknown[];

/** The prepared statements of one collection. */
interface Statements {
  one: StatementSync;
}

/** Statements of lists that are kept; clients ask for the same ones again and again. */
const maxListStatements = 500;

/** The read side of one connection. Statements are prepared once, a collection's at its first use. */
export class Reader {
  readonly #database: DatabaseSync;
  readonly #collections = new Map<number, Statements>();
  readonly #lists = new Map<string, StatementSync>();
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #head: StatementSync;
  readonly #receipt: StatementSync;
  readonly #search: SearchState;
  readonly #pages: HotPages | undefined;

  /** `pages` are for the one reader that is asked for the same lists again and again. */
  constructor(database: DatabaseSync, pages?: HotPages) {
    this.#database = database;
    this.#pages = pages;
    this.#begin = database.prepare("begin");
    this.#commit = database.prepare("commit");
    this.#head = this.#prepare("select sequence, count from heads where number = ?");
    this.#receipt = this.#prepare("select * from receipts where key = ? and expires_at > ?");
    this.#search = new SearchState(database);
  }

  /** Runs `read` in one read transaction, that of the caller if there is one: all of it sees the same state. */
  inSnapshot<T>(read: () => T): T {
    if (this.#database.isTransaction) return read();
    this.#begin.run();
    try {
      return read();
    } catch (error) {
      this.#lists.clear(); // a statement that failed would tell of it again at its next use
      throw error;
    } finally {
      if (this.#database.isTransaction) this.#commit.run();
    }
  }

  /** The resource, or `undefined`. */
  resource({ number, idKind }: NumberedCollection, id: string): Stored | undefined {
    const row = get(this.#of(number).one, toSqliteId(idKind, id));
    if (row === undefined) return undefined;
    // A string of its own for the id would cost a tenth of the whole read.
    return { id, version: Number(row[0]), text: String(row[2]), updatedAt: Number(row[1]) };
  }

  /**
   * A page with the state of its collection, both from one snapshot. `isWatched`: see `watchFunction`; without it, what is
   * too much to count goes uncounted. Throws UNAVAILABLE for words that are not all there yet.
   */
  page(collection: NumberedCollection, query: PageQuery, isWatched = false): Page {
    return this.inSnapshot(() => {
      if (query.words !== undefined) this.#search.requireWhole(collection);
      const head = this.head(collection);
      const read = () => this.#page(collection, query, { isWatched, ...head });
      if (query.words !== undefined) return read();
      return this.#pages?.find(collection, query, { sequence: head.sequence, read }) ?? read();
    });
  }

  #page(
    collection: NumberedCollection,
    query: PageQuery,
    { isWatched, sequence, count }: { isWatched: boolean; sequence: number; count: number },
  ): Page {
    // One more than asked for tells whether there is a next page.
    const { items, isCut } = this.resources(collection, { ...query, limit: query.limit + 1 }, isWatched);
    const more = isCut || items.length > query.limit;
    if (items.length > query.limit) items.pop();
    const isNarrowed = query.filter !== undefined || query.words !== undefined;
    return { items, more, total: isNarrowed ? this.#count(collection, query, isWatched) : count, sequence };
  }

  /** Resources in the order of the list: fewer than the limit where their text would be too much, and `isCut` says so. */
  resources(
    collection: NumberedCollection,
    query: PageQuery,
    isWatched = false,
  ): { items: Stored[]; isCut: boolean } {
    const few = isWatched ? undefined : this.#inOneStep(collection, query);
    if (few !== undefined) return { items: few, isCut: false };
    const { statements, offset } = selectPage(collection, query, { isWatched });
    const taken: Taken = { items: [], bytes: 0, isCut: false };
    for (const { sql, values } of statements) {
      if (taken.isCut || taken.items.length >= query.limit) break;
      take(this.#list(sql), [...values, query.limit - taken.items.length, offset], taken);
    }
    return taken;
  }

  /** The collection's sequence, and how many resources it has. */
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

  /** A few resources of which none is large; `undefined` where that is not so. */
  #inOneStep(collection: NumberedCollection, query: PageQuery): Stored[] | undefined {
    const { limit } = query;
    if (limit > maxInOneStep) return undefined;
    const maxBytes = Math.floor(maxPageBytes / Math.max(1, limit));
    const { statements, offset } = selectPage(collection, query, { isWatched: false, maxBytes });
    const items: Stored[] = [];
    for (const { sql, values } of statements) {
      if (items.length >= limit) break;
      for (const row of all(this.#list(sql), ...values, limit - items.length, offset)) {
        if (row[3] === null) return undefined;
        items.push(toStored(row));
      }
    }
    return items;
  }

  /** How many resources the list has, where somebody asked. */
  #count(collection: NumberedCollection, query: PageQuery, isWatched: boolean): number | undefined {
    if (query.count !== true) return undefined;
    // What is not watched may not take long.
    const { sql, values } = selectCount(collection, query, isWatched ? undefined : maxQuickCount);
    const count = Number(get(this.#list(sql), ...values)?.[0]);
    return isWatched || count <= maxQuickCount ? count : undefined;
  }

  #list(sql: string): StatementSync {
    const known = this.#lists.get(sql);
    if (known !== undefined) return known;
    if (this.#lists.size >= maxListStatements) this.#lists.clear();
    const statement = this.#prepare(sql);
    this.#lists.set(sql, statement);
    return statement;
  }

  #of(number: number): Statements {
    const known = this.#collections.get(number);
    if (known !== undefined) return known;
    const resources = resourcesTable(number);
    const statements = {
      one: this.#prepare(`select version, updated_at, doc from ${resources} where id = ?`),
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
  return tolerantly(statement, () => statement.get(...values) as unknown as Row | undefined);
}

function all(statement: StatementSync, ...values: SQLInputValue[]): Row[] {
  return tolerantly(statement, () => statement.all(...values) as unknown as Row[]);
}

/** Resources of a page so far. */
interface Taken {
  items: Stored[];
  /** Of their text. */
  bytes: number;
  isCut: boolean;
}

/** Takes resources until their text is as much as one page may hold, but at least one. */
function take(statement: StatementSync, values: readonly SQLInputValue[], taken: Taken): void {
  const { length } = taken.items;
  tolerantly(statement, () => {
    taken.items.length = length;
    for (const row of statement.iterate(...values)) {
      const stored = toStored(row as unknown as Row);
      taken.bytes += Buffer.byteLength(stored.text);
      taken.isCut = taken.items.length > 0 && taken.bytes > maxPageBytes;
      if (taken.isCut) return;
      taken.items.push(stored);
    }
  });
}

/**
 * node:sqlite throws on an integer above 2^53, which only foreign hands can have put there. One such resource
 * must not cost the others their answer, so the query is made once more with big integers.
 */
function tolerantly<T>(statement: StatementSync, run: () => T): T {
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
