/** Transactions: how they start, and how they report the outcome of a commit. */
import { Problem } from "../../../errors.ts";
import type { Plan } from "../../sql/plans.ts";
import {
  type Connection,
  type Connections,
  runPlan,
  type Statement,
  type StatementResult,
} from "./connections.ts";
import { isRolledBack, sqlState } from "./failures.ts";

/** How a short write starts: each response has the timeout of the connections, and a large write has more time. */
export interface ShortWrite {
  moreMs: number;
}

/** A short write of usual size. */
export const smallWrite: ShortWrite = { moreMs: 0 };

/**
 * How a transaction starts. The settings are a message of their own: a cluster sends the message of each `set local` to its nodes as a whole,
 * and they would warn of a second `begin`.
 */
export interface TransactionStart {
  begin: string;
  settings: string;
}

/** Sends the start of a transaction at once. */
export async function startTransaction(
  connection: Pick<Connection, "runAll">,
  { begin, settings }: TransactionStart,
): Promise<void> {
  await Promise.all([connection.runAll(begin), connection.runAll(settings)]);
}

/** The modes of other transactions. */
export const transactionModes = {
  /**
   * A long write. Every statement sees what was committed before it. Statements have no timeout, but waits for locks
   * do. If the service sends nothing for ten minutes, it may have crashed, so the database releases the locks.
   */
  longWrite: {
    begin: "begin isolation level read committed",
    settings: `set local lock_timeout = 10000; set local statement_timeout = 0;
      set local idle_in_transaction_session_timeout = 600000`,
  },
  /** A read that sees one state of the database. It has no timeout, also between statements. */
  snapshot: {
    begin: "begin isolation level repeatable read read only",
    settings: "set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0",
  },
} as const satisfies Record<string, TransactionStart>;

type Mode = TransactionStart | ShortWrite;

/** The database releases our locks this long before we close the connection. In milliseconds. */
const timeoutMarginMs = 1_000;

/** How a transaction starts, and its timeout for each response. */
function startOf(mode: Mode, connections: Connections): TransactionStart & { timeoutMs?: number } {
  if ("begin" in mode) return mode;
  const timeoutMs = connections.responseTimeoutMs + mode.moreMs;
  return { ...smallWriteStart(timeoutMs), timeoutMs };
}

/** The start of a write with a timeout for each response. Every statement sees what was committed before it. */
function smallWriteStart(responseTimeoutMs: number): TransactionStart {
  const ms = responseTimeoutMs - timeoutMarginMs;
  return {
    begin: "begin isolation level read committed",
    settings: `set local lock_timeout = ${Math.ceil(ms / 2)}; set local statement_timeout = ${ms};
      set local idle_in_transaction_session_timeout = ${2 * responseTimeoutMs}`,
  };
}

const inFailedTransaction = "25P02";

/** A transaction in progress. */
export class Transaction {
  readonly #connection: Connection;
  #responseTimeoutMs: number | undefined;
  /** The first error. It is the cause of later ones. */
  #failure: unknown;
  hasEnded = false;

  constructor(connection: Connection, responseTimeoutMs?: number) {
    this.#connection = connection;
    this.#responseTimeoutMs = responseTimeoutMs;
  }

  /** Raises the timeout of each response, because there is more to write than was known at the start. */
  async extend(ms: number): Promise<void> {
    if (this.#responseTimeoutMs === undefined || ms <= 0) return;
    this.#responseTimeoutMs += ms;
    await this.run({ sql: `set local statement_timeout = ${this.#responseTimeoutMs - timeoutMarginMs}` });
  }

  /**
   * Runs a statement. If an earlier statement failed, it throws the error of that statement, because its own error
   * would only say that the transaction has failed.
   */
  async run(statement: Statement): Promise<StatementResult> {
    try {
      return await this.#connection.run(statement, this.#responseTimeoutMs);
    } catch (error) {
      throw this.noteFailure(error);
    }
  }

  /** Runs a plan. */
  runPlan<T>(plan: Plan<T>): Promise<T> {
    return runPlan(plan, (statement) => this.run(statement));
  }

  /** Records an error, and returns the error that caused it. */
  noteFailure(error: unknown): unknown {
    this.#failure ??= error;
    return sqlState(error) === inFailedTransaction ? this.#failure : error;
  }

  /**
   * Runs the last statements and commits, all sent at once. Throws the error if nothing was written, and
   * OUTCOME_UNKNOWN if the outcome is unknown. A cluster commits, and then warns if one of its nodes has not committed yet.
   */
  async commit(last: readonly Statement[] = []): Promise<void> {
    this.hasEnded = true;
    let outcomes: PromiseSettledResult<StatementResult>[] = [];
    // The responses to all of these can arrive together. The last statements only insert rows, and do not warn.
    const [warning] = await this.#connection.warningsDuring(async () => {
      const sent = [...last, { sql: "commit" }].map((statement) => this.run(statement));
      outcomes = await Promise.allSettled(sent);
    });
    const commit = outcomes.at(-1);
    if (commit?.status === "fulfilled" && commit.value.command === "COMMIT") {
      if (warning === undefined) return;
      throw new Problem(
        "OUTCOME_UNKNOWN",
        "The database warned during the commit, so a part of the write may not be readable yet. Read the resource before you repeat the write.",
        { cause: new Error(warning) },
      );
    }
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    const error: unknown = failed?.reason ?? new Error("The transaction was rolled back.");
    if (commit?.status === "fulfilled" || isRolledBack(commit?.reason)) throw error;
    throw new Problem(
      "OUTCOME_UNKNOWN",
      "The connection to the database was lost during the commit. Read the resource before you repeat the write.",
      {
        cause: error,
      },
    );
  }

  /** Rolls back, unless the transaction has ended. */
  async rollBack(): Promise<void> {
    if (this.hasEnded) return;
    this.hasEnded = true;
    await this.run({ sql: "rollback" }).catch(() => {}); // a lost connection also rolls back
  }
}

/** Runs `work` in a transaction, and commits unless `work` has ended the transaction. */
export function transact<T>(
  connections: Connections,
  mode: Mode,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return connections.use(async (connection) => {
    const { timeoutMs, ...first } = startOf(mode, connections);
    const transaction = new Transaction(connection, timeoutMs);
    const started = startTransaction(connection, first);
    started.catch((error) => transaction.noteFailure(error)); // thrown below
    try {
      const result = await work(transaction);
      await started;
      // A read has nothing to commit, so its end cannot be uncertain.
      if (mode === transactionModes.snapshot) await transaction.rollBack();
      else if (!transaction.hasEnded) await transaction.commit();
      return result;
    } catch (error) {
      await transaction.rollBack();
      throw error;
    }
  });
}

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
