/** Reads resources, lists, receipts and whole collections on one connection. The caller decides on transactions. */

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import { idIn } from "../../../collection/ids.ts";
import { Problem } from "../../../errors.ts";
import { wordsVersion } from "../../../query/search-words.ts";
import { type CursorValues, hasRelatedKeys } from "../../../query/sort.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { damageOf, intactResource, storedIn } from "../../core/checksums.ts";
import type { ScannedCollection } from "../../core/driver.ts";
import { type FiguresOf, groupsIn } from "../../core/figures.ts";
import type { HotPages } from "../../core/hot-pages.ts";
import { positionOf } from "../../core/list-sql.ts";
import {
  type GroupsQuery,
  isKeepable,
  isNarrowed,
  type PageQuery,
  type ReferringRow,
  type RelatedPart,
  toGroups,
} from "../../core/related.ts";
import { wordsIncomplete } from "../../core/search-index.ts";
import { toPlace } from "../../port/log-place.ts";
import { type Figures, maxPageBytes, type Page, type ReferringGroups } from "../../port/page.ts";
import type { Stored } from "../../port/stored.ts";
import { isOfWords } from "../file/failures.ts";
import { resourcesTable, toSqliteId } from "../file/tables.ts";
import { withBigIntsIfNeeded } from "../file/wide-integers.ts";
import {
  type SelectStatement,
  selectCount,
  selectHasFewReferring,
  selectPage,
  selectReferring,
} from "../list/select.ts";
import { selectFigures } from "../list/sqlite-figures.ts";
import { addListFunctions } from "../list/sqlite-lists.ts";
import { readCatalogue, sqliteDialect } from "../sqlite-dialect.ts";

/** The values of a row, in the order of its columns. */
type Row = readonly unknown[];

/** The columns of a resource, in the order that `storedIn` reads. */
const resourceColumns = "id, version, updated_at, doc, checksum";

/** The resource in a row of `resourceColumns`. Throws DATA_DAMAGED. */
function toStored(collection: NumberedCollection, row: Row): Stored {
  return storedIn(sqliteDialect, collection, row);
}

/** The first row; `undefined` without rows. */
function firstRow(statement: StatementSync, ...values: SQLInputValue[]): Row | undefined {
  return withBigIntsIfNeeded(statement, () => statement.get(...values) as unknown as Row | undefined);
}

/** Does a read that may use search words. Throws DATA_DAMAGED if they are damaged. */
function namingWords<T>({ name }: NumberedCollection, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isOfWords(error)) throw error;
    const detail = `The search words of the collection ${name} are damaged in the store, so searches do not work. Restore a backup.`;
    throw new Problem("DATA_DAMAGED", detail, { cause: error });
  }
}

/** All rows. */
function allRows(statement: StatementSync, ...values: SQLInputValue[]): Row[] {
  return withBigIntsIfNeeded(statement, () => statement.all(...values) as unknown as Row[]);
}

/**
 * The limits of the statements that are kept, in characters: of all, and of one. SQLite needs 4 to 60 bytes for each character of a
 * statement, so they take about 5 MB.
 */
const limits = { maxSize: 128 * 1024, maxEntrySize: 64 * 1024 };

/** The approximate memory of a statement without its text, in characters. */
const overhead = 250;

/** Prepares the statements of lists, and keeps recently used ones. */
export class ListStatements {
  readonly #database: DatabaseSync;
  readonly #recent = new LRUCache<string, StatementSync>({
    ...limits,
    sizeCalculation: (_, { length }) => length + overhead,
  });

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** The statement with this text. Its rows are arrays. */
  get(sql: string): StatementSync {
    const known = this.#recent.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    this.#recent.set(sql, statement);
    return statement;
  }

  /** Drops all statements. A statement that failed reports the same error at its next use. */
  clear(): void {
    this.#recent.clear();
  }
}

/** The longest page that is read without an iterator, in resources. This takes half the time, but no resource can be large. */
const maxShortPage = 128;

/** The most resources that are counted on the HTTP thread. */
const maxQuickCount = 2_000;

/** The most resources among which the HTTP thread finds the first ones that refer to others. */
const maxQuickReferring = 2_000;

/** The prepared statements of one collection. */
interface Statements {
  resource: StatementSync;
  byKey: StatementSync;
}

