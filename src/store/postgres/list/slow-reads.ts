/** Reads of lists that can take long. Each has a deadline. */
import { Problem } from "../../../errors.ts";
import type { Connection, Connections, Row, Statement } from "../connection/connections.ts";
import { failureOf, PoolExhausted } from "../connection/failures.ts";
import type { Run } from "../read/reads.ts";

/** How many reads can wait or run. */
const maxReads = 1_000;

/** The database ends a statement at its deadline. If it does not end it within this time, the connection is closed. */
const graceMs = 1_000;

/** Reads on a connection, for at most `leftMs` milliseconds. */
type TimedRead<T> = (connection: Connection, leftMs: number) => Promise<T>;

/**
 * The slow reads of one store. Each throws the reason of its signal, UNAVAILABLE if too many others wait, and an error for
 * which `isTooLong` is true if it passes its deadline.
 */
export class SlowReads {
  readonly #connections: Connections;
  readonly #maxMs: number;
  #count = 0;

  /** `maxMs`: how long a read can take, in milliseconds. It includes the wait for a connection. */
  constructor(connections: Connections, maxMs: number) {
    this.#connections = connections;
    this.#maxMs = maxMs;
  }

  /** The rows of one statement. */
  rows(statement: Statement, signal: AbortSignal | undefined): Promise<readonly Row[]> {
    return this.#withinDeadline((connection, leftMs) => runOnly(connection, statement, leftMs), signal);
  }

  /** The result of `work`, whose statements all see the same state. */
  inSnapshot<T>(work: (run: Run) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return this.#withinDeadline((connection, leftMs) => inSnapshotUntil(connection, leftMs, work), signal);
  }

  async #withinDeadline<T>(read: TimedRead<T>, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    if (this.#count >= maxReads) throw new Problem("UNAVAILABLE", "Too many lists are waiting. Try again.");
    this.#count++;
    const deadline = Promise.withResolvers<never>();
    deadline.promise.catch(() => {}); // the job awaits it only when it has a connection
    const startedAt = Date.now();
    const timer = setTimeout(() => deadline.reject(new DeadlinePassed()), this.#maxMs + graceMs);
    const abort = () => deadline.reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      return await this.#connections.use((connection) => {
        signal?.throwIfAborted();
        const leftMs = this.#maxMs - (Date.now() - startedAt);
        return untilDeadline(connection, read(connection, leftMs), deadline.promise);
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      this.#count--;
    }
  }
}

/** The result of `work`. If the deadline passes first, cancels the running statement and closes the connection. */
async function untilDeadline<T>(
  connection: Connection,
  work: Promise<T>,
  deadline: Promise<never>,
): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  try {
    return await Promise.race([work, deadline]);
  } finally {
    if (!isOver) connection.cancel();
  }
}

/** Runs one statement in a transaction that is sent at once. */
async function runOnly(
  connection: Connection,
  statement: Statement,
  leftMs: number,
): Promise<readonly Row[]> {
  const [, { rows }] = await Promise.all([
    connection.runAll(`begin isolation level read committed read only; ${timeoutSql(leftMs)}`),
    connection.run(statement),
    connection.runAll("rollback"),
  ]);
  return rows;
}

/** Runs several statements that see the same state. */
async function inSnapshotUntil<T>(
  connection: Connection,
  leftMs: number,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const end = Date.now() + leftMs;
  await connection.runAll(`begin isolation level repeatable read read only; ${timeoutSql(leftMs)}`);
  try {
    return await work((statement) => {
      if (Date.now() > end) throw new DeadlinePassed();
      return connection.run(statement);
    });
  } finally {
    await connection.runAll("rollback").catch(() => {}); // a lost connection also rolls back
  }
}

function timeoutSql(ms: number): string {
  return `set local statement_timeout = ${Math.max(1, Math.ceil(ms))}`;
}

class DeadlinePassed extends Error {}

/** Whether the database ended a read at its deadline, or no connection or response came before it. */
export function isTooLong(error: unknown): boolean {
  return failureOf(error) === "tooLong" || error instanceof DeadlinePassed || error instanceof PoolExhausted;
}
