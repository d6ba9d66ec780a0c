/**
 * The right to write to a store: a lock file beside it, itself a tiny SQLite file that is held exclusively, or held by
 * several who only want that nobody writes. The operating system lets go of it when the process dies, however it dies, so
 * there is no stale lock.
 */
import { DatabaseSync } from "node:sqlite";
import { StartError } from "../../../errors.ts";
import { failureOf } from "./failures.ts";

/** A right that is held. */
export interface Lock {
  release(): void;
}

/** Takes the right to write to the store at `path`. Throws StartError when another process has it. */
export function takeLock(path: string): Lock {
  return hold(path, "begin exclusive", "Stop it, or choose another store");
}

/** Keeps everybody from taking the right to write to the store at `path`. Throws StartError when somebody has it. */
export function takeReadLock(path: string): Lock {
  const advice = "Stop it first, or restart the service with --read-only";
  return hold(path, "begin; select 1 from sqlite_schema", advice);
}

function hold(path: string, begin: string, advice: string): Lock {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(`${path}.lock`);
    // Nothing is ever written: the open transaction is the lock.
    database.exec(`pragma journal_mode = off; ${begin}`);
  } catch (error) {
    database?.close();
    throw lockError(path, error, advice);
  }
  const held = database;
  return { release: () => held.close() };
}

function lockError(path: string, error: unknown, advice: string): unknown {
  if (failureOf(error) === "busy") {
    return new StartError(
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
