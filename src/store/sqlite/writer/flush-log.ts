/** Flushes the log (WAL) at the start. */
import { closeSync, existsSync, fsyncSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";

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
