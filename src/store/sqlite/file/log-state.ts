/** How long the log (WAL) is, and how much of it waits for a checkpoint. */
import type { DatabaseSync } from "node:sqlite";

/** A checkpoint is due when this number of pages waits. */
export const duePages = 1_000;

/** The most pages that the thread of the writer moves in a checkpoint. A separate thread moves more. */
export const mostWriterPages = 4_000;

/** When the log starts again from its beginning, SQLite cuts its file to this size, in bytes. */
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
