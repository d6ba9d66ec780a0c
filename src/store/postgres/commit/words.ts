/** Keeps the search words in step with the resources, in the same transaction. */
import type { StagedResource } from "../../core/commits/staged-changes.ts";
import { searchedWords } from "../../core/search-index.ts";
import type { Plan } from "../../sql/plans.ts";
import { askRows } from "../postgres-dialect.ts";
import type { NumberedCollection } from "../tables/declared-catalogue.ts";
import { keyOf } from "../tables/id-keys.ts";
import { deleteWords, insertWords, type WordRow } from "./statements.ts";

/** Replaces the words of changed resources. Returns how much the number of words grows. */
export function writeWords(
  { number, idKind, search }: NumberedCollection,
  changed: readonly StagedResource[],
): Plan<number> {
  const gone = changed.filter(({ before }) => before !== undefined).map(({ id }) => keyOf(idKind, id));
  const rows = changed.flatMap(({ id, now }) =>
    now === undefined ? [] : wordRows(keyOf(idKind, id), searchedWords(JSON.parse(now.text), search)),
  );
  return replaceWords(number, gone, rows);
}

/** Deletes the words of the resources in `gone`, and adds rows. Returns how much the number of words grows. */
export function* replaceWords(
  number: number,
  gone: readonly string[],
  rows: readonly WordRow[],
): Plan<number> {
  const deletes = gone.length === 0 ? [] : [deleteWords(number, gone)];
  // Only the delete returns rows.
  const removed = yield* askRows([...deletes, ...insertWords(number, rows)]);
  const removedTotals = removed.filter(([word]) => word === "");
  return sumOf(rows) - removedTotals.reduce((sum, [, times]) => sum + Number(times), 0);
}

/** The rows of the words of a resource. */
export function wordRows(key: string, words: readonly string[]): WordRow[] {
  const times = new Map<string, number>();
  for (const word of words) times.set(word, (times.get(word) ?? 0) + 1);
  const rows = [...times].map(([word, count]) => ({ word, key, times: count }));
  return [{ word: "", key, times: words.length }, ...rows];
}

function sumOf(rows: readonly WordRow[]): number {
  return rows.reduce((sum, { word, times }) => (word === "" ? sum + times : sum), 0);
}
