/** Reads of lists that can take long, on connections of their own. Each has a deadline. */

import { SlowReads, unfinished } from "../../core/slow-reads.ts";
import type { ReadClient } from "../../port/page.ts";
import type { Connection, Connections, Row, Run, Statement } from "../connection/connections.ts";
import { failureOf } from "../connection/failures.ts";
import { startTransaction } from "../connection/transaction.ts";

/** The database ends a statement at its deadline. If it does not end it within this time, the connection is closed. */
const graceMs = 1_000;

/** Reads on a connection, for at most `maxMs` milliseconds. */
type TimedRead<T> = (connection: Connection, maxMs: number) => Promise<T>;

/**
 * The slow statements of one store, in turns by caller. Each result is `unfinished` if it takes longer than `maxMs`. Each read
 * throws the reason of the client's signal, UNAVAILABLE if it waits too long or too many others wait, and what the database
 * reports.
 */
export class SlowStatements {
  readonly #connections: Connections;
  readonly #reads: SlowReads;

  /** `maxMs`: how long a read can take on its connection, in milliseconds. */
  constructor(connections: Connections, maxMs: number) {
    this.#connections = connections;
    this.#reads = new SlowReads({ maxMs });
  }

  /** The rows of one statement. */
  rows(statement: Statement, client: ReadClient | undefined): Promise<readonly Row[] | typeof unfinished> {
    return this.#read((connection, maxMs) => runOnly(connection, statement, maxMs), client);
  }

  /** The result of `work`, whose statements all see the same state. It can be called twice. */
  inSnapshot<T>(
    work: (run: Run) => Promise<T>,
    client: ReadClient | undefined,
  ): Promise<T | typeof unfinished> {
    return this.#read((connection, maxMs) => inSnapshotUntil(connection, maxMs, work), client);
  }

  #read<T>(read: TimedRead<T>, client: ReadClient | undefined): Promise<T | typeof unfinished> {
    return this.#reads.read(
      (maxMs, signal) =>
        this.#connections.use((connection) => {
          signal?.throwIfAborted();
          return untilDeadline(connection, read(connection, maxMs), { maxMs, signal });
        }),
      client,
    );
  }
}

/**
 * The result of `work`; `unfinished` if the database ends it at its deadline, or if it does not end. Then, and after the signal is
 * aborted, cancels the running statement and closes the connection.
 */
async function untilDeadline<T>(
  connection: Connection,
  work: Promise<T>,
  { maxMs, signal }: { maxMs: number; signal: AbortSignal | undefined },
): Promise<T | typeof unfinished> {
  const over = Promise.withResolvers<typeof unfinished>();
  const timer = setTimeout(over.resolve, maxMs + graceMs, unfinished);
  const abort = () => over.reject(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  let isOver = false;
  const result: Promise<T | typeof unfinished> = work.then(
    (value) => {
      isOver = true;
      return value;
    },
    (error: unknown) => {
      isOver = true;
      if (failureOf(error) !== "tooLong" && !(error instanceof DeadlinePassed)) throw error;
      return unfinished;
    },
  );
  try {
    return await Promise.race([result, over.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    if (!isOver) connection.cancel();
  }
}

/** Runs one statement in a transaction that is sent at once. */
async function runOnly(connection: Connection, statement: Statement, maxMs: number): Promise<readonly Row[]> {
  const [, { rows }] = await Promise.all([
    startTransaction(connection, {
      begin: "begin isolation level read committed read only",
      settings: timeoutSql(maxMs),
    }),
    connection.run(statement),
    connection.runAll("rollback"),
  ]);
  return rows;
}

/** Runs several statements that see the same state. */
async function inSnapshotUntil<T>(
  connection: Connection,
  maxMs: number,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const end = Date.now() + maxMs;
  await startTransaction(connection, {
    begin: "begin isolation level repeatable read read only",
    settings: timeoutSql(maxMs),
  });
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

/** The time ended between two statements. */
class DeadlinePassed extends Error {}
