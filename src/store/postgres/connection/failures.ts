/** Classifies the errors of PostgreSQL and of its connections, and repeats work after a failure that can pass. */
import { setTimeout as pass } from "node:timers/promises";
import { Problem, StartError } from "../../../errors.ts";

/**
 * The kinds of failure (https://www.postgresql.org/docs/current/errcodes-appendix.html):
 * - conflict: another transaction interfered, and another attempt can succeed
 * - lost: there is no connection
 * - readOnly: the server accepts no writes
 * - denied: the service does not have a permission
 * - worker: the server is a worker node of a Citus cluster, and only the coordinator makes tables and indexes
 * - refused: the server refuses the connection
 * - full: the disk is full
 * - busy: the database is overloaded
 * - tooLong: the statement exceeded its timeout
 * - other: probably an error in our code
 */
export type Failure =
  | ("conflict" | "lost" | "readOnly" | "denied" | "worker" | "refused")
  | ("full" | "busy" | "tooLong" | "other");

const byCode: Readonly<Record<string, Failure>> = {
  "40001": "conflict", // serialization_failure
  "40P01": "conflict", // deadlock_detected
  "23505": "conflict", // unique_violation
  "42P07": "conflict", // duplicate_table, created by another instance at the same moment
  "42710": "conflict", // duplicate_object, the same for the type of the table
  "25006": "readOnly", // read_only_sql_transaction
  "3D000": "refused", // invalid_catalog_name: the database does not exist
  "42501": "denied", // insufficient_privilege
  "53100": "full", // disk_full
  "53200": "busy", // out_of_memory
  "53300": "busy", // too_many_connections
  "53400": "busy", // configuration_limit_exceeded
  "55P03": "busy", // lock_not_available
  "57014": "tooLong", // query_canceled: the statement exceeded its timeout
};

/**
 * Classes in which all codes mean the same: connection exception, invalid authorization, operator intervention, system
 * error.
 */
const byClass: Readonly<Record<string, Failure>> = {
  "08": "lost",
  "28": "refused",
  "57": "lost",
  "58": "lost",
};

/** A SQLSTATE. Error codes of the operating system, such as EPIPE, contain no digit. */
const sqlStateForm = /^(?=.*\d)[0-9A-Z]{5}$/;

/** The SQLSTATE of an error from the server. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && sqlStateForm.test(code) ? code : undefined;
}

/** Every connection was in use, and none became free in time. */
export class PoolExhausted extends Error {
  constructor(cause: unknown) {
    super("All connections to the database are in use.", { cause });
  }
}

/** The kind of failure. For a Problem, it is the kind of its cause. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Problem) return failureOf(error.cause);
  if (error instanceof PoolExhausted) return "busy";
  if (error instanceof StartError) return "other";
  const code = sqlState(error);
  if (code === "XX000" && isForCoordinator(error)) return "worker";
  if (code === "XX000" && isLostNode(error)) return "lost";
  if (code !== undefined) return byCode[code] ?? byClass[code.slice(0, 2)] ?? "other";
  return isConnectionError(error) ? "lost" : "other";
}

/** Whether Citus refuses a statement because it was sent to a worker node. Such errors have this hint, and no SQLSTATE of their own. */
function isForCoordinator(error: unknown): boolean {
  const hint = error instanceof Error && "hint" in error ? error.hint : undefined;
  return typeof hint === "string" && hint.startsWith("Connect to the coordinator");
}

/**
 * Whether the server of the connection has lost its own connection to another node of a Citus cluster. Such errors have the text of libpq, and
 * no SQLSTATE of their own.
 */
function isLostNode(error: unknown): boolean {
  return error instanceof Error && lostNode.test(error.message);
}

const lostNode =
  /server closed the connection unexpectedly|SSL SYSCALL error|SSL connection has been closed|could not (?:receive data from|send data to) server|connection not open|no connection to the server/;

/**
 * Whether an error without a SQLSTATE is about the connection. For lost connections and timeouts, the driver's own
 * errors have no code.
 */
