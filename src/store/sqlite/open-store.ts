/** Opens a store in a SQLite file. */
import type { ResolvedStoreOptions } from "../options.ts";
import { refusingWriter, WriterClient, type WriterConnection } from "./commit/writer-client.ts";
import { takeLock, takeReadLock } from "./file/lock.ts";
import {
  openForReading,
  prepareFile,
  requireFile,
  requireSafeSqlite,
  requireWritablePath,
} from "./file/open-file.ts";
import { createMarksMemory, Marks } from "./marks.ts";
import { SqliteStore } from "./store.ts";
import { Health } from "./upkeep/health.ts";

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
  const health = new Health(options.onFailure);
  try {
    prepareFile(path);
    const memory = createMarksMemory();
    const writer = readOnly ? refusingWriter : await startWriter({ path, memory }, options, health);
    const database = openForReading(path);
    database.exec(`pragma cache_size = -${cacheKibibytes}; pragma mmap_size = ${mappedBytes}`);
    return new SqliteStore({ ...options, path, lock, database, health, marks: new Marks(memory) }, writer);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function startWriter(
  { path, memory }: { path: string; memory: SharedArrayBuffer },
  { synchronous, groupCommit, history, receipts, meter }: ResolvedStoreOptions,
  health: Health,
): Promise<WriterConnection> {
  const settings = {
    path,
    synchronous,
    groupCommit,
    history,
    marks: memory,
    ...(receipts && { receipts }),
    ...(meter && { meter: meter.memory }),
  };
  return WriterClient.start(settings, (reason) => health.fail(reason));
}
