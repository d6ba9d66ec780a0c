/** Reads from one connection. Whoever calls decides which transaction a read belongs to. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { LoggedChange, Page, Receipt, Stored } from "../store.ts";
import type { NumberedCollection } from "./catalogue.ts";
import { toSqliteId } from "./ids.ts";
import { changesTable, resourcesTable } from "./tables.ts";

/** Text on one page, in characters: a thousand resources of a mebibyte would stall everybody, and fill the memory. */
const maxPageText = 2 * 1024 * 1024;

/** Where a page begins and how long it may be. */
export interface PageOptions {
  limit: number;
  after?: string;
}

type Row = readonly unknown[];

/** The prepared statements of one collection. */
interface Statements {
  one: StatementSync;
  first: StatementSync;
  after: StatementSync;
  changes: StatementSync;
}

/** The read side of one connection. Statements are prepared once, a collection's at its first use. */
export class Reader {
  readonly #database: DatabaseSync;
  readonly #collections = new Map<number, Statements>();
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #head: StatementSync;
  readonly #receipt: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#begin = database.prepare("begin");
    this.#commit = database.prepare("commit");
    this.#head = this.#prepare("select sequence, count from heads where number = ?");
    this.#receipt = this.#prepare(
      "select fingerprint, answer, expires_at from receipts where key = ? and expires_at > ?",
    );
  }

  /** Runs `read` in one read transaction, that of the caller if there is one: all of it sees the same state. */
  inSnapshot<T>(read: () => T): T {
    if (this.#database.isTransaction) return read();
    this.#begin.run();
    try {
      return read();
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

  /** A page with the state of its collection, both from one snapshot. */
  page(collection: NumberedCollection, options: PageOptions): Page {
    return this.inSnapshot(() => {
      const { sequence, count } = this.head(collection);
      // One more than asked for tells whether there is a next page.
      const { items, isCut } = this.resources(collection, { ...options, limit: options.limit + 1 });
      const more = isCut || items.length > options.limit;
      if (items.length > options.limit) items.pop();
      return { items, more, total: count, sequence };
    });
  }

  /** Resources in id order: fewer than the limit where their text would be too much, and `isCut` says so. */
  resources(
    { number, idKind }: NumberedCollection,
    { limit, after }: PageOptions,
  ): { items: Stored[]; isCut: boolean } {
    const statements = this.#of(number);
    return after === undefined
      ? take(statements.first, limit)
      : take(statements.after, toSqliteId(idKind, after), limit);
  }

  /** The collection's sequence, and how many resources it has. */
  head({ number }: NumberedCollection): { sequence: number; count: number } {
    const row = get(this.#head, number);
    return { sequence: Number(row?.[0] ?? 0), count: Number(row?.[1] ?? 0) };
  }

  /** The change log after a sequence. */
  changes({ number }: NumberedCollection, sequence: number, limit: number): LoggedChange[] {
    return all(this.#of(number).changes, sequence, limit).map((row) => ({
      sequence: Number(row[0]),
      id: String(row[1]),
      version: Number(row[2]),
      kind: row[3] as LoggedChange["kind"],
      at: Number(row[4]),
      principal: row[5] === null ? undefined : String(row[5]),
      group: row[6] === null ? undefined : Number(row[6]),
      superseded: row[7] === null ? undefined : String(row[7]),
    }));
  }

  /** The receipt with this key that is valid at `now`. */
  receipt(key: string, now: number): Receipt | undefined {
    const row = get(this.#receipt, key, now);
    if (row === undefined) return undefined;
    return { key, fingerprint: String(row[0]), answer: String(row[1]), expiresAt: Number(row[2]) };
  }

  #of(number: number): Statements {
    const known = this.#collections.get(number);
    if (known !== undefined) return known;
    const resources = resourcesTable(number);
    const columns = "id, version, updated_at, doc";
    const statements = {
      one: this.#prepare(`select version, updated_at, doc from ${resources} where id = ?`),
      first: this.#prepare(`select ${columns} from ${resources} order by id limit ?`),
      after: this.#prepare(`select ${columns} from ${resources} where id > ? order by id limit ?`),
      changes: this.#prepare(
        `select sequence, id, version, kind, at, principal, "group", superseded
         from ${changesTable(number)} where sequence > ? order by sequence limit ?`,
      ),
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

/** Takes resources until their text is as much as one page may hold, but at least one. */
function take(statement: StatementSync, ...values: SQLInputValue[]): { items: Stored[]; isCut: boolean } {
  return tolerantly(statement, () => {
    const items: Stored[] = [];
    let length = 0;
    for (const row of statement.iterate(...values)) {
      const stored = toStored(row as unknown as Row);
      length += stored.text.length;
      if (items.length > 0 && length > maxPageText) return { items, isCut: true };
      items.push(stored);
    }
    return { items, isCut: false };
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
