/** Opens the file of a store, and refuses clearly what is none. */
import { accessSync, constants, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StartError } from "../../../errors.ts";
import { describeError, failureOf, resultCode } from "./failures.ts";
import { addSecret } from "./secret.ts";
import {
  applicationId,
  copyingTable,
  firstFormatNumber,
  formatNumber,
  keysTable,
  storeTables,
} from "./tables.ts";

/** Before this version two connections could corrupt a file between them (the WAL-reset bug). */
const oldestSqlite = [3, 51, 3] as const;

const busyTimeoutMs = 5_000;

/** Throws StartError when the SQLite of this Node has a bug that loses data. */
export function requireSoundSqlite(version: string = process.versions.sqlite ?? "0"): void {
  const parts = version.split(".").map(Number);
  const difference = oldestSqlite.map((part, index) => (parts[index] ?? 0) - part).find((n) => n !== 0);
  if (difference === undefined || difference > 0) return;
  throw new StartError(
    `SQLite ${version}, which this Node contains, can damage files. Use a newer Node, with SQLite ${oldestSqlite.join(".")} or later.`,
  );
}

/** Throws StartError when there can be no store at `path` that this user may write. */
export function requireWritablePlace(path: string): void {
  const folder = dirname(resolve(path));
  const file = statOf(path);
  if (file === undefined) requireFolder(path, folder);
  else if (!file.isFile()) throw new StartError(`${path} is not a file. Choose another store.`);
  else if (file.nlink > 1) {
    // SQLite's log and our lock belong to a name: under two names, two services would overwrite each other.
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

/** Whether there is a store at `path`, or something that is no store. A process that is killed may leave an empty file. */
export function isMade(path: string): boolean {
  if (statOf(path)?.isFile() !== true) return statOf(path) !== undefined;
  const database = openDatabase(path, { readOnly: true });
  try {
    return !isEmpty(database);
  } catch {
    return true; // the attempt to use it tells what is wrong with it
  } finally {
    database.close();
  }
}

/** Throws StartError if there is no file at `path`, or an empty one, which a process can leave behind when it is killed. */
export function requireFile(path: string): void {
  if (statOf(path)?.isFile() !== true) throw new StartError(`The store ${path} does not exist.`);
  if (!isMade(path)) throw new StartError(`The store ${path} does not exist yet: its file is empty.`);
}

/**
 * Opens the store's file and makes it one if it is new or empty. Throws StartError when it is not, or cannot become, a
 * store, and when a copy into it is not finished, unless it may be so.
 */
export function prepareFile(path: string, { mayBeUnfinished = false } = {}): void {
  requireFileOfLog(path);
  const database = openDatabase(path);
  try {
    if (isEmpty(database)) createTables(database);
    requireStore(path, database, mayBeUnfinished);
    // Also the first thing that writes; it fails where the file system does not let us.
    database.exec("pragma journal_mode = wal");
    addSecret(database);
    raiseFormat(database);
  } catch (error) {
    throw openError(path, error);
  } finally {
    database.close();
  }
}

/** From here on, a program of an older version refuses the file. */
function raiseFormat(database: DatabaseSync): void {
  const raise = database.prepare("update meta set value = ? where name = 'format' and value < ?");
  raise.run(formatNumber, formatNumber);
}

/** SQLite removes the log of a file that is missing or empty, and with it the last writes to a file that was only moved. */
function requireFileOfLog(path: string): void {
  const log = `${path}-wal`;
  if ((statOf(path)?.size ?? 0) > 0 || (statOf(log)?.size ?? 0) === 0) return;
  throw new StartError(
    `${path} is missing or empty, but its log ${log} has writes. Put the file back. If you do not need these writes, remove the log.`,
  );
}

/** Opens a connection that only reads. Throws StartError when the file is not a store. */
export function openForReading(path: string): DatabaseSync {
  const database = openDatabase(path, { readOnly: true });
  try {
    requireStore(path, database);
    return database;
  } catch (error) {
    database.close();
    throw openError(path, error);
  }
}

/** Opens a connection that writes for a moment now and then, beside the one that owns the store. Throws StartError. */
export function openForKeys(path: string): DatabaseSync {
  const database = openDatabase(path);
  try {
    requireStore(path, database);
    database.exec(`pragma synchronous = full; ${keysTable}`);
    return database;
  } catch (error) {
    database.close();
    throw openError(path, error);
  }
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
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

function openDatabase(path: string, options: { readOnly?: boolean } = {}): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: busyTimeoutMs, limits: { attach: 0 }, ...options });
  } catch (error) {
    throw openError(path, error);
  }
}

function isEmpty(database: DatabaseSync): boolean {
  return database.prepare("select 1 from sqlite_schema limit 1").get() === undefined && idOf(database) === 0;
}

function idOf(database: DatabaseSync): number {
  return Number(database.prepare("pragma application_id").get()?.application_id);
}

function createTables(database: DatabaseSync): void {
  // First of all, so that no journal of the other kind ever lies beside the file.
  database.exec("pragma journal_mode = wal");
  database.exec(`begin immediate; ${storeTables} commit`);
}

function requireStore(path: string, database: DatabaseSync, mayBeUnfinished = false): void {
  if (idOf(database) !== applicationId) {
    throw new StartError(`${path} is a SQLite database of another program. Choose another store.`);
  }
  const format = database.prepare("select value from meta where name = 'format'").get()?.value;
  if (typeof format !== "number") throw damaged(path, "it has no format number");
  if (format < firstFormatNumber) {
    throw new StartError(
      `${path} was written by an unreleased version of Holdfast (format ${format}; this version uses ${formatNumber}). Choose another store, and import what that version exports.`,
    );
  }
  if (format > formatNumber) {
    throw new StartError(
      `${path} was written by a newer version of Holdfast (format ${format}; this version uses ${formatNumber}). Use that version or a later one.`,
    );
  }
  if (!mayBeUnfinished && isUnfinished(database)) {
    throw new StartError(
      `${path} holds an incomplete copy. Run the same "npx holdfast copy" again, or choose another store.`,
    );
  }
}

/** Whether a copy into the file was broken off, or is under way. */
export function isUnfinished(database: DatabaseSync): boolean {
  return database.prepare("select 1 from sqlite_schema where name = ?").get(copyingTable) !== undefined;
}

function damaged(path: string, reason: string): StartError {
  return new StartError(`${path} is damaged (${reason}). Restore it from a backup.`);
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
      return new StartError(`The disk of ${path} is full. Free some space, or choose another store.`);
    case "broken":
      return resultCode(error) === readOnlyFolder ? forbiddenBeside(path) : brokenError(path, reason);
    default:
      // SQLite misses a table or column that should be there.
      return resultCode(error) === undefined ? error : damaged(path, reason);
  }
}

/** SQLITE_READONLY_DIRECTORY: also who only reads needs a file beside the store, which its readers and writer share. */
const readOnlyFolder = 1544;

function forbiddenBeside(path: string): StartError {
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
