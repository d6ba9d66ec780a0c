/** Builds the search indexes of collections in the background: a new search setting takes a while on many resources. */
import { wordsVersion } from "../../../query/words.ts";
import { decideAsync } from "../../core/decision.ts";
import { continueIndex, type SearchIndex } from "../../core/search-index.ts";
import { replaceWords } from "../commit/words.ts";
import type { Connections } from "../connection/connections.ts";
import { smallWrite, type Transaction, transact } from "../connection/transaction.ts";
import type { Catalogue, NumberedCollection } from "../tables/catalogue.ts";
import { lockHeads } from "../tables/statements.ts";
import {
  deleteAllWords,
  lockAfter,
  noteIndexed,
  restartIndex,
  selectIncompleteIndexes,
  selectSizesAfter,
} from "./statements.ts";

/** Takes one step, if an index is not complete. Returns whether there may be more. Calls `onOutdated` for words of another version. */
export async function buildSearchIndexes(
  connections: Connections,
  catalogue: Catalogue,
  onOutdated: () => void = () => {},
): Promise<boolean> {
  const { rows } = await connections.run(selectIncompleteIndexes(wordsVersion));
  for (const [number, to, version] of rows) {
    const collection = catalogue.byNumber.get(Number(number));
    if (collection === undefined || collection.search.length === 0) continue;
    if (version !== wordsVersion) onOutdated();
    await transact(connections, smallWrite, async (transaction) => {
      if (catalogue.relatedTo(collection).length > 0) await transaction.run(lockHeads([collection.number])); // as its writers begin
      const index = searchIndexOf(transaction, collection);
      await decideAsync(continueIndex(String(version), to ?? null), index);
    });
    return true;
  }
  return false;
}

/** The search index of a collection in a transaction. Locks resources before the head, as every writer does. */
export function searchIndexOf(
  transaction: Transaction,
  { number, search }: NumberedCollection,
): SearchIndex<string> {
  return {
    async clear() {
      await transaction.run(lockHeads([number]));
      await transaction.run(deleteAllWords(number));
      await transaction.run(restartIndex(number, wordsVersion));
      return "";
    },
    async sizesAfter(key, limit) {
      const { rows } = await transaction.run(selectSizesAfter(number, key, limit));
      return rows.map(([size]) => Number(size));
    },
    async resourcesAfter(after, limit) {
      const { rows } = await transaction.run(lockAfter(number, after, limit));
      return rows.map(([key, , , text]) => ({ key: String(key), text: String(text) }));
    },
    async add(put, { from, to }) {
      const gone = put.map(({ key }) => key);
      const words = await replaceWords(transaction, { number, search, gone, put });
      const { rows } = await transaction.run(noteIndexed(number, { from, to, words }));
      if (rows.length === 0) throw new Error("Another instance has indexed these words.");
    },
  };
}
