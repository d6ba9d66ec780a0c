/** Checkpoints: they move the pages of a long write-ahead log (WAL) into the database file. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { clockSeconds } from "../../../counters.ts";
import type { CommitMeter } from "../../commit-meter.ts";
import { describeError, failureOf } from "../file/failures.ts";
import type { Transactions } from "./transactions.ts";

/** The number of pages in the log that makes a checkpoint due. */
const checkpointPages = 1_000;

/** The number of commits between two checks of the log. A check takes as long as a commit. */
const commitsPerCheck = 32;

/** Makes checkpoints on the writer's connection. */
export class Checkpoints {
  readonly #database: DatabaseSync;
  readonly #transactions: Transactions;
  readonly #state: StatementSync;
  readonly #meter: CommitMeter | undefined;
  #pagesTried = 0;
  #commits = 0;

  /** `meter` counts the checkpoints, if there is one. */
  constructor(database: DatabaseSync, transactions: Transactions, meter: CommitMeter | undefined) {
    this.#meter = meter;
    this.#database = database;
    this.#transactions = transactions;
    this.#state = database.prepare("pragma wal_checkpoint(noop)");
  }

  /** Makes a checkpoint if the log is long. Does not wait for readers. `commits`: how many there were since the last call. */
  runIfDue(commits = commitsPerCheck): void {
    this.#commits += commits;
    if (this.#commits < commitsPerCheck) return;
    this.#commits = 0;
    if (this.#transactions.failure !== undefined || this.#transactions.isKeptOpen) return;
    try {
      const { log, checkpointed } = this.#state.get() as { log: number; checkpointed: number };
      if (log < this.#pagesTried) this.#pagesTried = 0; // SQLite has restarted the log
      const left = log - Math.max(checkpointed, this.#pagesTried);
      if (left < checkpointPages) return;
      const start = this.#meter === undefined ? 0 : clockSeconds();
      this.#database.exec("pragma wal_checkpoint(passive)");
      this.#meter?.checkpoints.observe(clockSeconds() - start);
      this.#pagesTried = log;
    } catch (error) {
      // If the disk is full, the log still contains everything, and a later checkpoint can succeed.
      if (failureOf(error) === "broken") this.#transactions.failure = describeError(error);
    }
  }
}
