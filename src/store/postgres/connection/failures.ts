/** What an error of PostgreSQL, or of the way to it, means for those who asked. https://www.postgresql.org/docs/current/errcodes-appendix.html */
import { Problem, StartError } from "../../../errors.ts";

/**
 * Kinds of error: others were in the way and another try may do; there is no connection (any more); it leads to a server
 * that takes no writes; the service lacks a right, or is not let in at all; no room left; too much is going on; or anything else, which is a fault
 * of ours.
 */
export type Failure =
  | ("conflict" | "lost" | "readOnly" | "denied" | "refused")
  | ("full" | "busy" | "tooLong" | "other");

const byCode: Readonly<Record<string, Failure>> = {
  "40001": "conflict", // serialization_failure
  "40P01": "conflict", // deadlock_detected
  "23505": "conflict", // unique_violation
  "42P07": "conflict", // duplicate_table, made by another at the same moment
  "25006": "readOnly", // read_only_sql_transaction
  "3D000": "refused", // invalid_catalog_name, of a database that is not there
  "42501": "denied", // insufficient_privilege
  "53100": "full", // disk_full
  "53200": "busy", // out_of_memory
  "53300": "busy", // too_many_connections
  "53400": "busy", // configuration_limit_exceeded
  "55P03": "busy", // lock_not_available
  "57014": "tooLong", // query_canceled, which a statement is that took too long
};

/** Classes of codes that all mean the same: connection exceptions, invalid authorization, operator intervention, system errors. */
const byClass: Readonly<Record<string, Failure>> = {
  "08": "lost",
  "28": "refused",
  "57": "lost",
  "58": "lost",
};

/** Codes of the system, such as EPIPE, have no digit in them. */
const sqlStateForm = /^(?=.*\d)[0-9A-Z]{5}$/;

/** The SQLSTATE of an error that the server answered with. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && sqlStateForm.test(code) ? code : undefined;
}

/** Every connection was in use for as long as one was waited for. */
export class Exhausted extends Error {
  constructor(cause: unknown) {
    super("All connections to the database are in use.", { cause });
  }
}

/** Tells the kinds of error apart. What was said in words already, by what is known to be behind it. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Problem) return failureOf(error.cause);
  if (error instanceof Exhausted) return "busy";
  if (error instanceof StartError) return "other";
  const code = sqlState(error);
  if (code !== undefined) return byCode[code] ?? byClass[code.slice(0, 2)] ?? "other";
  return isOfConnection(error) ? "lost" : "other";
}

/** The driver tells of a lost connection, of one that it does not get and of an answer that does not come, by errors without a code of its own. */
function isOfConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("syscall" in error || "errno" in error) return true;
  return /connect|terminat|timeout|not queryable|closed|ended/i.test(error.message);
}

/** Whether a transaction whose commit was answered with this error has certainly not happened. */
export function isUndone(error: unknown): boolean {
  const code = sqlState(error);
  if (code === undefined || code === "40003") return false; // statement_completion_unknown
  return ["23", "25", "40", "53"].includes(code.slice(0, 2));
}

/** Whether a table is not there (any more), as happens where another instance has declared that nothing is searched. */
export function isWithoutTable(error: unknown): boolean {
  return sqlState(error) === "42P01"; // undefined_table
}

/** Whether a statement that was a transaction of its own has not happened, and may happen when it is sent again. */
export function isWorthRepeating(error: unknown): boolean {
  return ["40001", "40P01"].includes(sqlState(error) ?? "");
}

/** The problem that a failure is answered with, where nothing was written. `undefined`: a fault of ours. */
export function problemOf(failure: Failure, cause: unknown): Problem | undefined {
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
    case "readOnly":
    case "refused":
    case "lost":
      return new Problem("UNAVAILABLE", "The database is not reachable now. Try again.", { cause });
    case "other":
      return undefined;
  }
}

/** What an error is answered with. */
export function answerTo(error: unknown): unknown {
  return error instanceof Problem || error instanceof StartError
    ? error
    : (problemOf(failureOf(error), error) ?? error);
}

/** An error in a few words, for the log: with the code, without the statement. */
export function describeError(error: unknown): string {
  // A host that has several addresses: none of them answered.
  if (error instanceof AggregateError && error.message === "")
    return error.errors.map(describeError).join("; ");
  const message = error instanceof Error ? error.message || error.name : String(error);
  const code = sqlState(error);
  return code === undefined ? message : `${message} (SQLSTATE ${code})`;
}
