/** How long the log (WAL) is, and how much of it waits for a checkpoint. */
import type { DatabaseSync } from "node:sqlite";

/** So many waiting pages make a checkpoint due. */
export const duePages = 1_000;

/** The most pages that the thread of the writer moves in a checkpoint. A thread of its own moves more. */
export const mostWriterPages = 4_000;

/** The size that SQLite cuts the file of the log to when the log starts again from its beginning. */
export const logSizeLimit = 64 * 1024 * 1024;

/** The log in pages. */
export interface LogState {
  all: number;
  /** The pages that no checkpoint has moved into the database. */
  waiting: number;
}

/** Returns a function that reads the state of the log in microseconds. It throws the errors of SQLite. */
export function createLogReader(database: DatabaseSync): () => LogState {
  const statement = database.prepare("pragma wal_checkpoint(noop)");
  return () => {
    const { log, checkpointed } = statement.get() as { log: number; checkpointed: number };
    return { all: log, waiting: log - checkpointed };
  };
}

/** The size of a page in bytes. */
export function pageBytes(database: DatabaseSync): number {
  return Number(database.prepare("pragma page_size").get()?.page_size);
}
