/** Keeps the tables of words as the resources are, in the transactions that change them. */
import type { Path } from "../../../collection/paths.ts";
import type { StagedResource } from "../../commits/staged-changes.ts";
import { searchedWords } from "../../searched-words.ts";
import type { Transaction } from "../connection/transaction.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { keyOf } from "../tables/id-keys.ts";
import { deleteWords, insertWords, type WordRow } from "./statements.ts";

/** Puts the words of what has changed in the place of those before. Gives how many words more there are. */
export async function writeWords(
  collection: NumberedCollection,
  changed: readonly StagedResource[],
  transaction: Transaction,
): Promise<number> {
  const { number, idKind, search } = collection;
  const put = changed.flatMap(({ id, now }) =>
    now === undefined ? [] : [{ key: keyOf(idKind, id), text: now.text }],
  );
  const before = changed.filter(({ before }) => before !== undefined);
  return replaceWords(transaction, {
    number,
    search,
    gone: before.map(({ id }) => keyOf(idKind, id)),
    put,
  });
}

/** Forgets the words of some resources and notes those of others. Gives how many words more there are. */
export async function replaceWords(
  transaction: Transaction,
  {
    number,
    search,
    gone,
    put,
  }: {
    number: number;
    search: readonly Path[];
    gone: readonly string[];
    put: readonly { key: string; text: string }[];
  },
): Promise<number> {
  const rows = put.flatMap(({ key, text }) => wordRows(key, searchedWords(text, search)));
  const [removed] = await Promise.all([
    gone.length === 0 ? undefined : transaction.run(deleteWords(number, gone)),
    rows.length === 0 ? undefined : transaction.run(insertWords(number, rows)),
  ]);
  const before = (removed?.rows ?? []).filter(([word]) => word === "");
  return totalOf(rows) - before.reduce((sum, [, times]) => sum + Number(times), 0);
}

function wordRows(key: string, words: readonly string[]): WordRow[] {
  const times = new Map<string, number>();
  for (const word of words) times.set(word, (times.get(word) ?? 0) + 1);
  const rows = [...times].map(([word, count]) => ({ word, key, times: count }));
  return [{ word: "", key, times: words.length }, ...rows];
}

function totalOf(rows: readonly WordRow[]): number {
  return rows.reduce((sum, { word, times }) => (word === "" ? sum + times : sum), 0);
}
