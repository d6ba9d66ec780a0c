/**
 * The SQL of full-text search: creates the FTS5 table of words, and searches it. The rowid is the key of the resource.
 * `../writer/search-tables.ts` fills the table. `wordsOf` has already split and folded the words, so SQLite must not do it
 * again.
 */
import type { SearchTerms } from "../../../query/search-words.ts";
import { bind, literalsSql, type Scope, type SearchSql } from "../../core/list-sql.ts";
import { resourcesTable } from "../file/tables.ts";

/** The name of the table of words. */
export function searchTable(number: number): string {
  return `search_${number}`;
}

/**
 * The statement that creates the table of words. The table contains only an index, not the texts. The tokenizer `ascii` does
 * not change the words: it splits at ASCII characters that no word contains, and lowers ASCII capitals, which no word
 * contains either.
 *
 * The table has no prefix indexes. With 200,000 resources, writes took 1.5 times as long with them, and the table more than
 * twice the space. Only searches for common prefixes became a little faster.
 */
export function searchDdl(number: number): string {
  return `create virtual table ${searchTable(number)}
    using fts5(words, content='', contentless_delete=1, tokenize='ascii')`;
}

/** The search for resources that contain all terms. */
export function searchSql(terms: SearchTerms, scope: Scope): SearchSql {
  const { collection, table } = scope;
  const found = searchTable(collection.number);
  const readsTexts = terms.literals.length > 0;
  return {
    with: "",
    // `cross join` fixes the order. Otherwise SQLite could read every resource and look it up in the result of the search.
    from: `${found} cross join ${resourcesTable(collection.number)} as ${table} on ${table}.key = ${found}.rowid`,
    where: [
      `${found} match ${bind(scope, patternOf(terms), "text")}`,
      ...(readsTexts ? [literalsSql(terms, scope)] : []),
    ],
    order: { sql: `bm25(${found})`, descending: false },
    readsTexts,
  };
}

/** What the table searches for. Quotes turn off the query syntax of FTS5. Words contain only letters and digits, so nothing is escaped. */
export function patternOf({ beginnings, whole }: Omit<SearchTerms, "literals">): string {
  return [...beginnings.map((word) => `"${word}"*`), ...whole.map((word) => `"${word}"`)].join(" ");
}
