/** Opens a store in a SQLite file, and lets other threads of the process use it. */
import { Damage } from "../core/damage.ts";
import { ExpectedEnd } from "../core/loads.ts";
import type { ResolvedStoreOptions } from "../port/options.ts";
import type { WriterSettings } from "./commit/protocol.ts";
import {
  joinWriter,
  refusingWriter,
  startWriter,
  type WriterConnection,
  type WriterEvents,
} from "./commit/writer-client.ts";
import { type Lock, takeLock, takeReadLock } from "./file/lock.ts";
import {
  openForReading,
  prepareFile,
  requireFile,
  requireSafeSqlite,
  requireWritablePath,
} from "./file/open-file.ts";
import { createMarksMemory, damageIn, expectedEndIn, Marks } from "./marks.ts";
import { type SqliteAttachment, SqliteDriver } from "./sqlite-driver.ts";
import { Health } from "./upkeep/health.ts";

const cacheKibibytes = 16 * 1024;

/**
 * Every commit empties the page cache of a reading connection. Mapped pages are read without a system call. With 128 MB, reads of
 * a store of 550 MB took a tenth longer.
 */
const mappedBytes = 1024 * 1024 * 1024;

/**
 * Opens the store at `path` and locks it until it is closed. Then only this process can write to it. With `readOnly`, no
 * process can. Throws StartError.
 */
export async function openSqliteStore(path: string, options: ResolvedStoreOptions): Promise<SqliteDriver> {
  const { readOnly } = options;
  requireSafeSqlite();
  requireWritablePath(path);
  if (readOnly) requireFile(path);
  const writeLock = readOnly ? undefined : takeLock(path);
  const lock = writeLock ?? takeReadLock(path);
  const memory = createMarksMemory();
  const settings = { ...options, path, memory, lock };
  try {
    prepareFile(path, { lock: writeLock });
    const store = await openOn(settings, (events) =>
      readOnly ? refusingWriter : startWriter(writerSettings(settings), events),
    );
    if (!readOnly) await store.resumeErasures();
    return store;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Opens a store that another thread of this process has opened. `attachment` comes from there. */
export function joinSqliteStore(
  { path, marks, writer }: SqliteAttachment,
  options: ResolvedStoreOptions,
): Promise<SqliteDriver> {
  return openOn({ ...options, path, memory: marks, lock: undefined }, (events) => joinWriter(writer, events));
}

interface Settings extends ResolvedStoreOptions {
  path: string;
  /** The memory of `Marks`. */
  memory: SharedArrayBuffer;
  /** Absent in a thread that has joined. */
  lock: Lock | undefined;
}

async function openOn(
  settings: Settings,
  connect: (events: WriterEvents) => WriterConnection | Promise<WriterConnection>,
): Promise<SqliteDriver> {
  const { path, memory, importWaitMs } = settings;
  const health = new Health(settings.onFailure, new Damage(damageIn(memory)));
  const expectedEnd = new ExpectedEnd(expectedEndIn(memory));
  let store: SqliteDriver | undefined;
  const writer = await connect({
    onFailure: (reason) => health.fail(reason),
    onChanged: (collections) => store?.noteChanged(collections),
    maxWaitMs: importWaitMs,
    expectedEnd,
  });
  const database = openForReading(path);
  database.exec(`pragma cache_size = -${cacheKibibytes}; pragma mmap_size = ${mappedBytes}`);
  store = new SqliteDriver({ ...settings, database, health, expectedEnd, marks: new Marks(memory) }, writer);
  return store;
}

function writerSettings({
  path,
  memory,
  synchronous,
  groupCommit,
  history,
  receipts,
  meter,
}: Settings): WriterSettings {
  return {
    path,
    synchronous,
    groupCommit,
    history,
    marks: memory,
    ...(receipts && { receipts }),
    ...(meter && { meter: meter.memory }),
  };
}
