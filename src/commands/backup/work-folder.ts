/**
 * The folder in which a file is made. A process locks a file in it while it works there. The operating system releases the lock
 * when the process ends, so a folder that a killed process left is recognised and used again.
 */
import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StartError } from "../../errors.ts";

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
