/** SQL for work in the background: reading and removing old changes, and building search indexes. */
import type { Statement } from "../connection/connections.ts";
import { selectAfter } from "../tables/statements.ts";
import { resourcesTable, wordsTable } from "../tables/tables.ts";

/** Reads the resources after a key, as `selectAfter` does, and locks them. */
export function lockAfter(number: number, after: string, limit: number): Statement {
  const { sql, values = [] } = selectAfter(number, after, limit);
  return { sql: `${sql} for update`, values };
}

/** The sizes of resources after a key, in bytes. */
export function selectSizesAfter(number: number, after: string, limit: number): Statement {
  return {
    sql: `select size from ${resourcesTable(number)} where key > $1::text order by key limit $2::bigint`,
    values: [after, limit],
  };
}

/**
 * The collections whose search words are incomplete or of another version, each with the key up to which words are
 * indexed.
 */
export function selectIncompleteIndexes(version: string): Statement {
  return {
    sql: `select number, gathered_to, words_version from holdfast_heads
      where gathered_to is not null or words_version <> $1::text order by number`,
    values: [version],
  };
}

/** Starts to index the search words of a collection from the beginning. */
export function restartIndex(number: number, version: string): Statement {
  return {
    sql: "update holdfast_heads set words = 0, gathered_to = '', words_version = $2::text where number = $1::integer",
    values: [number, version],
  };
}

/** Records that a collection has no search words. */
export function clearIndex(number: number): Statement {
  return {
    sql: "update holdfast_heads set words = 0, gathered_to = null, words_version = null where number = $1::integer",
    values: [number],
  };
}

/**
 * Records that words were indexed from one key to another, or to the end (null). Returns no row if another
 * instance has recorded it first.
 */
export function noteIndexed(
  number: number,
  indexed: { from: string; to: string | null; words: number },
): Statement {
  return {
    sql: `update holdfast_heads set words = words + $4::bigint, gathered_to = $3::text
      where number = $1::integer and gathered_to = $2::text returning number`,
    values: [number, indexed.from, indexed.to, indexed.words],
  };
}

/** Deletes all search words of a collection. */
export function deleteAllWords(number: number): Statement {
  return { sql: `delete from ${wordsTable(number)}` };
}
