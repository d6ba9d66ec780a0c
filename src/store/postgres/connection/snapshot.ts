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
  const ended = Promise.withResolvers<void>();
  const started = Promise.withResolvers<Transaction>();
  const work = transact(connections, beginnings.snapshot, async (transaction) => {
    started.resolve(transaction);
    await ended.promise;
  });
  work.catch(started.reject);
  const transaction = await started.promise;
  return {
    run: (statement) => transaction.run(statement),
    async end() {
      ended.resolve();
      await work.catch(() => {}); // the reads have thrown the error
    },
  };
}