function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("syscall" in error || "errno" in error) return true;
  return /connect|terminat|timeout|not queryable|closed|ended/i.test(error.message);
}

/** Whether a transaction has certainly not been committed, given the error of its commit. */
export function isRolledBack(error: unknown): boolean {
  const code = sqlState(error);
  if (code === undefined || code === "40003") return false; // statement_completion_unknown
  return ["23", "25", "40", "53"].includes(code.slice(0, 2));
}

/**
 * Whether a table does not exist. Another instance may have dropped it because it declared that nothing is searched.
 */
export function isUndefinedTable(error: unknown): boolean {
  return sqlState(error) === "42P01"; // undefined_table
}

/** Whether a single statement had no effect because of a conflict, and can succeed if it is repeated. */
export function isRetryable(error: unknown): boolean {
  return ["40001", "40P01"].includes(sqlState(error) ?? "");
}

const workerReason =
  "a worker node of a Citus cluster cannot create a collection or an index, so declare it through the coordinator first";

/** The number of the collection whose counter is damaged, if an error says that its change log has the next sequence already. */
export function counterOf(error: unknown): number | undefined {
  const constraint = error instanceof Error && "constraint" in error ? error.constraint : undefined;
  // On a node of a Citus cluster, the number of the shard follows.
  const [, number] = /^holdfast_changes_(\d+)_pkey(?:_\d+)?$/.exec(String(constraint)) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** The problem for a failure that wrote nothing; `undefined` for an error in our code. */
function problemFor(failure: Failure, cause: unknown): Problem | undefined {
  switch (failure) {
    case "full":
      return new Problem("STORAGE_FULL", "The disk of the store is full.", { cause });
    case "conflict":
      return new Problem("UNAVAILABLE", "Other writes came first every time. Try again.", {
        cause,
      });
    case "busy":
    case "tooLong":
      return new Problem("UNAVAILABLE", "The database is overloaded. Try again.", { cause });
    case "denied":
      return new Problem("UNAVAILABLE", "The database does not allow the service to do this now.", { cause });
    case "worker":
      return new Problem("UNAVAILABLE", `The database cannot do this: ${workerReason}.`, { cause });
    case "readOnly":
    case "refused":
    case "lost":
      return new Problem("UNAVAILABLE", "The database is not reachable now. Try again.", { cause });
    case "other":
      return undefined;
  }
}

/** The error that the caller of the store gets instead of a database error. */
export function toClientError(error: unknown): unknown {
  return error instanceof Problem || error instanceof StartError
    ? error
    : (problemFor(failureOf(error), error) ?? error);
}

/** The error in one line for the log: with its code, without the statement. */
export function describeError(error: unknown): string {
  // One error for each address of the host.
  if (error instanceof AggregateError && error.message === "")
    return error.errors.map(describeError).join("; ");
  const message = error instanceof Error ? error.message || error.name : String(error);
  const code = sqlState(error);
  if (failureOf(error) === "worker") return workerReason;
  return code === undefined ? message : `${message} (SQLSTATE ${code})`;
}

/** Work that took longer than this is not repeated, because its caller has waited long enough. In milliseconds. */
const quickMs = 1_500;

/**
 * Whether the connection was lost so soon that another attempt costs little. `since`: the start, from
 * `performance.now`.
 */
export function isQuickLoss(error: unknown, since: number): boolean {
  const failure = failureOf(error);
  return (failure === "lost" || failure === "readOnly") && performance.now() - since < quickMs;
}

/** Does work, and repeats it after a quick loss. Repeating the work must do no harm. */
export async function retryOnce<T>(work: () => Promise<T>): Promise<T> {
  const since = performance.now();
  try {
    return await work();
  } catch (error) {
    if (!isQuickLoss(error, since)) throw error;
    return work();
  }
}

/** Does work, at most `maxTries` times, until no other service interferes. The pauses between the attempts are random. */
export async function retryConflicts(maxTries: number, work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (failureOf(error) !== "conflict" || tries === maxTries) throw error;
      await pass(Math.random() * 20 * tries);
    }
  }
}
