/**
 * Backs up a store's file page by page. One read transaction gives the copy and the comparison the same moment. SQLite would
 * start a copy without it again after every write of the service.
 */
import { closeSync, fdatasyncSync, openSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { StartError } from "../../../errors.ts";
import { survey } from "../../core/copy/contents.ts";
import { type BackupOptions, defaultPageSize, withProgress } from "../../core/copy/copy.ts";
import { StoredContents } from "../../core/copy/stored-contents.ts";
import { type VerifiedContents, verifyCopy } from "../../core/copy/verify.ts";
import { openError, openForReading, requireFile, requireSafeSqlite } from "../file/open-file.ts";
import { mayBeOpen, openUnlocked, removeSeal, seal } from "../file/seal.ts";
import { filesNumber, otherFiles, sharesFiles } from "../file/watch.ts";
import { forgetErasures, rewriteFile, unfinishedErasures } from "../writer/file-erasure.ts";
import { sqliteContents } from "./file-copy.ts";

/** The pages of one step. After each step, the backup waits for the disk and can be interrupted. */
const pagesPerStep = 500;

/**
 * Backs up the store at `path` into a new file. Compares every item with the store, and checks every page of the file. Throws
 * StartError, and the reason of the signal if it is aborted.
 */
export async function backUpSqlite(
  path: string,
  to: string,
  options: BackupOptions,
): Promise<VerifiedContents> {
  requireSafeSqlite();
  requireFile(path);
  const database = openForReading(path);
  try {
    database.exec("begin");
    if (mayBeOpen(path) && !sharesFiles(path, database)) throw otherFiles(path, "No backup was made.");
    const files = filesNumber(path);
    const backedUp = await copyAndCompare(database, { path, to }, options);
    // A service with other files does not know of this transaction, and can have overwritten what it read.
    if (filesNumber(path) !== files) throw otherFiles(path, "No backup was made.");
    return backedUp;
  } catch (error) {
    throw openError(path, error);
  } finally {
    database.close();
  }
}

/** Seals the file of a complete backup, from a store of any kind. Throws StartError. */
export async function sealBackup(path: string): Promise<void> {
  try {
    await seal(path);
  } catch (error) {
    throw openError(path, error);
  }
}

async function copyAndCompare(
  database: DatabaseSync,
  { path, to }: { path: string; to: string },
  options: BackupOptions,
): Promise<VerifiedContents> {
  const source = contentsOf(path, database);
  const surveyed = await survey(source); // the first read fixes the moment
  await withProgress(options, { what: "copying", total: surveyed.total }, (watch) =>
    copyPages(database, to, (share) => {
      options.signal?.throwIfAborted();
      watch.update(Math.floor(share * surveyed.total), Math.floor(share * surveyed.resources));
    }),
  );
  try {
    tidyUp(to);
  } catch (error) {
    throw openError(to, error);
  }
  const copy = openUnlocked(to);
  try {
    requireSound(to, copy);
    return await withProgress(options, { what: "verifying", total: surveyed.total }, (watch) =>
      verifyCopy(source, contentsOf(to, copy), {
        survey: surveyed,
        watch,
        size: defaultPageSize,
        signal: options.signal,
      }),
    );
  } finally {
    copy.close();
  }
}

function contentsOf(path: string, database: DatabaseSync): StoredContents {
  return new StoredContents(sqliteContents(database, (error) => openError(path, error)));
}

/**
 * Copies all pages and calls `report` with the finished share after each step. Each step waits until its pages are on the disk.
 * Otherwise the disk would write all of them at once, while the commits of the service wait.
 */
async function copyPages(database: DatabaseSync, to: string, report: (share: number) => void): Promise<void> {
  const file = openSync(to, "r+");
  const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }) => {
    fdatasyncSync(file);
    report(1 - remainingPages / totalPages);
  };
  try {
    await backup(database, to, { rate: pagesPerStep, progress });
  } catch (error) {
    throw openError(to, error);
  } finally {
    closeSync(file);
  }
}

/** Removes the seal of the source from a copy of its file, and the text that an interrupted erase has left in unused parts. */
function tidyUp(path: string): void {
  const database = new DatabaseSync(path, { limits: { attach: 0 } });
  try {
    removeSeal(database);
    if (unfinishedErasures(database).length === 0) return;
    rewriteFile(database);
    forgetErasures(database);
  } finally {
    database.close();
  }
}

function requireSound(path: string, database: DatabaseSync): void {
  const result = database.prepare("pragma integrity_check(1)").get()?.integrity_check;
  if (result !== "ok")
    throw new StartError(`The backup ${path} is damaged: ${result}. Back up to another disk.`);
}
