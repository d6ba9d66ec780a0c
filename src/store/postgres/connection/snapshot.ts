/** Reads that belong together, over as long as it takes. */
import type { Connections, Outcome, Statement } from "./connections.ts";
import { beginnings, type Transaction, transact } from "./transaction.ts";

/** What was committed at one moment, on a connection of its own. */
export interface Snapshot {
  run(statement: Statement): Promise<Outcome>;
  /** Gives the connection back. */
  end(): Promise<void>;
}

/** Opens a snapshot of what is committed when the first statement runs. */
export async function openSnapshot(connections: Connections): Promise<Snapshot> {
  const ending = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<Transaction>();
  const whole = transact(connections, beginnings.snapshot, async (transaction) => {
    begun.resolve(transaction);
    await ending.promise;
  });
  whole.catch(begun.reject);
  const transaction = await begun.promise;
  return {
    run: (statement) => transaction.run(statement),
    async end() {
      ending.resolve();
      await whole.catch(() => {}); // whoever read was told
    },
  };
}
