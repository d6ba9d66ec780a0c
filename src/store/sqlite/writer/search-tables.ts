/**
 * The tables of words for full-text search: keeps them equal to the resources, in the same transactions. `migrate.ts` makes them, and
 * `../list/search.ts` reads them.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Path } from "../../../collection/paths.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { searchedWords } from "../../core/search-index.ts";
import { searchTable } from "../list/search.ts";

interface Statements {
  put: StatementSync;
  remove: StatementSync;
}

/** The tables of words on the connection of the writer. The caller keeps a transaction open. */
export class SearchTables {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<number, Statements>();
  /** The keys up to which collections are built, by number. */
  readonly #builtTo = new Map<number, number>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.readState();
  }

  /** Reads how far collections are built. Call it when this has changed, also after a rollback. */
  readState(): void {
    this.#builtTo.clear();
    const rows = this.#database
      .prepare("select number, built_to from heads where built_to is not null")
      .all();
    for (const row of rows) this.#builtTo.set(Number(row.number), Number(row.built_to));
  }

  /**
   * Replaces the words of a resource that changes from one text to another (`null`: it is deleted). The next statement on the
   * connection must be an insert: after a delete from an FTS5 table, the last rowid is too large for the result of `run`.
   */
  update(
    { number, search, numbers }: NumberedCollection,
    key: number,
    { before, next }: { before?: string | undefined; next: string | null },
  ): void {
    if (search.length === 0) return;
    const builtTo = numbers.building?.words === undefined ? undefined : this.#builtTo.get(number);
    if (builtTo !== undefined && key > builtTo) return; // a step will add it
    const { put, remove } = this.#statementsOf(number);
    if (next === null) {
      remove.run(key);
      return;
    }
    const words = joinedWords(next, search);
    if (before === undefined || words !== joinedWords(before, search)) put.run(key, words);
  }

  #statementsOf(number: number): Statements {
    const known = this.#statements.get(number);
    if (known !== undefined) return known;
    const table = searchTable(number);
    const put = this.#database.prepare(`insert or replace into ${table} (rowid, words) values (?, ?)`);
    const remove = this.#database.prepare(`delete from ${table} where rowid = ?`);
    remove.setReadBigInts(true);
    const statements = { put, remove };
    this.#statements.set(number, statements);
    return statements;
  }
}

function joinedWords(text: string, paths: readonly Path[]): string {
  return searchedWords(JSON.parse(text), paths).join(" ");
}
