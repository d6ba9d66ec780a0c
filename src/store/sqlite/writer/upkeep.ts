/** Maintenance of the file between writes: checkpoints, indexes, removal of old data, and tidying up at the end. */
import type { DatabaseSync } from "node:sqlite";
import { clockSeconds } from "../../../counters.ts";
import type { StepReport } from "../../core/building.ts";
import { Retention } from "../../core/log-plans.ts";
import type { CommitMeter } from "../../port/commit-meter.ts";
import type { History } from "../../port/options.ts";
import { describeError, failureOf, InvalidStateError } from "../file/failures.ts";
import { createLogReader, duePages, type LogState, mostWriterPages } from "../file/log-state.ts";
import { storePlans } from "../sqlite-dialect.ts";
import type { TaskParts } from "./commits.ts";
import type { Transactions } from "./transactions.ts";

/** The limits of one step in the change logs. No write happens during a step. */
const stepLimits = { changes: 100, bytes: 256 * 1024 };

/** Maintains the file in small steps. */
export class Upkeep {
  readonly #parts: TaskParts;
  readonly #retention: Retention;

  constructor(parts: TaskParts, history: History) {
    this.#parts = parts;
    this.#retention = new Retention(storePlans.logs, history, stepLimits);
  }

  /** Builds the next part of indexes and search words. Returns what it did; `undefined`: everything is complete. */
  buildNext(): StepReport | undefined {
    this.#requireNoImport();
    return this.#parts.declarations.buildNext();
  }

  /** Removes some expired receipts or old changes. Returns whether there can be more. */
  trim(now: number): boolean {
    const { receipts, plans, transactions } = this.#parts;
    this.#requireNoImport();
    if (plans.run(receipts.hasExpired(now))) return transactions.run(() => plans.run(receipts.trim(now)));
    return transactions.run(() => {
      const { due, isMore } = plans.run(this.#retention.step(now));
      if (due !== undefined) plans.run(this.#retention.remove(due));
      return isMore;
    });
  }

  /** Changes a value in the file, to find out whether the disk has space. SQLite would not write an equal value. */
  probe(): void {
    const { database, transactions } = this.#parts;
    transactions.run(() =>
      database.exec(
        "insert into meta values ('probes', 1) on conflict (name) do update set value = value + 1",
      ),
    );
  }

  /** Empties the log before the file is closed. */
  tidyUp(): void {
    this.#parts.database.exec("pragma wal_checkpoint(truncate)");
  }

  #requireNoImport(): void {
    if (this.#parts.transactions.isKeptOpen) throw new InvalidStateError("An import is in progress.");
  }
}

/** The number of commits between two checks of the log. A check takes as long as a commit. */
const commitsPerCheck = 32;

/**
 * Makes checkpoints on the writer's connection: they move the pages of a long write-ahead log (WAL) into the database file. The writer
 * makes them while few pages wait. A separate thread moves more (`LongLog`), so that no write waits for them.
 */
export class Checkpoints {
  readonly #database: DatabaseSync;
  readonly #transactions: Transactions;
  readonly #readLog: () => LogState;
  readonly #meter: CommitMeter | undefined;
  /** The length of the log at the last attempt. */
  #tried = 0;
  /** The waiting pages at the last check. */
  #waiting = 0;
  #commits = 0;

  /** `meter` counts the checkpoints, if there is one. */
  constructor(database: DatabaseSync, transactions: Transactions, meter: CommitMeter | undefined) {
    this.#meter = meter;
    this.#database = database;
    this.#transactions = transactions;
    this.#readLog = createLogReader(database);
  }

  /** Makes a checkpoint if the log is long. Does not wait for readers. `commits`: how many there were since the last call. */
  runIfDue(commits = commitsPerCheck): void {
    this.#commits += commits;
    if (this.#commits < commitsPerCheck) return;
    this.#commits = 0;
    if (this.#transactions.failure !== undefined || this.#transactions.isKeptOpen) return;
    this.#noteFailure(() => {
      if (this.#isDue()) this.#checkpoint();
    });
  }

  /** Makes a checkpoint of everything that no reader prevents. */
  run(): void {
    this.#noteFailure(() => this.#checkpoint());
  }

  #isDue(): boolean {
    const { all, waiting } = this.#readLog();
    const waitedBefore = this.#waiting;
    this.#waiting = waiting;
    if (waitedBefore > mostWriterPages) return false; // the latest writes did not cause them, so no write waits for them
    if (all < this.#tried) this.#tried = 0; // SQLite has restarted the log
    return Math.min(waiting, all - this.#tried) >= duePages;
  }

  #checkpoint(): void {
    const start = this.#meter === undefined ? 0 : clockSeconds();
    this.#database.exec("pragma wal_checkpoint(passive)");
    this.#meter?.checkpoints.observe(clockSeconds() - start);
    const { all, waiting } = this.#readLog();
    this.#tried = all;
    this.#waiting = waiting;
  }

  /** If the disk is full, the log still contains everything, and a later checkpoint can succeed. */
  #noteFailure(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (failureOf(error) === "broken") this.#transactions.failure = describeError(error);
    }
  }
}
