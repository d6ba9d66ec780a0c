/**
 * Creates a store's file so that nothing incomplete ever has its name. The work happens in a folder of its own beside the file. A
 * process locks a file in the folder while it works there. The operating system releases the lock when the process ends, so a
 * folder that a killed process left is recognised and used again.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StartError } from "../errors.ts";
import type { VerifiedContents } from "../store/core/copy/verify.ts";
import { backUpStore, onStoreOf, type StoreAddress } from "../store/open.ts";
import { startProgress } from "./progress-display.ts";

/**
 * Gives a file its name when `make` has finished and its content is on the disk. Only this user can read the file. Throws
 * StartError if a file has the name already, or if there is a log for it.
 */
export async function createFile<T>(path: string, make: (file: string) => Promise<T>): Promise<T> {
  if (existsSync(path)) throw exists(path);
  requireNoLog(path);
  const folder = workFolderOf(path);
  const work = createFolder(folder);
  try {
    const file = join(folder, "store.db");
    closeSync(openSync(file, "wx", 0o600));
    const made = await make(file);
    sync(file);
    link(file, path);
    sync(dirname(path));
    return made;
  } catch (error) {
    throw isOfSystem(error) ? notWritten(path, error) : error;
  } finally {
    work.remove();
  }
}

/** The folder in which a file is made. */
export function workFolderOf(path: string): string {
  return `${path}.incomplete`;
}

/** Backs up a store into an empty file, and shows the progress. Throws StartError. */
export function backUpInto(
  store: StoreAddress,
  file: string,
  signal: AbortSignal,
): Promise<VerifiedContents> {
  const watch = (what: string, total: number) => startProgress({ what, total });
  return onStoreOf({ kind: "sqlite", path: file }, backUpStore(store, file, { watch, signal }));
}

/** A folder that a killed process left is taken over, unless another process works in it. */
function createFolder(folder: string): WorkFolder {
  try {
    return takeWorkFolder(folder);
  } catch (error) {
    if (error instanceof StartError || !isOfSystem(error)) throw error;
    if (isFull(error)) throw notWritten(folder, error);
    throw new StartError(
      `The folder ${dirname(folder)} does not exist, or this user cannot write to it (${error.code}).`,
    );
  }
}

/** A link fails if the name exists. A rename would replace the other file. */
function link(file: string, path: string): void {
  try {
    linkSync(file, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw exists(path);
    throw error;
  }
}

/**
 * SQLite would apply the log or the journal of an earlier file to the new one: it would get changes of another store, or be damaged.
 * A process that was killed while it created a store leaves a journal.
 */
function requireNoLog(path: string): void {
  for (const log of [`${path}-wal`, `${path}-journal`])
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0)
      throw new StartError(
        `${log} belongs to another store. Move it to the folder where the file of that store is now.`,
      );
}

function exists(path: string): StartError {
  return new StartError(`${path} exists. Choose another file, or move this one away.`);
}

function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

function isFull({ code }: NodeJS.ErrnoException): boolean {
  return code === "ENOSPC" || code === "EDQUOT";
}

function notWritten(path: string, error: NodeJS.ErrnoException): StartError {
  return new StartError(
    isFull(error)
      ? `The disk of ${path} is full. Free some space, or choose another file.`
      : `${path} could not be written (${error.syscall}: ${error.code}). Choose a file on another disk.`,
  );
}

function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A folder that this process works in. */
export interface WorkFolder {
  /** Removes the folder with its files, and releases it. */
  remove(): void;
}

const lockName = "lock";

/** The files that a process makes in its folder. */
const ownNames = /^(?:lock|store\.db.*)$/;

/** How often another process can remove the folder just when this one wants to lock it. */
const maxAttempts = 10;

/**
 * Creates an empty folder, or takes over one that no process works in. Throws StartError if another process is at work in it,
 * or if it contains other files, and the errors of the file system.
 */
export function takeWorkFolder(folder: string): WorkFolder {
  for (let attempts = 0; attempts < maxAttempts; attempts++) {
    create(folder);
    const taken = lock(folder);
    if (taken === "in use") break;
    if (taken !== undefined) return taken;
  }
  throw new StartError(
    `${folder} is in use: another command is making the same file. Wait until it has ended, or choose another file.`,
  );
}

/** Removes a folder that a killed process has left. Returns whether it did. Throws as `takeWorkFolder` does. */
export function removeAbandoned(folder: string): boolean {
  if (!isOwn(folder)) return false;
  const taken = lock(folder);
  if (taken === undefined || taken === "in use") return false;
  taken.remove();
  return true;
}

function create(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (!isOwn(folder))
      throw new StartError(
        `${folder} exists, and contains other files than an interrupted command leaves. Move it away, or choose another file.`,
      );
  }
}

/** Whether a path is a folder with nothing but the files of this program, or does not exist any more. */
function isOwn(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found === undefined || (found.isDirectory() && namesIn(folder).every((name) => ownNames.test(name)));
}

/** Locks a folder, and empties it; `undefined` if it was removed or replaced in the meantime. */
function lock(folder: string): WorkFolder | "in use" | undefined {
  const file = join(folder, lockName);
  const inode = () => statSync(file, { throwIfNoEntry: false })?.ino;
  let database: DatabaseSync | undefined;
  try {
    closeSync(openSync(file, "a", 0o600)); // SQLite would not say why it cannot create the file
    const created = inode();
    database = new DatabaseSync(file);
    // The open transaction is the lock. It never writes.
    database.exec("pragma journal_mode = memory; begin exclusive");
    if (created !== undefined && created === inode()) {
      empty(folder);
      return { remove: remove.bind(undefined, folder, database) };
    }
    database.close();
    return undefined;
  } catch (error) {
    database?.close();
    if (isBusy(error)) return "in use";
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return undefined;
    removeIfEmpty(folder);
    if (!(error instanceof Error && "errcode" in error)) throw error;
    throw new StartError(`${file} cannot be locked (${error.message}). Choose a file on another disk.`);
  }
}

/** SQLITE_BUSY (https://sqlite.org/rescode.html). */
function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === 5;
}

/** The lock goes last, so that no other process works in a folder that is being removed. */
function remove(folder: string, database: DatabaseSync): void {
  empty(folder);
  if (process.platform === "win32") database.close(); // which removes no open file
  rmSync(join(folder, lockName), { force: true });
  removeIfEmpty(folder);
  if (database.isOpen) database.close();
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Another process has just locked the folder.
  }
}

function empty(folder: string): void {
  for (const name of namesIn(folder))
    if (name !== lockName) rmSync(join(folder, name), { recursive: true, force: true });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
