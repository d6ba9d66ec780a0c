/** API keys in a store's file, for commands. A service can have the store open at the same time. */
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { StoredKeys } from "../core/key-plans.ts";
import type { OpenKeys } from "../port/keys.ts";
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
import { keyPlans, PlanRunner } from "./sqlite-dialect.ts";

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
  const runner = new PlanRunner(database);
  const keys = new StoredKeys(keyPlans, {
    read: (plan) => withStartErrors(() => runner.run(plan)),
    write: (change) =>
      withStartErrors(() =>
        writeBesideService({ path, database }, () => runner.run(keyPlans.change(change))),
      ),
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
