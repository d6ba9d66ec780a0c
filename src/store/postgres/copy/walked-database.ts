/** What a walk reads in a database (`store/core/walk.ts`). Each slice is a transaction of its own. */
import { entryChanges } from "../../core/entries.ts";
import type { WalkedStore } from "../../core/walk.ts";
import { texts } from "../connection/arrays.ts";
import type { Connections } from "../connection/connections.ts";
import { transact, transactionModes } from "../connection/transaction.ts";
import { historyOf, logPlans } from "../postgres-dialect.ts";
import { keyOf } from "../tables/id-keys.ts";
import { keySql } from "../tables/indexes.ts";
import { resourcesTable } from "../tables/tables.ts";
import { PostgresContents } from "./contents.ts";

/** The rows of the store on these connections. */
export function walkedDatabase(connections: Connections): WalkedStore {
  return {
    slice: (work) =>
      transact(connections, transactionModes.snapshot, async (transaction) => {
        const contents = new PostgresContents((statement) => transaction.run(statement));
        await contents.reloadCatalogue();
        return work({
          collections: async () => [...contents.catalogue.byNumber.values()],
          items: (...args) => contents.items(...args),
          counts: ({ number }) => transaction.runPlan(logPlans.counts(number)),
          misindexed: async ({ name }, resources) => {
            const collection = contents.find(name); // as in this snapshot
            const { number, idKind, slots } = collection;
            if (slots.length === 0) return [];
            const { rows } = await transaction.run({
              sql: `select key, ${slots.map(({ slot }) => `encode(${keySql(slot)}, 'hex')`).join(", ")}
                from ${resourcesTable(number)} where key = any($1::text[])`,
              values: [texts(resources.map(({ id }) => keyOf(idKind, id)))],
            });
            const known = new Map(rows.map(([key, ...keys]) => [String(key), keys]));
            const hasKeys = ({ id, text }: { id: string; text: string }) =>
              entryChanges(slots, undefined, text).every(
                ({ added }, n) => known.get(keyOf(idKind, id))?.[n] === added?.toString("hex"),
              );
            return resources.filter((each) => !hasKeys(each)).map(({ id }) => id);
          },
          changes: (collection, after, limit) =>
            transaction.runPlan(historyOf(collection).keysAfter(after, limit)),
        });
      }),
  };
}
