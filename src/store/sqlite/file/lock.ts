/**
 * The lock of a store: a very small SQLite file next to it. A writer locks this file exclusively. Readers that need the store
 * unchanged share the lock. The operating system releases it when the process ends, so no stale lock remains. The file also
 * records that there was a store: a new store must not replace one whose file was lost.
 */
import { DatabaseSync } from "node:sqlite";
import { StartError, StoreInUse } from "../../../errors.ts";
import { failureOf } from "./failures.ts";
import { applicationId } from "./tables.ts";

/** A lock that this process holds. */
export interface Lock {
  release(): void;
}

/** A lock for writing. */
export interface WriteLock extends Lock {
  /** Whether the lock file records a store. */
  readonly hadStore: boolean;
  /** Records that there is a store. Call it when the store is on the disk. Throws StartError, also if another process gets the lock first. */
  noteStore(): void;
}

const exclusively = "begin exclusive";
const stopIt = "Stop it, or choose another store";

/** Locks the store at `path` for writing. Throws StartError if another process has a lock. */
export function takeLock(path: string): WriteLock {
  const { database, release } = hold(path, exclusively, stopIt);
  const hadStore = database.prepare("pragma application_id").get()?.application_id === applicationId;
  const noteStore = () => {
    if (hadStore) return;
    try {
      database.exec(`pragma application_id = ${applicationId}; commit; ${exclusively}`);
    } catch (error) {
      throw lockError(path, error, stopIt);
    }
  };
  return { hadStore, noteStore, release };
}

/** Prevents writes to the store at `path`. Throws StartError if another process has locked it for writing. */
export function takeReadLock(path: string): Lock {
  const advice = "Stop it first, or restart the service with --read-only";
  return hold(path, "begin; select 1 from sqlite_schema", advice);
}

/** Whether another process has locked the store at `path` for writing. Throws StartError if the lock cannot be opened. */
export function isLockedForWriting(path: string): boolean {
  try {
    takeReadLock(path).release();
    return false;
  } catch (error) {
    if (error instanceof StoreInUse) return true;
    throw error;
  }
}

/** A command that only looks whether the store is locked holds the lock for a moment. */
const waitMs = 250;

function hold(path: string, begin: string, advice: string): Lock & { database: DatabaseSync } {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(`${path}.lock`, { timeout: waitMs });
    database.exec(begin); // the open transaction is the lock
  } catch (error) {
    database?.close();
    throw lockError(path, error, advice);
  }
  const locked = database;
  return { database: locked, release: () => locked.close() };
}

function lockError(path: string, error: unknown, advice: string): unknown {
  if (failureOf(error) === "busy") {
    return new StoreInUse(
      `${path} is in use by another Holdfast program (a service, an import or a copy). ${advice}.`,
    );
  }
  if (failureOf(error) === "full") {
    return new StartError(`The disk of ${path} is full. Free some space, or choose another store.`);
  }
  if (failureOf(error) === "broken") {
    return new StartError(`${path}.lock cannot be opened. Allow this user to write to it and to its folder.`);
  }
  return error;
}
