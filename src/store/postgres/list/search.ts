/** Search in SQL, over a collection's table of words; in the order that SQLite's full-text search gives (BM25). */
import { withoutImpliedWords } from "../../searched-words.ts";
import { resourcesTable, wordsTable } from "../tables/tables.ts";
import { bind, type Scope } from "./parameters.ts";

/** A search as a part of a statement. */
export interface SearchSql {
  /** What stands before `select`: the resources that have each of the words. */
  with: string;
  /** The resources that are found: what stands between `from` and `where`. */
  from: string;
  /** Greater for those that match better. */
  score: string;
}

/** The parameters of BM25, as SQLite has them. */
const saturation = 1.2;
const lengthShare = 0.75;

/** Above every character that a word may have. */
const aboveAll = "\u{10ffff}";

/** How words are looked for: each is there, or a word that begins with it. At least one. */
export function searchSql(number: number, words: readonly string[], scope: Scope): SearchSql {
  const table = wordsTable(number);
  const telling = withoutImpliedWords(words);
  const hits = telling.map((word, n) => {
    const range = `word >= ${bind(scope, word, "text")} and word < ${bind(scope, word + aboveAll, "text")}`;
    return `hits_${n} as (select key, sum(times)::float8 as times from ${table} where ${range} group by key)`;
  });
  const weights = telling.map(
    (_, n) => `(select greatest(ln((head.count - found + 0.5) / (found + 0.5)), 0.000001)
      from (select count(*)::float8 as found from hits_${n}) as counted)`,
  );
  const state = `words_state as (select ${weights.map((sql, n) => `${sql} as weight_${n}`).join(", ")},
    head.words::float8 / greatest(head.count, 1) as average
    from holdfast_heads as head where head.number = ${number})`;
  const joined = telling.map((_, n) => `join hits_${n} on hits_${n}.key = resource.key`).join(" ");
  const length = `join ${table} as length on length.word = '' and length.key = resource.key`;
  return {
    with: `with ${[...hits, state].join(", ")}`,
    from: `${resourcesTable(number)} as resource ${joined} ${length} cross join words_state`,
    score: telling.map((_, n) => scoreOf(n)).join(" + "),
  };
}

function scoreOf(n: number): string {
  const share = `${1 - lengthShare} + ${lengthShare} * length.times / words_state.average`;
  const times = `hits_${n}.times`;
  return `weight_${n} * (${times} * ${saturation + 1}) / (${times} + ${saturation} * (${share}))`;
}
