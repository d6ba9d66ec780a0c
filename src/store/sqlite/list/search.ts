/**
 * Search in SQL. The words of each resource are in a full-text table beside the table of resources, under the resource's
 * key. Splitting and folding are done by `wordsOf`; SQLite must not do it again.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Problem } from "../../../errors.ts";
import { wordsVersion } from "../../../query/words.ts";
import { withoutImpliedWords } from "../../searched-words.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { resourcesTable } from "../file/tables.ts";

/** A search as a part of a statement. */
export interface SearchSql {
  /** The table of words, which is enough to count by: it has each resource once. */
  table: string;
  /** The resources that are found: what stands between `from` and `where`. No index can be named for them. */
  from: string;
  /** What must be true; it has one value, `pattern`. */
  where: string;
  pattern: string;
  /** What puts those first that match best. */
  order: string;
}

/** The name of the table of a collection's words. */
export function searchTable(number: number): string {
  return `search_${number}`;
}

/**
 * The table of a collection's words, which keeps an index of them and no text. The tokenizer `ascii` splits at what is
 * neither a letter nor a digit in ASCII and lowers its capitals: of words there are none of either, and what is beyond
 * ASCII it leaves alone. Measured at 200,000 resources, indexes of prefixes cost half as much again to write and more
 * than twice the room, and make common beginnings alone a little quicker.
 */
export function searchDdl(number: number): string {
  return `create virtual table ${searchTable(number)}
    using fts5(words, content='', contentless_delete=1, tokenize='ascii')`;
}

/** How words are looked for: each is there, or a word that begins with it. At least one. */
export function searchSql(number: number, words: readonly string[]): SearchSql {
  const table = searchTable(number);
  return {
    table,
    // In this order: the other way round, SQLite would look up each resource among those that are found.
    from: `${table} cross join ${resourcesTable(number)} on key = ${table}.rowid`,
    where: `${table} match ?`,
    pattern: patternOf(words),
    order: `bm25(${table})`,
  };
}

/** Words are letters and digits, so that quotes are all it takes for them to be nothing but words. */
function patternOf(words: readonly string[]): string {
  return withoutImpliedWords(words)
    .map((word) => `"${word}"*`)
    .join(" ");
}

/** Tells whether a collection's words are all in its table, on one connection. */
export class SearchState {
  readonly #find: StatementSync;

  constructor(database: DatabaseSync) {
    this.#find = database.prepare(
      "select 1 from searches where number = ? and words_version = ? and indexed_to is null",
    );
  }

  /** Throws UNAVAILABLE while the words are still being gathered. Call it in the snapshot that is searched. */
  requireWhole({ number, name, search }: NumberedCollection): void {
    if (search.length === 0) throw new Error(`No attributes of ${name} are declared to be searched.`);
    if (this.#find.get(number, wordsVersion) !== undefined) return;
    throw new Problem("UNAVAILABLE", "The search index of the collection is not complete yet. Try again.");
  }
}
