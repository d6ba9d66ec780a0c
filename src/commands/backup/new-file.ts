/**
 * Creates a store's file so that nothing incomplete ever has its name. The work happens in a folder of its own beside the file.
 */
import { closeSync, existsSync, fsyncSync, linkSync, openSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { StartError } from "../../errors.ts";
import type { BackedUp } from "../../store/core/copy/backup.ts";
import { backUpStore, onStoreOf, type StoreAddress } from "../../store/open.ts";
import { startProgress } from "../progress.ts";
import { takeWorkFolder, type WorkFolder } from "./work-folder.ts";

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
export function backUpInto(store: StoreAddress, file: string, signal: AbortSignal): Promise<BackedUp> {
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
