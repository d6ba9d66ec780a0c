/**
 * Checks, creates and opens the file of a store. All errors are StartErrors that say what the user can do. The lock of the file
 * is in `lock.ts`.
 */
import { accessSync, constants, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StartError, StoreFull } from "../../../errors.ts";
import { requireFormat } from "../../core/format.ts";
import { PlanRunner, storePlans } from "../sqlite-dialect.ts";
import { describeError, failureOf, resultCode } from "./failures.ts";
import type { WriteLock } from "./lock.ts";
import { hasSeal, mayBeOpen, openUnlocked, removeSeal } from "./seal.ts";
import { applicationId, copyingTable, formatNumber, storeTables } from "./tables.ts";
import { damagedNumber, withBigIntsIfNeeded } from "./wide-integers.ts";

/** In older versions, two connections together can corrupt a file (the WAL-reset bug). */
const oldestSqlite = [3, 51, 3] as const;

const busyTimeoutMs = 5_000;

/** Throws StartError if the SQLite of this Node has a bug that loses data. */
export function requireSafeSqlite(version: string = process.versions.sqlite ?? "0"): void {
  const parts = version.split(".").map(Number);
  const difference = oldestSqlite.map((part, index) => (parts[index] ?? 0) - part).find((n) => n !== 0);
  if (difference === undefined || difference > 0) return;
  throw new StartError(
    `SQLite ${version}, which this Node contains, can damage files. Use a newer Node, with SQLite ${oldestSqlite.join(".")} or later.`,
  );
}

/** Throws StartError if this user cannot write to a store at `path`, or cannot create one there. */
export function requireWritablePath(path: string): void {
  const folder = dirname(resolve(path));
  const file = statOf(path);
  if (file === undefined) requireFolder(path, folder);
  else if (!file.isFile()) throw new StartError(`${path} is not a file. Choose another store.`);
  else if (file.nlink > 1) {
    // The log and the lock file belong to a name of the file. Two services with two names would overwrite each other's data.
    throw new StartError(`${path} has several hard links. Remove the others, or choose another store.`);
  } else if (!isWritable(path)) {
    throw new StartError(`${path} is read-only for this user. Allow writing to it, or choose another store.`);
  }
  if (!isWritable(folder)) {
    throw new StartError(
      `The folder ${folder} is read-only for this user. Allow writing to it, or choose another store.`,
    );
  }
}

/**
 * Whether `path` contains anything except an empty file, which a killed process can leave behind. It does not check
 * whether the content is a store.
 */
export function mayExist(path: string): boolean {
  if (statOf(path)?.isFile() !== true) return statOf(path) !== undefined;
  const database = mayBeOpen(path) ? openDatabase(path, { readOnly: true }) : openUnlocked(path);
  try {
    return !isEmpty(database);
  } catch {
    return true; // opening the store reports the error
  } finally {
    database.close();
  }
}

/** Throws StartError if `path` has no file, or an empty one. */
export function requireFile(path: string): void {
  if (statOf(path)?.isFile() !== true) throw new StartError(`The store ${path} does not exist.`);
  if (!mayExist(path)) throw new StartError(`The store ${path} does not exist yet: its file is empty.`);
}

/**
 * Creates the tables if the file does not exist or is empty. Throws StartError if the file is not a store. Throws it also if the
 * file contains an incomplete copy, unless `allowIncomplete` is set, and if `lock` records a store that is gone.
 */
export function prepareFile(
  path: string,
  { allowIncomplete = false, lock }: { allowIncomplete?: boolean; lock?: WriteLock | undefined } = {},
): void {
  if (lock?.hadStore === true) requireNotLost(path);
  const database = openDatabase(path);
  try {
    if (isEmpty(database)) createTables(database);
    requireStore(path, database, allowIncomplete);
    // This is also the first write. It fails if the file system does not allow writes.
    database.exec("pragma journal_mode = wal");
    if (!allowIncomplete) removeSeal(database); // the target of a copy is empty, or it is refused
  } catch (error) {
    throw openError(path, error);
  } finally {
    database.close(); // moves everything into the file, and flushes it
  }
  lock?.noteStore();
}

/**
 * Throws StartError if there is a log without a database. SQLite would remove the log, which contains the last writes to the
 * database. Someone may only have moved the database.
 */
function requireDatabaseOfLog(path: string): void {
  const log = `${path}-wal`;
  if (hasContent(path) || !hasContent(log)) return;
  throw new StartError(
    `${path} is missing or empty, but its log ${log} has writes. Put the file back. If you do not need these writes, remove the log.`,
  );
}

function requireNotLost(path: string): void {
  requireDatabaseOfLog(path);
  if (hasContent(path)) return;
  throw new StartError(
    `${path} is missing or empty, but its lock file ${path}.lock shows that it was a store. Put the file back, or move it away and restore a backup with "npx holdfast restore". To begin with an empty store, remove the lock file.`,
  );
}

