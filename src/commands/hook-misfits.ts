/** Finds the stored resources that the hooks of their collection would refuse today, for `holdfast check --hooks`. */
import type { Collection } from "../collection/collection.ts";
import { type CollectionHooks, type HooksOfRequest, hookRefusals } from "../collection/write-hooks.ts";
import type { Violation } from "../errors.ts";
import type { Misfits } from "../fit.ts";
import { openTemporaryDatabase } from "../store/core/temporary-database.ts";
import type { StoreReader } from "../store/open.ts";
import type { Stored } from "../store/port/stored.ts";

/** For so many resources, hooks run at once. */
const atOnce = 100;

/**
 * Lets hooks judge each resource of a collection, as if an earlier state came back. The related resources that they can ask for are in a
 * temporary file, so that memory stays flat. Throws CODE_FAILED.
 */
export async function findHookMisfits(
  reader: StoreReader,
  collection: Collection,
  { hooks, maxListed }: { hooks: CollectionHooks; maxListed: number },
): Promise<Misfits> {
  const related = openTemporaryDatabase(
    "create table related (collection text, id text, text text, primary key (collection, id)) without rowid",
  );
  const insert = related.prepare("insert into related values (?, ?, ?)");
  const find = related.prepare("select text from related where collection = ? and id = ?");
  const write: HooksOfRequest["write"] = {
    collection,
    canRead: true,
    caller: undefined,
    now: Date.now(),
    // Each resource has as much time as a request of its own.
    get request() {
      return { id: "check" };
    },
    read: async (key) => find.get(key.collection, key.id)?.text as string | undefined,
  };
  const judge = async ({ id, text }: Stored) => ({
    id,
    violations: await hookRefusals(text, { operation: "restore", id, previous: undefined }, { hooks, write }),
  });
  const found = { checked: 0, count: 0, first: [] as { id: string; violations: readonly Violation[] }[] };
  const judgeAll = async (resources: readonly Stored[]) => {
    const refused = (await Promise.all(resources.map(judge))).filter(
      ({ violations }) => violations.length > 0,
    );
    found.checked += resources.length;
    found.count += refused.length;
    found.first.push(...refused.slice(0, maxListed - found.first.length));
  };
  try {
    const targets = [...new Set(collection.references.map((each) => each.collection))];
    let place = 0;
    let waiting: Stored[] = [];
    for await (const each of reader.scanEach([...targets, collection.name], (next) => (place = next))) {
      const target = targets[place];
      if (target !== undefined) insert.run(target, each.id, each.text);
      else if (waiting.push(each) === atOnce) {
        await judgeAll(waiting);
        waiting = [];
      }
    }
    await judgeAll(waiting);
  } finally {
    related.close();
  }
  return found;
}
