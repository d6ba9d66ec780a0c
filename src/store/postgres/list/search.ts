/** Full-text search in SQL, with a table of words for each collection. It ranks resources with BM25, as SQLite does. */
import { withoutImpliedWords } from "../../core/search-index.ts";
import { resourcesTable, wordsTable } from "../tables/tables.ts";
import { bind, type SqlScope } from "./parameters.ts";

/** The parts of a statement that a search adds. */
export interface SearchSql {
  /** The `with` clause: the resources that contain each of the words. */
  with: string;
  /** The `from` clause: the resources that contain all of the words. */
  from: string;
  /** The score of a resource. A better match has a greater score. */
  score: string;
}

/** The parameters of BM25, with SQLite's values. */
const k1 = 1.2;
const b = 0.75;

/** Greater than every character of a word. */
const lastCharacter = "\u{10ffff}";

/**
 * The search for resources that contain, for each of the words, a word that starts with it. Needs at least one word.
 */
export function searchSql(number: number, words: readonly string[], scope: SqlScope): SearchSql {
  const table = wordsTable(number);
  const searched = withoutImpliedWords(words);
  const hits = searched.map((word, n) => {
    const range = `word >= ${bind(scope, word, "text")} and word < ${bind(scope, word + lastCharacter, "text")}`;
    return `hits_${n} as (select key, sum(times)::float8 as times from ${table} where ${range} group by key)`;
  });
  const weights = searched.map(
    (_, n) => `(select greatest(ln((head.count - found + 0.5) / (found + 0.5)), 0.000001)
      from (select count(*)::float8 as found from hits_${n}) as counted)`,
  );
  const state = `words_state as (select ${weights.map((sql, n) => `${sql} as weight_${n}`).join(", ")},
    head.words::float8 / greatest(head.count, 1) as average
    from holdfast_heads as head where head.number = ${number})`;
  const joined = searched.map((_, n) => `join hits_${n} on hits_${n}.key = resource.key`).join(" ");
  const length = `join ${table} as length on length.word = '' and length.key = resource.key`;
  return {
    with: `with ${[...hits, state].join(", ")}`,
    from: `${resourcesTable(number)} as resource ${joined} ${length} cross join words_state`,
    score: searched.map((_, n) => scoreOf(n)).join(" + "),
  };
}

function scoreOf(n: number): string {
  const share = `${1 - b} + ${b} * length.times / words_state.average`;
  const times = `hits_${n}.times`;
  return `weight_${n} * (${times} * ${k1 + 1}) / (${times} + ${k1} * (${share}))`;
}
