/** Opens a store in a SQLite file. */
import type { ResolvedStoreOptions } from "../options.ts";
import { noWriter, type Writer, WriterClient } from "./commit/writer-client.ts";
import { takeLock, takeReadLock } from "./file/lock.ts";
import {
  openForReading,
  prepareFile,
  requireFile,
  requireSafeSqlite,
  requireWritablePath,
} from "./file/open-file.ts";
import { SqliteStore } from "./store.ts";

const cacheKibibytes = 16 * 1024;

/** Every commit empties the page cache of a reading connection. Mapped pages are read without a system call. */
const mappedBytes = 128 * 1024 * 1024;

/**
 * Opens the store at `path` and locks it until it is closed. Then only this process can write to it. With `readOnly`, no
 * process can. Throws StartError.
 */
export async function openSqliteStore(path: string, options: ResolvedStoreOptions): Promise<SqliteStore> {
  const { readOnly } = options;
  requireSafeSqlite();
  requireWritablePath(path);
  if (readOnly) requireFile(path);
  const lock = readOnly ? takeReadLock(path) : takeLock(path);
  let store: SqliteStore | undefined;
  let failure: string | undefined;
  const fail = (reason: string) => {
    failure = reason;
    store?.fail(reason);
  };
  try {
    prepareFile(path);
    const writer = readOnly ? noWriter : await startWriter(path, options, fail);
    const database = openForReading(path);
    database.exec(`pragma cache_size = -${cacheKibibytes}; pragma mmap_size = ${mappedBytes}`);
    store = new SqliteStore({ ...options, path, lock, database }, writer);
    if (failure !== undefined) store.fail(failure);
    return store;
  } catch (error) {
    lock.release();
    throw error;
  }
}

function startWriter(
  path: string,
  { synchronous, groupCommit, history, receipts }: ResolvedStoreOptions,
  onFailure: (reason: string) => void,
): Promise<Writer> {
  const settings = { path, synchronous, groupCommit, history, ...(receipts && { receipts }) };
  return WriterClient.start(settings, onFailure);
}
