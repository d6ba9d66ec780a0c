/** Moves the log into the file once it is long. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { describeError, failureOf } from "../file/failures.ts";
import type { Transactions } from "./transactions.ts";

/** Pages in the log after which they are moved into the file. */
const checkpointPages = 1_000;

/** Commits after which it is looked whether it is long: to look takes as long as to write one. */
const lookEvery = 32;

/** The checkpoints of the connection that writes. */
export class Checkpoints {
  readonly #database: DatabaseSync;
  readonly #transactions: Transactions;
  readonly #state: StatementSync;
  #pagesTried = 0;
  #commits = 0;

  constructor(database: DatabaseSync, transactions: Transactions) {
    this.#database = database;
    this.#transactions = transactions;
    this.#state = database.prepare("pragma wal_checkpoint(noop)");
  }

  /** Does as much as can be done beside those who read, where it is worth it. `commits`: how many have been written since. */
  runIfDue(commits = lookEvery): void {
    this.#commits += commits;
    if (this.#commits < lookEvery) return;
    this.#commits = 0;
    if (this.#transactions.failure !== undefined || this.#transactions.isKeptOpen) return;
    try {
      const { log, checkpointed } = this.#state.get() as { log: number; checkpointed: number };
      if (log < this.#pagesTried) this.#pagesTried = 0; // the log began anew
      const left = log - Math.max(checkpointed, this.#pagesTried);
      if (left < checkpointPages) return;
      this.#database.exec("pragma wal_checkpoint(passive)");
      this.#pagesTried = log;
    } catch (error) {
      // Full: the log holds everything and the next time may do. Anything else means that the disk fails.
      if (failureOf(error) === "broken") this.#transactions.failure = describeError(error);
    }
  }
}