/** Opens a read-only connection. Throws StartError if the file is not a store. */
export function openForReading(path: string): DatabaseSync {
  return openIfStore(path, () =>
    hasSeal(path) ? openUnlocked(path) : openDatabase(path, { readOnly: true }),
  );
}

/** Opens a connection for short writes to the table of API keys, while a service can have the store open. Throws StartError. */
export function openForKeys(path: string): DatabaseSync {
  return openIfStore(
    path,
    () => openDatabase(path),
    (database) => {
      removeSeal(database);
      database.exec("pragma synchronous = full");
    },
  );
}

function openIfStore(
  path: string,
  open: () => DatabaseSync,
  prepare: (database: DatabaseSync) => void = () => {},
): DatabaseSync {
  const database = open();
  try {
    requireStore(path, database);
    prepare(database);
    return database;
  } catch (error) {
    database.close();
    throw openError(path, error);
  }
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function hasContent(path: string): boolean {
  return (statOf(path)?.size ?? 0) > 0;
}

function requireFolder(path: string, folder: string): void {
  if (statOf(folder)?.isDirectory() === true) return;
  throw new StartError(`The folder of ${path} does not exist. Create ${folder}, or choose another store.`);
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Opens a connection. Throws StartError. With an empty file, a plain connection of SQLite would remove the log.
 */
export function openDatabase(path: string, options: { readOnly?: boolean } = {}): DatabaseSync {
  requireDatabaseOfLog(path);
  try {
    return new DatabaseSync(path, { timeout: busyTimeoutMs, limits: { attach: 0 }, ...options });
  } catch (error) {
    throw openError(path, error);
  }
}

function isEmpty(database: DatabaseSync): boolean {
  const hasTables = database.prepare("select 1 from sqlite_schema limit 1").get() !== undefined;
  return !hasTables && applicationIdOf(database) === 0;
}

function applicationIdOf(database: DatabaseSync): number {
  return Number(database.prepare("pragma application_id").get()?.application_id);
}

/** Creates the tables of an empty store. */
export function createTables(database: DatabaseSync): void {
  // Before the tables, so that they are written through the log. Only this change of the mode uses a rollback journal.
  database.exec("pragma journal_mode = wal");
  database.exec(`begin immediate; ${storeTables}`);
  new PlanRunner(database).run(storePlans.secret.add());
  database.exec("commit");
}

function requireStore(path: string, database: DatabaseSync, allowIncomplete = false): void {
  if (applicationIdOf(database) !== applicationId) {
    throw new StartError(`${path} is a SQLite database of another program. Choose another store.`);
  }
  const select = database.prepare("select value from meta where name = 'format'");
  const format = withBigIntsIfNeeded(select, () => select.get()?.value);
  if (typeof format !== "number") throw damaged(path, "it has no format number");
  requireFormat(path, format, formatNumber);
  if (!allowIncomplete && isIncompleteCopy(database)) {
    throw new StartError(
      `${path} holds an incomplete copy. Run the same "npx holdfast copy" again, or choose another store.`,
    );
  }
}

/** Whether a copy into the file has started and has not finished. */
export function isIncompleteCopy(database: DatabaseSync): boolean {
  return database.prepare("select 1 from sqlite_schema where name = ?").get(copyingTable) !== undefined;
}

function damaged(path: string, reason: string): StartError {
  return new StartError(`${path} is damaged (${reason}). Restore an intact backup.`);
}

/** The StartError for an error of SQLite. Returns any other error unchanged. */
export function openError(path: string, error: unknown): unknown {
  if (error instanceof StartError) return error;
  const reason = describeError(error);
  switch (failureOf(error)) {
    case "busy":
      return new StartError(
        `${path} is locked by another program (${reason}). Stop that program, or choose another store.`,
      );
    case "full":
      return new StoreFull(path);
    case "broken":
      return resultCode(error) === readOnlyDirectory ? readOnlyFolderError(path) : brokenError(path, reason);
    default:
      // The file lacks a table or column that should exist.
      return resultCode(error) === undefined ? damagedNumber(error) : damaged(path, reason);
  }
}

/** SQLITE_READONLY_DIRECTORY. Even a reader needs the index of the log (`-shm`), and creates it next to the store. */
const readOnlyDirectory = 1544;

function readOnlyFolderError(path: string): StartError {
  return new StartError(
    `${path} cannot be read, because this user cannot write to its folder. Run this as the user of the service, or allow writing to ${dirname(resolve(path))}.`,
  );
}

function brokenError(path: string, reason: string): StartError {
  if (/not a database/.test(reason)) {
    return new StartError(
      `${path} is not a SQLite database, or its beginning is damaged. Choose another store.`,
    );
  }
  if (/malformed/.test(reason)) return damaged(path, reason);
  const advice = /unable to open/.test(reason) ? " Check that this user has permission to read it." : "";
  return new StartError(`${path} cannot be opened: ${reason}.${advice}`);
}
