/** What a walk reads in a store's file (`store/core/walk.ts`). Each slice is a transaction of its own. */
import type { DatabaseSync } from "node:sqlite";
import { entryChanges } from "../../core/order-keys.ts";
import type { SliceReads, WalkedStore } from "../../core/walk.ts";
import { readCatalogue } from "../file/catalogue.ts";
import { entriesTable, resourcesTable, toSqliteId } from "../file/tables.ts";
import { historyOf, logPlans, PlanRunner } from "../sqlite-dialect.ts";
import { SqliteContents } from "./contents.ts";

/** The rows of the file at `path`, on a connection that nothing else uses. Throws the errors of SQLite. */
export function walkedFile(path: string, database: DatabaseSync): WalkedStore {
  const contents = new SqliteContents(path, database);
  const plans = new PlanRunner(database);
  const reads = {
    collections: async () => [...readCatalogue(database).values()],
    items: async (...args: Parameters<SqliteContents["readItems"]>) => contents.readItems(...args),
    counts: async ({ number }: { number: number }) => plans.run(logPlans.counts(number)),
    misindexed: async (...[{ name }, resources]: Parameters<SliceReads["misindexed"]>) => {
      const collection = readCatalogue(database).get(name); // as in this snapshot
      if (collection === undefined || collection.slots.length === 0) return [];
      const { number, idKind, slots } = collection;
      const entry = database.prepare(
        `select 1 from ${entriesTable(number)} as entry cross join ${resourcesTable(number)} as resource on resource.key = entry.row
         where entry.slot = ? and entry.k = ? and resource.id = ?`,
      );
      const hasEntries = ({ id, text }: { id: string; text: string }) =>
        entryChanges(slots, undefined, text).every(
          ({ slot, added }) => entry.get(slot, added as Buffer, toSqliteId(idKind, id)) !== undefined,
        );
      return resources.filter((each) => !hasEntries(each)).map(({ id }) => id);
    },
    changes: async (...[collection, after, limit]: Parameters<SliceReads["changes"]>) =>
      plans.run(historyOf(collection).keysAfter(after, limit)),
  } satisfies SliceReads;
  return {
    async slice(work) {
      database.exec("begin");
      try {
        return await work(reads);
      } finally {
        database.exec("commit");
      }
    },
  };
}
