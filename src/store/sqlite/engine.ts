/** The engine for SQLite files: opens a file as a store, for reading only, or for its API keys. */

import { existsSync, lstatSync, realpathSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { StartError } from "../../errors.ts";
import { Damage } from "../core/checksums.ts";
import type { Engine } from "../core/driver.ts";
import { hadEver, ignoreBegin, scannedIn } from "../core/driver.ts";
import { HotPages } from "../core/hot-pages.ts";
import { StoredKeys } from "../core/key-plans.ts";
import { ExpectedEnd } from "../core/loads.ts";
import { walkAtOnce } from "../core/walk.ts";
import type { OpenKeys } from "../port/keys.ts";
import { memoryPath, type ResolvedStoreOptions } from "../port/options.ts";
import type { StoreReader } from "../port/store.ts";
import type { WriterSettings } from "./commit/protocol.ts";
import {
  joinWriter,
  refusingWriter,
  startWriter,
  type WriterConnection,
  type WriterEvents,
} from "./commit/writer-client.ts";
import { findBrokenPages, walkedFile } from "./copy/walked-file.ts";
import { describeError } from "./file/failures.ts";
import { type Lock, takeLock, takeReadLock } from "./file/lock.ts";
import {
  mayExist,
  openError,
  openForKeys,
  openForReading,
  prepareFile,
  requireFile,
  requireSafeSqlite,
  requireWritablePath,
} from "./file/open-file.ts";
import { requireIntact } from "./file/seal.ts";
import { otherFiles, sharesFiles } from "./file/watch.ts";
import { QueryThreads } from "./list/query-threads.ts";
import { createMarksMemory, damageIn, expectedEndIn, Marks } from "./marks.ts";
import { Reader, Scans } from "./read/reader.ts";
import { PlanRunner, readCatalogue, storePlans } from "./sqlite-dialect.ts";
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
  let store: SqliteDriver | undefined;
  try {
    prepareFile(path, { lock: writeLock });
    store = await openOn(settings, (events) =>
      readOnly ? refusingWriter : startWriter(writerSettings(settings), events),
    );
    if (!readOnly) await store.resumeErasures();
    return store;
  } catch (error) {
    if (store === undefined) lock.release();
    else await store.close().catch(() => {}); // also releases the lock
    throw openError(path, error);
  }
}

/** Opens a store that another thread of this process has opened. `attachment` comes from there. */
function joinSqliteStore(
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
  let database: DatabaseSync | undefined;
  try {
    database = openForReading(path);
    database.exec(`pragma cache_size = -${cacheKibibytes}; pragma mmap_size = ${mappedBytes}`);
    store = new SqliteDriver(
      {
        ...settings,
        database,
        readers: {
          reader: new Reader(database, new HotPages({ keepsFirst: true })),
          plans: new PlanRunner(database),
        },
        connect: () => openForReading(path),
        createQueries: (parts) => new QueryThreads({ path, ...parts }),
        hasUpkeep: settings.lock !== undefined,
        health,
        expectedEnd,
        marks: new Marks(memory),
      },
      writer,
    );
    return store;
  } catch (error) {
    database?.close();
    await writer.close().catch(() => {}); // its thread would keep the process running
    throw error;
  }
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

/** Opens the store at `path` for reading. A service can have it open at the same time. Throws StartError, also from each method. */
function openSqliteReader(path: string): StoreReader {
  requireSafeSqlite();
  requireFile(path);
  const database = openForReading(path);
  try {
    return readerOf(path, database);
  } catch (error) {
    database.close();
    throw openError(path, error);
  }
}

function readerOf(path: string, database: DatabaseSync): StoreReader {
  const reader = new Reader(database);
  const scans = new Scans(() => openForReading(path));
  let known: ReturnType<typeof readCatalogue> | undefined;
  /** Read late, so that a damaged declaration does not end a check of the other data. */
  const catalogue = () => {
    known ??= readCatalogue(database);
    return known;
  };
  async function* scanEach(...[names, begin]: Parameters<StoreReader["scanEach"]>) {
    try {
      const found = names.map((name) => catalogue().get(name));
      yield* scans.scanEach(scannedIn(found, begin));
    } catch (error) {
      throw openError(path, error);
    }
  }
  return {
    collections: () => withStartErrors(path, catalogue),
    count: (name) =>
      withStartErrors(path, () => {
        const collection = catalogue().get(name);
        return collection === undefined ? 0 : reader.head(collection).count;
      }),
    scan: (name) => scanEach([name], ignoreBegin),
    scanEach,
    async findDamage(report) {
      const own = openForReading(path);
      try {
        const isBroken = findBrokenPages(own, path, report);
        return (await walkAtOnce(walkedFile(own, { isThorough: true }), report)) || isBroken;
      } catch (error) {
        throw openError(path, error);
      } finally {
        own.close();
      }
    },
    async close() {
      scans.close();
      database.close();
    },
  };
}

/** Does work. Throws StartError for the errors of SQLite. */
function withStartErrors<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw openError(path, error);
  }
}

