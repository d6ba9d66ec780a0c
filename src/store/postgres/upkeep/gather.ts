/** Has the words of collections gathered for search, beside everything else: what a new declaration asks for takes a while. */
import type { Path } from "../../../collection/paths.ts";
import { wordsVersion } from "../../../query/words.ts";
import { replaceWords } from "../commit/words.ts";
import type { Connections } from "../connection/connections.ts";
import { smallWrite, type Transaction, transact } from "../connection/transaction.ts";
import type { Catalogue } from "../tables/catalogue.ts";
import { lockHeads } from "../tables/statements.ts";
import { deleteAllWords, gatherAnew, lockAfter, noteGathered, selectUngathered } from "./statements.ts";

/** Resources whose words are gathered in one transaction: others wait meanwhile to change them. */
const slice = 500;

/** Gathers some more words, if any are left. Gives whether there may be more. `onOutdated` hears of words that another version made. */
export async function gatherSome(
  connections: Connections,
  catalogue: Catalogue,
  onOutdated: () => void = () => {},
): Promise<boolean> {
  const { rows } = await connections.run(selectUngathered(wordsVersion));
  for (const [number, from, version] of rows) {
    const collection = catalogue.byNumber.get(Number(number));
    if (collection === undefined || collection.search.length === 0) continue;
    const { search } = collection;
    const isRelated = catalogue.relatedTo(collection).length > 0;
    if (version !== null && version !== wordsVersion) onOutdated();
    await transact(connections, smallWrite, async (transaction) => {
      if (isRelated) await transaction.run(lockHeads([collection.number])); // as its writers begin
      if (version !== wordsVersion) await restart(transaction, collection.number);
      else await gatherSlice(transaction, { number: collection.number, search, from: String(from) });
    });
    return true;
  }
  return false;
}

/** Forgets words that another version of the program made. */
async function restart(transaction: Transaction, number: number): Promise<void> {
  await transaction.run(lockHeads([number]));
  await transaction.run(deleteAllWords(number));
  await transaction.run(gatherAnew(number, wordsVersion));
}

/** Gathers the words of resources after a key. The resources are locked, and then their head, as every writer does it. */
export async function gatherSlice(
  transaction: Transaction,
  { number, search, from }: { number: number; search: readonly Path[]; from: string },
): Promise<void> {
  const { rows } = await transaction.run(lockAfter(number, from, slice));
  const put = rows.map(([key, , , text]) => ({ key: String(key), text: String(text) }));
  const gone = put.map(({ key }) => key);
  const words = await replaceWords(transaction, { number, search, gone, put });
  const to = rows.length < slice ? null : String(rows.at(-1)?.[0]);
  const { count } = await transaction.run(noteGathered(number, { from, to, words }));
  if (count === 0) throw new Error("Another instance has gathered these words.");
}
