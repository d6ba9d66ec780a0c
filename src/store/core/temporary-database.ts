/** A temporary database on disk, for data that would not fit into memory. */
import { DatabaseSync } from "node:sqlite";
import { Problem } from "../../errors.ts";

/** Creates tables in an unnamed temporary file. Only this connection can use the file. Closing the connection removes it. */
export function openTemporaryDatabase(tables: string): DatabaseSync {
  const database = new DatabaseSync("");
  database.exec(`pragma journal_mode = off; ${tables}; begin`);
  return database;
}

/** Writes to a temporary database. Throws STORAGE_FULL if the disk for temporary files is full. */
export function writeTemporarily<T>(write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    throw new Problem("STORAGE_FULL", "The disk for temporary files is full. Nothing was written.", {
      cause: error,
    });
  }
}

/** SQLITE_FULL and its extended codes (https://sqlite.org/rescode.html). */
function isDiskFull(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === 13;
}