/**
 * Opens the API keys of the store at `path`. A service can have the store open at the same time. Creates the store if the
 * file does not exist or is empty. Each change is a separate transaction. Throws StartError, also from each method.
 */
function openSqliteKeys(path: string): OpenKeys {
  requireSafeSqlite();
  requireWritablePath(path);
  if (!mayExist(path)) createFile(path);
  const database = openForKeys(path);
  const attempt = async <T>(work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw openError(path, error);
    }
  };
  const runner = new PlanRunner(database);
  const keys = new StoredKeys(storePlans.keys, {
    read: (plan) => attempt(() => runner.run(plan)),
    write: (change) =>
      attempt(() => writeBesideService({ path, database }, () => runner.run(storePlans.keys.change(change)))),
  });
  return Object.assign(keys, {
    hadEver: (...key: [string, string]) => attempt(() => runner.run(hadEver(storePlans, ...key))),
    close: async () => database.close(),
  });
}

/** How long to wait for a service that is starting. */
const startWaitMs = 5_000;
const attemptPauseMs = 50;

/**
 * Writes in a transaction. A service that has the store open must use the same files, or it would overwrite what was written.
 * Throws StartError if it does not.
 */
async function writeBesideService<T>(
  { path, database }: { path: string; database: DatabaseSync },
  write: () => T,
): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += attemptPauseMs) {
    database.exec("begin immediate");
    try {
      if (sharesFiles(path, database)) {
        const result = write();
        database.exec("commit");
        return result;
      }
    } finally {
      if (database.isTransaction) database.exec("rollback");
    }
    if (waitedMs >= startWaitMs) throw otherFiles(path, "Nothing was written.");
    await sleep(attemptPauseMs);
  }
}

/** Creates the store. The lock prevents two processes from doing it at the same time. */
function createFile(path: string): void {
  const lock = takeLock(path);
  try {
    prepareFile(path, { lock });
  } finally {
    lock.release();
  }
}

/** Opens SQLite files. Only one process can open a file for writing. */
export const sqliteEngine: Engine<{ path: string }> = {
  open: async (address, options) => {
    if (address.path === memoryPath) return (await import("./memory/memory-store.ts")).openInMemory(options);
    return options.attachment === undefined
      ? openSqliteStore(await intactPath(address), options)
      : joinSqliteStore(options.attachment as SqliteAttachment, options);
  },
  openReader: async (address) => openSqliteReader(await intactPath(address)),
  openKeys: async (address) => openSqliteKeys(await intactPath(address)),
  openSource: async (address) =>
    (await import("./copy/file-copy.ts")).openSqliteSource(await intactPath(address)),
  backUp: async (address, { path }, options) =>
    (await import("./copy/backup.ts")).backUpSqlite(await intactPath(address), path, options),
  openTarget: async (address) => (await import("./copy/file-copy.ts")).openSqliteTarget(realPath(address)),
  mayExist: ({ path }) => mayExist(path),
  requireStore: ({ path }) => requireFile(path),
  describeError,
};

/** Seals the file of a backup, from a store of any kind. Throws StartError. */
export async function sealFile(path: string): Promise<void> {
  await (await import("./copy/backup.ts")).sealBackup(path);
}

/** As `realPath`. Throws StartError also if the file is a backup that was changed. */
async function intactPath(address: { path: string }): Promise<string> {
  const path = realPath(address);
  try {
    await requireIntact(path);
  } catch (error) {
    throw openError(path, error);
  }
  return path;
}

/** The target of a symbolic link. SQLite follows the link, so its log and our lock file must be next to the target. */
function realPath({ path }: { path: string }): string {
  if (existsSync(path)) return realpathSync(path);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    throw new StartError(
      `${path} is a link to a file that does not exist. Create that file empty, or choose another store.`,
    );
  }
  return path;
}
