/** Makes durable what an earlier process left in the log. */
import { closeSync, existsSync, fsyncSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Flushes what an earlier process wrote to the log and had no time to flush: from now on it is read, and a retry may get the response
 * stored with it. SQLite relies on what it finds in the log. To open and close the log here is safe, since SQLite locks only the
 * store's file and the index of the log.
 */
export function flushLog(path: string): void {
  const log = `${path}-wal`;
  if (!existsSync(log)) return;
  flush(log, "r+");
  // The log's name may be new too. Windows has no flush of a folder, and needs none.
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
