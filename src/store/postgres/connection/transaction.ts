/** Transactions: what they are begun with, and what is known of them when something goes wrong at their end. */
import { Problem } from "../../../errors.ts";
import type { Connection, Connections, Outcome, Statement } from "./connections.ts";
import { isUndone, sqlState } from "./failures.ts";

/** How transactions begin that write a little, and wait no longer. */
export const smallWrite = { answerMs: 5_000 };

/** How other transactions begin. */
export const beginnings = {
  /**
   * Every statement sees what was committed before it; it takes as long as it takes, but does not wait for others. Where
   * nothing comes from us for ten minutes, the database lets go of what it has locked: we may be gone.
   */
  longWrite: `begin isolation level read committed; set local lock_timeout = 10000; set local statement_timeout = 0;
    set local idle_in_transaction_session_timeout = 600000`,
  /** All statements see the same; it takes as long as it takes, also between two of them. */
  snapshot: `begin isolation level repeatable read read only; set local statement_timeout = 0;
    set local idle_in_transaction_session_timeout = 0`,
} as const;

/** A database lets go of what it has locked for us before we give up the connection; in milliseconds. */
const marginMs = 1_000;

/**
 * How a transaction begins that may wait for each answer no longer than so many milliseconds; every statement sees what
 * was committed before it.
 */
function beginWrite(answerMs: number): string {
  const ms = answerMs - marginMs;
  return `begin isolation level read committed; set local lock_timeout = ${Math.ceil(ms / 2)};
    set local statement_timeout = ${ms}; set local idle_in_transaction_session_timeout = ${2 * answerMs}`;
}

const inFailedTransaction = "25P02";

/** A transaction under way. */
export class Transaction {
  readonly #connection: Connection;
  #answerMs: number | undefined;
  /** What failed first. */
  #failure: unknown;
  hasEnded = false;

  constructor(connection: Connection, answerMs?: number) {
    this.#connection = connection;
    this.#answerMs = answerMs;
  }

  /** Waits longer for each answer from now on: more is to be written than was known at its beginning. */
  async extend(ms: number): Promise<void> {
    if (this.#answerMs === undefined || ms <= 0) return;
    this.#answerMs += ms;
    await this.run({ sql: `set local statement_timeout = ${this.#answerMs - marginMs}` });
  }

  /** What was sent behind a statement that failed is told of that failure: its own would only be that there was one. */
  async run(statement: Statement): Promise<Outcome> {
    try {
      return await this.#connection.run(statement, this.#answerMs);
    } catch (error) {
      throw this.noteFailure(error);
    }
  }

  /** Notes what failed; gives the failure that it came from. */
  noteFailure(error: unknown): unknown {
    this.#failure ??= error;
    return sqlState(error) === inFailedTransaction ? this.#failure : error;
  }

  /**
   * Runs the last statements and commits, all sent at once. Throws what went wrong where nothing was written, and
   * OUTCOME_UNKNOWN where nobody knows.
   */
  async commit(last: readonly Statement[] = []): Promise<void> {
    this.hasEnded = true;
    const sent = [...last, { sql: "commit" }].map((statement) => this.run(statement));
    const outcomes = await Promise.allSettled(sent);
    const end = outcomes.at(-1);
    if (end?.status === "fulfilled" && end.value.command === "COMMIT") return;
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    const error: unknown = failed?.reason ?? new Error("The transaction was rolled back.");
    if (end?.status === "fulfilled" || isUndone(end?.reason)) throw error;
    throw new Problem(
      "OUTCOME_UNKNOWN",
      "The connection to the database was lost during the commit. Read the resource before you repeat the write.",
      {
        cause: error,
      },
    );
  }

  /** Takes everything back, unless it has ended. */
  async rollBack(): Promise<void> {
    if (this.hasEnded) return;
    this.hasEnded = true;
    await this.run({ sql: "rollback" }).catch(() => {}); // then the connection is lost, and the work with it
  }
}

/** Runs `work` in a transaction, and commits it where `work` has not ended it. `answerMs`: how long it waits for each answer. */
export function transact<T>(
  connections: Connections,
  begin: string | { answerMs: number },
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return connections.use(async (connection) => {
    const { answerMs } = typeof begin === "string" ? {} : begin;
    const transaction = new Transaction(connection, answerMs);
    const begun = connection.runAll(typeof begin === "string" ? begin : beginWrite(begin.answerMs));
    begun.catch((error) => transaction.noteFailure(error)); // told below
    try {
      const result = await work(transaction);
      await begun;
      // What only reads has nothing to lose at its end, and nothing to be unsure of.
      if (begin === beginnings.snapshot) await transaction.rollBack();
      else if (!transaction.hasEnded) await transaction.commit();
      return result;
    } catch (error) {
      await transaction.rollBack();
      throw error;
    }
  });
}
