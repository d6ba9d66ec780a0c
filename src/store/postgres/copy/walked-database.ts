/** What a walk reads in a database (`store/core/walk.ts`). Each slice is a transaction of its own. */
import type { WalkedStore } from "../../core/walk.ts";
import { texts } from "../connection/arrays.ts";
import type { Connections } from "../connection/connections.ts";
import { transact, transactionModes } from "../connection/transaction.ts";
import { historyOf, logPlans } from "../postgres-dialect.ts";
import { idOf, keyOf } from "../tables/id-keys.ts";
import { keysOf } from "../tables/indexes.ts";
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
            const { number, idKind, numbers } = collection;
            if (numbers.used.length === 0) return [];
            const differs = numbers.used.map(
              (slot) => `resource.keys[${slot}] is distinct from (wanted.keys::bytea[])[${slot}]`,
            );
            const { rows } = await transaction.run({
              sql: `select key from unnest($1::text[], $2::text[]) as wanted (key, keys)
                join ${resourcesTable(number)} as resource using (key) where ${differs.join(" or ")}`,
              values: [
                texts(resources.map(({ id }) => keyOf(idKind, id))),
                texts(resources.map(({ text }) => keysOf(collection, text))),
              ],
            });
            return rows.map(([key]) => idOf(idKind, String(key)));
          },
          changes: (collection, after, limit) =>
            transaction.runPlan(historyOf(collection).keysAfter(after, limit)),
        });
      }),
  };
}