/** Reads from one connection. It prepares each statement only once. */
export class Reader {
  readonly #database: DatabaseSync;
  readonly #collections = new Map<number, Statements>();
  readonly #lists: ListStatements;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #head: StatementSync;
  readonly #slots: StatementSync;
  /** The column `slots` in the file, for the collections that this reader has compared with it. */
  readonly #knownSlots = new WeakMap<NumberedCollection, string>();
  /** By the sequence of the collection, because every change of a resource raises it. */
  readonly #pages: HotPages<number> | undefined;

  /** `pages` is the cache for the reader of the HTTP thread. Other readers have none. */
  constructor(database: DatabaseSync, pages?: HotPages<number>) {
    this.#database = database;
    this.#pages = pages;
    this.#lists = new ListStatements(database);
    this.#begin = database.prepare("begin");
    this.#commit = database.prepare("commit");
    this.#head = this.#prepare("select sequence, count, words_version from heads where number = ?");
    this.#slots = this.#prepare("select slots from collections where number = ?");
    addListFunctions(database);
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

  /** As `inSnapshot`. Throws DATA_DAMAGED if SQLite reads a text that is not JSON. SQLite does not name the resource. */
  #inSnapshotOf<T>({ name }: NumberedCollection, read: () => T): T {
    try {
      return this.inSnapshot(read);
    } catch (error) {
      if (!(error instanceof Error && error.message === "malformed JSON")) throw error;
      throw new Problem("DATA_DAMAGED", damageOf(`A resource of the collection ${name}`), { cause: error });
    }
  }

  /** The resource. `undefined` if it does not exist. Throws DATA_DAMAGED. */
  resource({ number, idKind, name }: NumberedCollection, id: string): Stored | undefined {
    const row = firstRow(this.#statementsOf(number).resource, toSqliteId(idKind, id));
    if (row === undefined) return undefined;
    // The result reuses the caller's string of the id. A new string would take a tenth of the time of the read.
    const stored = { id, version: Number(row[0]), text: String(row[2]), updatedAt: Number(row[1]) };
    return intactResource(name, stored, row[3]);
  }

  /**
   * A page, with the state of its collection in the same snapshot. With `isInterruptible`, the statements call
   * `interruptFunction`. Without it, a long list is not counted. Throws UNAVAILABLE while the search index is incomplete.
   */
  page(collection: NumberedCollection, query: PageQuery, isInterruptible = false): Page {
    return this.#inSnapshotOf(collection, () => {
      const head = this.#headFor(query, collection);
      const read = () =>
        namingWords(collection, () => this.#page(collection, query, { isInterruptible, ...head }));
      if (this.#pages === undefined || !isKeepable(query)) return read();
      const key = `${collection.number} ${JSON.stringify(query)}`;
      const hot = this.#pages.find(key);
      if (hot?.state === head.sequence) return hot.page;
      const page = read();
      this.#pages.note(key, { state: head.sequence, page });
      return page;
    });
  }

  /** Figures, with the state of the collection in the same snapshot. The connection must have `interruptFunction`. */
  figures(collection: NumberedCollection, query: FiguresOf): Figures {
    return this.#inSnapshotOf(collection, () =>
      namingWords(collection, () => {
        const { sequence } = this.#headFor(query, collection);
        const statement = selectFigures(this.#current(collection), this.#withCurrent(query));
        const prepared = this.#lists.get(statement.sql);
        const found = withBigIntsIfNeeded(prepared, () =>
          groupsIn(
            prepared.iterate(...statement.values) as Iterable<unknown> as Iterable<readonly unknown[]>,
            statement.columns,
            query.limit,
          ),
        );
        return { ...found, sequence: toPlace(sequence) };
      }),
    );
  }

  #page(
    collection: NumberedCollection,
    query: PageQuery,
    { isInterruptible, sequence, count }: { isInterruptible: boolean; sequence: number; count: number },
  ): Page {
    const current = this.#current(collection);
    const asked = this.#withCurrent(query);
    // One resource more than the limit shows whether the list continues.
    const { items, positions, isTruncated } = this.resources(
      current,
      { ...asked, limit: query.limit + 1 },
      isInterruptible,
    );
    const more = isTruncated || items.length > query.limit;
    if (items.length > query.limit) items.pop();
    return {
      items,
      more,
      total: isNarrowed(query) ? this.#count(current, asked, isInterruptible) : count,
      sequence: toPlace(sequence),
      ...(positions.length > 0 && { positions }),
    };
  }

