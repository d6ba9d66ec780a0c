/** Keeps the tables of words as the resources are, in the transactions that change them. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Path } from "../../../collection/paths.ts";
import { wordsVersion } from "../../../query/words.ts";
import { searchedWords } from "../../searched-words.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { resourcesTable } from "../file/tables.ts";
import { searchDdl, searchTable } from "../list/search.ts";

/** What one call of `gather` takes at most: nobody else writes meanwhile. */
const slice = { resources: 500, textLength: 256 * 1024 };

/** One collection's table. */
interface Search {
  paths: readonly Path[];
  /** The key up to which resources are in the table; `undefined`: all of them. */
  indexedTo: number | undefined;
  put: StatementSync;
  remove: StatementSync;
}

/** The tables of words on the connection that writes. Whoever calls holds a transaction open. */
export class SearchTables {
  readonly #database: DatabaseSync;
  readonly #searches = new Map<number, Search>();
  /** The transaction under way has changed what `searches` says. */
  #isOpen = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#read();
  }

  /** The transaction under way was written. */
  settle(): void {
    this.#isOpen = false;
  }

  /** The transaction under way was taken back. */
  takeBack(): void {
    if (this.#isOpen) this.#read();
    this.#isOpen = false;
  }

  /** Makes a collection's table be for the attributes that it declares. What is there to be gathered takes a while. */
  fit({ number, search }: NumberedCollection): void {
    const known = this.#searches.get(number);
    if (JSON.stringify(known?.paths ?? []) === JSON.stringify(search)) return;
    if (known !== undefined) this.#drop(number);
    if (search.length === 0) return;
    this.#create(number, search);
    this.#gatherFrom(number); // all there is, of most collections
  }

  /**
   * Follows one change of a resource: from a text that was there to one that is. The next statement that runs must be an
   * insert: a delete leaves a last rowid of SQLite's own, too large for the answer of `run`.
   */
  follow(
    number: number,
    key: number,
    { before, next }: { before?: string | undefined; next: string | null },
  ): void {
    const search = this.#searches.get(number);
    if (search === undefined) return;
    if (search.indexedTo !== undefined && key > search.indexedTo) return; // its turn will come
    if (next === null) {
      search.remove.run(key);
      return;
    }
    const words = joinedWords(next, search.paths);
    if (before === undefined || words !== joinedWords(before, search.paths)) search.put.run(key, words);
  }

  /** Puts some of the resources that are not in the tables yet there. Gives whether some are left. */
  gather(): boolean {
    for (const number of this.#outdated()) {
      const { paths } = this.#searches.get(number) as Search;
      this.#drop(number);
      this.#create(number, paths);
    }
    const unfinished = [...this.#searches].filter(([, { indexedTo }]) => indexedTo !== undefined);
    const [first] = unfinished;
    if (first !== undefined) this.#gatherFrom(first[0]);
    return unfinished.length > 1 || first?.[1].indexedTo !== undefined;
  }

  /** Makes a collection's table anew: what it was told to remove is still in its segments. */
  rebuild(number: number): void {
    const search = this.#searches.get(number);
    if (search === undefined) return;
    this.#drop(number);
    this.#create(number, search.paths);
    this.#gatherFrom(number);
  }

  #read(): void {
    this.#searches.clear();
    const found = this.#database.prepare("select number, paths, indexed_to as indexedTo from searches").all();
    for (const { number, paths, indexedTo } of found) {
      const to = indexedTo === null ? undefined : Number(indexedTo);
      this.#remember(Number(number), JSON.parse(String(paths)), to);
    }
  }

  /** Collections whose words another version of the program split. */
  #outdated(): number[] {
    return this.#database
      .prepare("select number from searches where words_version <> ?")
      .all(wordsVersion)
      .map(({ number }) => Number(number));
  }

  #drop(number: number): void {
    this.#isOpen = true;
    this.#database.exec(`drop table ${searchTable(number)}`);
    this.#database.prepare("delete from searches where number = ?").run(number);
    this.#searches.delete(number);
  }

  #create(number: number, paths: readonly Path[]): void {
    this.#isOpen = true;
    this.#database.exec(searchDdl(number));
    this.#database
      .prepare("insert into searches (number, paths, words_version, indexed_to) values (?, ?, ?, ?)")
      .run(number, JSON.stringify(paths), wordsVersion, beforeAll);
    this.#remember(number, paths, beforeAll);
  }

  #remember(number: number, paths: readonly Path[], indexedTo: number | undefined): void {
    const table = searchTable(number);
    const put = this.#database.prepare(`insert or replace into ${table} (rowid, words) values (?, ?)`);
    const remove = this.#database.prepare(`delete from ${table} where rowid = ?`);
    remove.setReadBigInts(true);
    this.#searches.set(number, { paths, indexedTo, put, remove });
  }

  #gatherFrom(number: number): void {
    this.#isOpen = true;
    const search = this.#searches.get(number) as Search;
    search.indexedTo = this.#putSlice(number, search);
    this.#database
      .prepare("update searches set indexed_to = ? where number = ?")
      .run(search.indexedTo ?? null, number);
  }

  /** Gives the key that it came to; `undefined` at the end. */
  #putSlice(number: number, { paths, indexedTo = beforeAll, put }: Search): number | undefined {
    const resources = this.#database.prepare(
      `select key, doc from ${resourcesTable(number)} where key > ? order by key limit ?`,
    );
    let taken = 0;
    let textLength = 0;
    for (const { key, doc } of resources.iterate(indexedTo, slice.resources + 1)) {
      if (taken === slice.resources || textLength > slice.textLength) return Number(key) - 1;
      const text = String(doc);
      put.run(Number(key), joinedWords(text, paths));
      taken++;
      textLength += text.length;
    }
    return undefined;
  }
}

/** Keys begin at 1. */
const beforeAll = 0;

function joinedWords(text: string, paths: readonly Path[]): string {
  return searchedWords(text, paths).join(" ");
}
