/** What an error of SQLite means for those who asked. https://sqlite.org/rescode.html */

/** No error of SQLite, but something that cannot be done as things are; nothing was written. */
export class Mistake extends Error {}

/** Kinds of error: no room left, another process writes, the file or the disk is broken, or anything else. */
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

/** SQLITE_IOERR_SHMSIZE: there is no space for the index of the log, which holds nothing that must last. */
const noRoomForIndex = 4874;

/**
 * Whether a commit that failed with this error may be in the log. SQLite makes the index longer after it has written the whole commit.
 * If the process ends before another commit takes its place, the next start finds it.
 */
export function mayBeCommitted(error: unknown): boolean {
  return resultCode(error) === noRoomForIndex;
}

const primaryCodeBits = 0xff;

/** A file of the store is no longer the one that is open: what is written there is lost. */
export class FileGone extends Error {}

/** The result code of an error of SQLite; `undefined` for any other error. */
export function resultCode(error: unknown): number | undefined {
  const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
  return typeof code === "number" ? code : undefined;
}

/** Tells the kinds of error apart. */
export function failureOf(error: unknown): Failure {
  const code = resultCode(error);
  if (error instanceof FileGone) return "broken";
  if (code === undefined) return "other";
  return code === noRoomForIndex ? "full" : (primaryCodes[code & primaryCodeBits] ?? "other");
}

/** The code with which SQLite refused, and its words, for the log. */
export function describeError(error: unknown): string {
  const code = resultCode(error);
  const message = error instanceof Error ? error.message : String(error);
  return code === undefined ? message : `${message} (SQLite result code ${code})`;
}
