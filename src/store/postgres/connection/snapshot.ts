/** Reads that all see the same state of the database. */
import type { Connections, Outcome, Statement } from "./connections.ts";
import { beginnings, type Transaction, transact } from "./transaction.ts";

/** The state of the database at one time, on a separate connection. */
export interface Snapshot {
  run(statement: Statement): Promise<Outcome>;
  /** Releases the connection. */
  end(): Promise<void>;
}

/** Opens a snapshot of what is committed when its first statement runs. */
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
      await whole.catch(() => {}); // the reads have thrown it
    },
  };
}
