/**
 * The errors that code of this store throws, and the kind of each error of SQLite (https://sqlite.org/rescode.html). The
 * callers decide what follows from an error.
 */

/** The writer cannot carry out a request in its present state. Nothing was written. This is not an error of SQLite. */
export class InvalidStateError extends Error {}

/** Kinds of errors: the disk is full, another process has a lock, the file or the disk is damaged, or anything else. */
export type Failure = "full" | "busy" | "broken" | "other";

const primaryCodes: Readonly<Record<number, Failure>> = {
  5: "busy", // SQLITE_BUSY
  6: "busy", // SQLITE_LOCKED
  7: "broken", // SQLITE_NOMEM
  8: "broken", // SQLITE_READONLY
  10: "broken", // SQLITE_IOERR
  11: "broken", // SQLITE_CORRUPT
  13: "full", // SQLITE_FULL
  14: "broken", // SQLITE_CANTOPEN
  15: "broken", // SQLITE_PROTOCOL
  26: "broken", // SQLITE_NOTADB
};

/** SQLITE_IOERR_SHMSIZE: there is no space for the index of the log. The index contains nothing that must be durable. */
const ioErrorShmSize = 4874;

/**
 * Whether a commit that failed with this error can be in the log. SQLite extends the index only after it has written the
 * whole commit. The next start finds the commit, if the process ends before another commit replaces it.
 */
export function mayBeCommitted(error: unknown): boolean {
  return resultCode(error) === ioErrorShmSize;
}

const primaryCodeBits = 0xff;

/** SQLITE_CONSTRAINT_PRIMARYKEY */
const constraintPrimaryKey = 1555;

/** A file of the store was removed or replaced while it was open. Writes to the open file are lost. */
export class FileGone extends Error {}

/** The extended result code of an error of SQLite. `undefined` for any other error. */
export function resultCode(error: unknown): number | undefined {
  const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
  return typeof code === "number" ? code : undefined;
}

/** The kind of an error. */
export function failureOf(error: unknown): Failure {
  const code = resultCode(error);
  if (error instanceof FileGone) return "broken";
  if (code === undefined || isOfWords(error)) return "other";
  return code === ioErrorShmSize ? "full" : (primaryCodes[code & primaryCodeBits] ?? "other");
}

/** SQLITE_CORRUPT_VTAB */
const corruptVirtualTable = 267;

/** Whether an error says that the search words of a collection are damaged. The tables of FTS5 are beside those of the resources. */
export function isOfWords(error: unknown): boolean {
  const code = resultCode(error);
  return code === corruptVirtualTable || (code === 1 && /fts5|vtable/i.test((error as Error).message));
}

/** The message of an error for the log, with the result code of SQLite. */
export function describeError(error: unknown): string {
  const code = resultCode(error);
  const message = error instanceof Error ? error.message : String(error);
  return code === undefined ? message : `${message} (SQLite result code ${code})`;
}

/** The number of the collection whose counter is damaged, if an error says that its change log has the next sequence already. */
export function counterOf(error: unknown): number | undefined {
  if (resultCode(error) !== constraintPrimaryKey || !(error instanceof Error)) return undefined;
  const [, number] = /changes_(\d+)\.sequence/.exec(error.message) ?? [];
  return number === undefined ? undefined : Number(number);
}