  /**
   * The collection with the slots of the present snapshot. The declaration can have changed since the caller read it. Writes do
   * not change the entries of an index that is no longer declared.
   */
  #current(collection: NumberedCollection): NumberedCollection {
    const { numbers, number } = collection;
    if (numbers.used.length === 0) return collection;
    const text = String(firstRow(this.#slots, number)?.[0]);
    if (this.#knownSlots.get(collection) === text) return collection;
    if (JSON.stringify(numbers) !== text)
      return readCatalogue(this.#database).get(collection.name) ?? collection;
    this.#knownSlots.set(collection, text);
    return collection;
  }

  /** A query whose related collections have the slots of the present snapshot. */
  #withCurrent<Query extends RelatedPart>(query: Query): Query {
    if (query.related === undefined) return query;
    const related = Object.entries(query.related).map(([name, other]) => [
      name,
      other && this.#current(other as NumberedCollection),
    ]);
    return { ...query, related: Object.fromEntries(related) };
  }

  /**
   * Resources in the order of the list. `isTruncated`: the list continues, but its text would exceed `maxPageBytes`. `positions`: those
   * in the list, if related resources sort it.
   */
  resources(
    collection: NumberedCollection,
    query: PageQuery,
    isInterruptible = false,
  ): { items: Stored[]; positions: CursorValues[]; isTruncated: boolean } {
    const shortPage = isInterruptible ? undefined : this.#shortPage(collection, query);
    if (shortPage !== undefined) return { items: shortPage, positions: [], isTruncated: false };
    const { sql, values } = selectPage(collection, query, { isInterruptible });
    const statement = this.#lists.get(sql);
    return withBigIntsIfNeeded(statement, () => {
      const items: Stored[] = [];
      const positions: CursorValues[] = [];
      const isRelated = hasRelatedKeys(query.sort);
      let bytes = 0;
      for (const row of statement.iterate(...values) as Iterable<unknown> as Iterable<Row>) {
        const stored = toStored(collection, row);
        bytes += Buffer.byteLength(stored.text);
        if (items.length > 0 && bytes > maxPageBytes) return { items, positions, isTruncated: true };
        items.push(stored);
        if (isRelated)
          positions.push(positionOf(query, row.slice(5, -1), idIn(collection.idKind, stored.id)));
      }
      return { items, positions, isTruncated: false };
    });
  }

  /** The resources that refer to each of several ids. With `isInterruptible` as in `page`. */
  referring(collection: NumberedCollection, query: GroupsQuery, isInterruptible = false): ReferringGroups {
    return this.#inSnapshotOf(collection, () =>
      this.#groups(collection, query, selectReferring(this.#current(collection), query, { isInterruptible })),
    );
  }

  /** As `referring`, if this reads few resources. Otherwise `undefined`. */
  referringIfFew(collection: NumberedCollection, query: GroupsQuery): ReferringGroups | undefined {
    return this.#inSnapshotOf(collection, () => {
      const { ids, sort = [], filter } = query;
      const statement = selectReferring(this.#current(collection), query, { isInterruptible: false });
      if (!statement.isByIndex) {
        if (sort.length > 0 || filter !== undefined) return undefined; // it reads texts
        const max = Math.ceil(maxQuickReferring / Math.max(1, ids.length));
        const { sql, values } = selectHasFewReferring(collection, query, max);
        if (Number(firstRow(this.#lists.get(sql), ...values)?.[0]) !== 1) return undefined;
      }
      return this.#groups(collection, query, statement);
    });
  }

  #groups(
    collection: NumberedCollection,
    { ids, limit }: GroupsQuery,
    { sql, values }: SelectStatement,
  ): ReferringGroups {
    const found = allRows(this.#lists.get(sql), ...values).map(
      ([keys]) => JSON.parse(String(keys)) as number[],
    );
    return toGroups(this.#rowsOf(collection, found, limit), ids.length, limit);
  }

  /**
   * The resources with these keys, by group. A resource is `undefined` after the first `limit` of its group, and after
   * `maxPageBytes` in total. The first one of all is always complete.
   */
  *#rowsOf(
    collection: NumberedCollection,
    groups: readonly (readonly number[])[],
    limit: number,
  ): Generator<ReferringRow> {
    const { byKey } = this.#statementsOf(collection.number);
    let bytes = 0;
    for (const [place, keys] of groups.entries()) {
      for (const [n, key] of keys.entries()) {
        const row = n < limit ? firstRow(byKey, key) : undefined;
        const resource = row && toStored(collection, row);
        const isFirst = bytes === 0;
        bytes += resource === undefined ? 0 : Buffer.byteLength(resource.text);
        yield { place, resource: isFirst || bytes <= maxPageBytes ? resource : undefined };
      }
    }
  }

  /** The sequence of a collection, its number of resources, and the version of its search words. */
  head({ number }: NumberedCollection): { sequence: number; count: number; words: unknown } {
    const [sequence = 0, count = 0, words] = firstRow(this.#head, number) ?? [];
    return { sequence: Number(sequence), count: Number(count), words };
  }

  /** The head, for a query in the same snapshot. Throws UNAVAILABLE while the words of a search are incomplete. */
  #headFor({ words }: Pick<PageQuery, "words">, collection: NumberedCollection) {
    const head = this.head(collection);
    if (words === undefined || head.words === wordsVersion) return head;
    if (collection.search.length > 0) throw wordsIncomplete();
    throw new Error(`No attributes of ${collection.name} are declared to be searched.`);
  }

  /** A short page, read without an iterator. `undefined` if the page is long or has a large resource. */
  #shortPage(collection: NumberedCollection, query: PageQuery): Stored[] | undefined {
    const { limit } = query;
    if (limit > maxShortPage) return undefined;
    const maxBytes = Math.floor(maxPageBytes / Math.max(1, limit));
    const { sql, values } = selectPage(collection, query, { isInterruptible: false, maxBytes });
    const items: Stored[] = [];
    for (const row of allRows(this.#lists.get(sql), ...values)) {
      if (row[3] === null) return undefined;
      items.push(toStored(collection, row));
    }
    return items;
  }

  /** The number of resources in the list. `undefined` if the query does not ask for it, or if it takes too long. */
  #count(collection: NumberedCollection, query: PageQuery, isInterruptible: boolean): number | undefined {
    if (query.count !== true) return undefined;
    const { sql, values } = selectCount(collection, query, isInterruptible ? undefined : maxQuickCount);
    const count = Number(firstRow(this.#lists.get(sql), ...values)?.[0]);
    return isInterruptible || count <= maxQuickCount ? count : undefined;
  }

  #statementsOf(number: number): Statements {
    const known = this.#collections.get(number);
    if (known !== undefined) return known;
    const resources = resourcesTable(number);
    const statements = {
      resource: this.#prepare(`select version, updated_at, doc, checksum from ${resources} where id = ?`),
      byKey: this.#prepare(`select ${resourceColumns} from ${resources} where key = ?`),
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

/** The resources that one statement reads. Between two chunks, only the transaction is open. */
const chunk = 256;

/** The scans in progress. Each has its own connection. The log cannot become shorter before a scan ends. */
export class Scans {
  readonly #connect: () => DatabaseSync;
  readonly #open = new Set<DatabaseSync>();

  /** `connect` opens a connection for one scan. */
  constructor(connect: () => DatabaseSync) {
    this.#connect = connect;
  }

  /** Every resource of each collection in the order of ids. The snapshot starts when the caller asks for the first one. */
  async *scanEach(collections: readonly ScannedCollection[]): AsyncGenerator<Stored> {
    const database = this.#connect();
    this.#open.add(database);
    try {
      database.exec("begin");
      const reader = new Reader(database);
      for (const { collection, begin } of collections) {
        begin();
        let last: Stored | undefined;
        do {
          const after = last === undefined ? {} : { after: [idIn(collection.idKind, last.id)] };
          const { items } = reader.resources(collection, { limit: chunk, ...after });
          for (const resource of items) {
            yield resource;
            if (!database.isOpen) throw new Problem("UNAVAILABLE", "The store was closed.");
          }
          last = items.at(-1);
        } while (last !== undefined);
      }
    } finally {
      this.#open.delete(database);
      if (database.isOpen) database.close();
    }
  }

  /** Ends all scans. */
  close(): void {
    for (const database of this.#open) database.close();
    this.#open.clear();
  }
}
