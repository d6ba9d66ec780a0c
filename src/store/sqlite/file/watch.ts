/**
 * Detects that a file of the store was removed, replaced, emptied or cut. Writes to a removed file would be lost. Without the lock
 * file, a second service could write to the store. Without the index of the log (`-shm`), another process would make a new one,
 * and the two would overwrite each other's commits.
 */
import { createHash } from "node:crypto";
import { type Stats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";
import { StartError } from "../../../errors.ts";
import { isLockedForWriting } from "./lock.ts";
import { createLogReader, pageBytes } from "./log-state.ts";
import { withBigIntsIfNeeded } from "./wide-integers.ts";

const intervalMs = 2_000;

/** The endings of the files that SQLite uses for a store. */
const endings = ["", "-wal", "-shm"] as const;

/**
 * Checks the database, its log, the index of the log and the lock file every two seconds. Calls `onGone` with the reason if one
 * was removed, replaced, emptied or cut, and `onTick` otherwise. Returns a function that stops the checks. `database` is a
 * connection to the store.
 */
export function watchFiles(
  path: string,
  database: DatabaseSync,
  { onGone, onTick }: { onGone(reason: string): void; onTick(): void },
): () => void {
  const findCut = createCutCheck(path, database);
  // Only `stat` is safe here. If this process opened and closed one of these files, it would lose SQLite's locks on it.
  const files = [...endings, ".lock"].map((ending) => ({
    file: path + ending,
    inode: inodeAt(path + ending),
  }));
  let isStopped = false;
  const check = async () => {
    for (const { file, inode } of files) {
      const gone = describeGone(
        { file, inode, isDatabase: file === path },
        await stat(file).catch(() => undefined),
      );
      if (isStopped) return;
      if (gone !== undefined) return onGone(gone);
    }
    const cut = findCut();
    if (cut !== undefined) return onGone(`${cut} was cut while it was in use`);
    onTick();
  };
  const timer = setInterval(() => void check(), intervalMs);
  timer.unref();
  return () => {
    isStopped = true; // a check can wait for the file system
    clearInterval(timer);
  };
}

/**
 * Returns a function that checks whether a file of SQLite was removed, replaced or emptied, and returns the reason. The writer
 * calls it after each group of commits, before they are confirmed. It takes 3 µs, and a group takes hundreds.
 */
export function createFileCheck(path: string): () => string | undefined {
  const known = new Map([[path, inodeAt(path)]]);
  const files = endings.map((ending) => path + ending);
  return () => {
    for (const file of files) {
      const found = statSync(file, { throwIfNoEntry: false });
      if (!known.has(file)) known.set(file, inodeOf(found));
      const gone = describeGone({ file, inode: known.get(file), isDatabase: file === path }, found);
      if (gone !== undefined) return gone;
    }
    return undefined;
  };
}

interface Watched {
  file: string;
  inode: string | undefined;
  isDatabase: boolean;
}

/** The database is never empty: SQLite writes its first page before the log exists. */
function describeGone({ file, inode, isDatabase }: Watched, found: Stats | undefined): string | undefined {
  const isSame = inodeOf(found) === inode;
  if (isSame && !(isDatabase && found?.size === 0)) return undefined;
  const how = found === undefined ? "removed" : isSame ? "emptied" : "replaced";
  return `${file} was ${how} while it was in use`;
}

/**
 * Returns a function that checks whether another program has cut the database or its log, and returns the path of that file. A
 * checkpoint can also make both smaller, so only the state of the log shows how long they must be.
 */
function createCutCheck(path: string, database: DatabaseSync): () => string | undefined {
  const readLog = createLogReader(database);
  const pageCount = database.prepare("pragma page_count");
  const bytesOfPage = pageBytes(database);
  const log = `${path}-wal`;
  const findCut = () => {
    const before = readLog();
    const pages = Number(pageCount.get()?.page_count);
    const [size, logSize] = [sizeOf(path), sizeOf(log)];
    const after = readLog();
    const isUnchanged = after.all === before.all && after.waiting === before.waiting;
    if (!isUnchanged) return undefined; // a commit or a checkpoint is in progress, and a later check looks again
    if (before.all > 0 && logSize < before.all * bytesOfPage) return log;
    return before.waiting === 0 && size < pages * bytesOfPage ? path : undefined;
  };
  return () => {
    try {
      const cut = findCut();
      return cut !== undefined && findCut() === cut ? cut : undefined;
    } catch {
      return undefined; // reads and writes report the failures of the disk
    }
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The device and inode of the file at a path. `undefined` if no file exists there. */
export function inodeAt(path: string): string | undefined {
  return inodeOf(statSync(path, { throwIfNoEntry: false }));
}

function inodeOf(found: Stats | undefined): string | undefined {
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}

/** Notes in the store which files its writer uses. The writer calls it in a transaction. */
export function noteFiles(path: string, database: DatabaseSync): void {
  const note = "insert into meta values ('files', ?) on conflict (name) do update set value = excluded.value";
  database.prepare(note).run(filesNumber(path));
}

/** Whether a process that has the store open for writing, if there is one, uses the same files as this connection. */
export function sharesFiles(path: string, database: DatabaseSync): boolean {
  const select = database.prepare("select value from meta where name = 'files'");
  const noted = withBigIntsIfNeeded(select, () => select.get()?.value);
  return noted === filesNumber(path) || !isLockedForWriting(path);
}

/** The StartError for a store whose processes do not use the same files. */
export function otherFiles(path: string, outcome: string): StartError {
  return new StartError(
    `The program that has ${path} open uses another ${path}, ${path}-wal or ${path}-shm. One of these files was removed or replaced. ${outcome} Restart the service, and try again.`,
  );
}

const numberBytes = 6;

/** A number for the present files of SQLite, made of their inodes. Containers can see one device with different numbers. */
export function filesNumber(path: string): number {
  const inodes = endings.map((ending) => statSync(path + ending, { throwIfNoEntry: false })?.ino);
  return createHash("sha256").update(JSON.stringify(inodes)).digest().readUIntBE(0, numberBytes);
}
