/** What a walk reads in a database (`store/core/walk.ts`). Each slice is a transaction of its own. */
import type { WalkedStore } from "../../core/walk.ts";
import type { Connections } from "../connection/connections.ts";
import { transact, transactionModes } from "../connection/transaction.ts";
import { historyOf, logPlans } from "../postgres-dialect.ts";
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
          changes: (collection, after, limit) =>
            transaction.runPlan(historyOf(collection).keysAfter(after, limit)),
        });
      }),
  };
}
