/** Reads that all see the same state of the database. */
import type { Connections, Statement, StatementResult } from "./connections.ts";
import { type Transaction, transact, transactionModes } from "./transaction.ts";

/** The state of the database at one time, on a separate connection. */
export interface Snapshot {
  run(statement: Statement): Promise<StatementResult>;
  /** Releases the connection. */
  end(): Promise<void>;
}

/** Opens a snapshot of what is committed when its first statement runs. */
export async function openSnapshot(connections: Connections): Promise<Snapshot> {
  const ended = Promise.withResolvers<void>();
  const started = Promise.withResolvers<Transaction>();
  const work = transact(connections, transactionModes.snapshot, async (transaction) => {
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
