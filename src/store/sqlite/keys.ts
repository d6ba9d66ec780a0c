/** API keys in a store's file. The open store uses them, and so do commands while a service has the store open. */
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiKey, KeyInvalidation, Keys, OpenKeys } from "../port/keys.ts";
import { takeLock } from "./file/lock.ts";
import {
  mayExist,
  openError,
  openForKeys,
  prepareFile,
  requireSafeSqlite,
  requireWritablePath,
} from "./file/open-file.ts";
import { otherFiles, sharesFiles } from "./file/watch.ts";
import { type KeyChange, KeyTable } from "./key-table.ts";

/** Access to the table of API keys. */
interface KeyAccess {
  read<T>(read: (table: KeyTable) => T): Promise<T>;
  /** Returns whether the change had an effect. */
  write(change: KeyChange): Promise<boolean>;
}

/** API keys in a SQLite file. */
export class SqliteKeys implements Keys {
  readonly #access: KeyAccess;

  constructor(access: KeyAccess) {
    this.#access = access;
  }

  find(prefix: string): Promise<ApiKey | undefined> {
    return this.#access.read((table) => table.find(prefix));
  }

  all(): Promise<readonly ApiKey[]> {
    return this.#access.read((table) => table.all());
  }

  add(key: ApiKey): Promise<boolean> {
    return this.#access.write({ kind: "add", key });
  }

  async invalidate(prefix: string, how: KeyInvalidation): Promise<void> {
    await this.#access.write({ kind: "invalidate", prefix, how });
  }

  async noteUse(prefix: string, at: number): Promise<void> {
    await this.#access.write({ kind: "use", prefix, at });
  }
}

/**
 * Opens the API keys of the store at `path`. A service can have the store open at the same time. Creates the store if the
 * file does not exist or is empty. Each change is a separate transaction. Throws StartError, also from each method.
 */
export function openSqliteKeys(path: string): OpenKeys {
  requireSafeSqlite();
  requireWritablePath(path);
  if (!mayExist(path)) createFile(path);
  const database = openForKeys(path);
  const withStartErrors = async <T>(work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw openError(path, error);
    }
  };
  const table = new KeyTable(database);
  const keys = new SqliteKeys({
    read: (read) => withStartErrors(() => read(table)),
    write: (change) =>
      withStartErrors(() => writeBesideService({ path, database }, () => table.change(change))),
  });
  return Object.assign(keys, { close: async () => database.close() });
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
