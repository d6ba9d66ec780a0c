/** The log (WAL): how long it is, how much of it waits for a checkpoint, and its flush at the start. */
import { closeSync, existsSync, fsyncSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
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

/** The size of a database in bytes. */
export function databaseBytes(database: DatabaseSync): number {
  return Number(database.prepare("pragma page_count").get()?.page_count) * pageBytes(database);
}

/**
 * Flushes the log to the disk. A killed process can leave a commit that is not flushed. SQLite treats this commit as durable,
 * and a retry can get its stored response. Opening and closing the log here loses no locks, because SQLite locks only the
 * database and the index of the log.
 */
export function flushLog(path: string): void {
  const log = `${path}-wal`;
  if (!existsSync(log)) return;
  flush(log, "r+");
  // The entry of the log in its folder can be new too. Windows cannot flush a folder, and does not need it.
  if (process.platform !== "win32") flush(dirname(resolve(path)), "r");
}

function flush(path: string, flags: string): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
