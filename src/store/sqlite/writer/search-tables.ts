/**
 * The tables of words for full-text search: keeps them equal to the resources, in the same transactions, and builds new ones in
 * steps. `../list/search.ts` reads them.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Path } from "../../../collection/paths.ts";
import { wordsVersion } from "../../../query/words.ts";
import { decide } from "../../core/decision.ts";
import { continueIndex, type SearchIndex, searchedWords, startIndex } from "../../core/search-index.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { resourcesTable } from "../file/tables.ts";
import { searchDdl, searchTable } from "../list/search.ts";

/** The table of words of one collection. */
interface Search {
  paths: readonly Path[];
  /** The `wordsVersion` of the words in the table. */
  version: string;
  /** The key up to which the table contains resources; `null`: it contains all. */
  indexedTo: number | null;
  put: StatementSync;
  remove: StatementSync;
}

/** The tables of words on the connection of the writer. The caller keeps a transaction open. */
export class SearchTables {
  readonly #database: DatabaseSync;
  readonly #searches = new Map<number, Search>();
  /** Whether the open transaction has changed the table `searches`. */
  #hasChanged = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#read();
  }

  /** Keeps the state in memory. The caller has committed the transaction. */
  afterCommit(): void {
    this.#hasChanged = false;
  }

  /** Restores the state in memory. The caller has rolled the transaction back. */
  afterRollback(): void {
    if (this.#hasChanged) this.#read();
    this.#hasChanged = false;
  }

  /**
   * Creates, replaces or removes the table of a collection, so that it has the attributes that the collection declares.
   * `buildNext` adds the resources that are not in the table yet.
   */
  declare({ number, search }: NumberedCollection): void {
    if (JSON.stringify(this.#searches.get(number)?.paths ?? []) === JSON.stringify(search)) return;
    if (search.length > 0) this.#start(number, search);
    else this.#drop(number);
  }

  /**
   * Replaces the words of a resource that changes from one text to another (`null`: it is deleted). The next statement on the
   * connection must be an insert: after a delete from an FTS5 table, the last rowid is too large for the result of `run`.
   */
  update(
    number: number,
    key: number,
    { before, next }: { before?: string | undefined; next: string | null },
  ): void {
    const search = this.#searches.get(number);
    if (search === undefined) return;
    if (search.indexedTo !== null && key > search.indexedTo) return; // `buildNext` will add it
    if (next === null) {
      search.remove.run(key);
      return;
    }
    const words = joinedWords(next, search.paths);
    if (before === undefined || words !== joinedWords(before, search.paths)) search.put.run(key, words);
  }

  /** Takes one step in building an incomplete table. Returns whether there is more to do. */
  buildNext(): boolean {
    const [first, second] = [...this.#searches].filter(([, search]) => !isComplete(search));
    if (first === undefined) return false;
    const [number, { paths, version, indexedTo }] = first;
    decide(continueIndex(version, indexedTo), this.#indexOf(number, paths));
    return second !== undefined || !isComplete(this.#searches.get(number) as Search);
  }

  /** Builds the table again. Otherwise removed words would stay in the segments of FTS5. */
  rebuild(number: number): void {
    const search = this.#searches.get(number);
    if (search !== undefined) this.#start(number, search.paths);
  }

  #start(number: number, paths: readonly Path[]): void {
    decide(startIndex<number>(), this.#indexOf(number, paths));
  }

  #read(): void {
    this.#searches.clear();
    const columns = "number, paths, words_version as version, indexed_to as indexedTo";
    for (const row of this.#database.prepare(`select ${columns} from searches`).all()) {
      const indexedTo = row.indexedTo === null ? null : Number(row.indexedTo);
      const paths = JSON.parse(String(row.paths));
      this.#remember(Number(row.number), { paths, version: String(row.version), indexedTo });
    }
  }

  #indexOf(number: number, paths: readonly Path[]): SearchIndex<number> {
    const after = `from ${resourcesTable(number)} where key > ? order by key limit +?`;
    const select = (columns: string) => this.#database.prepare(`select ${columns} ${after}`);
    return {
      clear: () => {
        if (this.#searches.has(number)) this.#drop(number);
        this.#create(number, paths);
        return beforeAll;
      },
      sizesAfter: (...page) =>
        select("octet_length(doc) as size")
          .all(...page)
          .map(({ size }) => Number(size)),
      resourcesAfter: (...page) =>
        select("key, doc")
          .all(...page)
          .map(({ key, doc }) => ({ key: Number(key), text: String(doc) })),
      add: (resources, { to }) => {
        this.#hasChanged = true;
        const search = this.#searches.get(number) as Search;
        for (const { key, text } of resources) search.put.run(key, joinedWords(text, paths));
        search.indexedTo = to;
        this.#database.prepare("update searches set indexed_to = ? where number = ?").run(to, number);
      },
    };
  }

  #drop(number: number): void {
    this.#hasChanged = true;
    this.#database.exec(`drop table ${searchTable(number)}`);
    this.#database.prepare("delete from searches where number = ?").run(number);
    this.#searches.delete(number);
  }

  #create(number: number, paths: readonly Path[]): void {
    this.#hasChanged = true;
    this.#database.exec(searchDdl(number));
    this.#database
      .prepare("insert into searches (number, paths, words_version, indexed_to) values (?, ?, ?, ?)")
      .run(number, JSON.stringify(paths), wordsVersion, beforeAll);
    this.#remember(number, { paths, version: wordsVersion, indexedTo: beforeAll });
  }

  #remember(number: number, state: Omit<Search, "put" | "remove">): void {
    const table = searchTable(number);
    const put = this.#database.prepare(`insert or replace into ${table} (rowid, words) values (?, ?)`);
    const remove = this.#database.prepare(`delete from ${table} where rowid = ?`);
    remove.setReadBigInts(true);
    this.#searches.set(number, { ...state, put, remove });
  }
}

/** A key before all keys, which start at 1. */
const beforeAll = 0;

function isComplete({ version, indexedTo }: Search): boolean {
  return version === wordsVersion && indexedTo === null;
}

function joinedWords(text: string, paths: readonly Path[]): string {
  return searchedWords(text, paths).join(" ");
}
