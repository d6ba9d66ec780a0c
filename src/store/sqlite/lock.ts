/**
 * The right to write to a store: a lock file beside it, itself a tiny SQLite file that is held exclusively. The
 * operating system lets go of it when the process dies, however it dies, so there is no stale lock.
 */
import { DatabaseSync } from "node:sqlite";
import { StartError } from "../../errors.ts";
import { failureOf } from "./failures.ts";

/** A right to write that is held. */
export interface Lock {
  release(): void;
}

/** Takes the right to write to the store at `path`. Throws StartError when another process has it. */
export function takeLock(path: string): Lock {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(`${path}.lock`);
    // Nothing is ever written: the open transaction is the lock.
    database.exec("pragma journal_mode = off; begin exclusive");
  } catch (error) {
    database?.close();
    throw lockError(path, error);
  }
  const held = database;
  return { release: () => held.close() };
}

function lockError(path: string, error: unknown): unknown {
  if (failureOf(error) === "busy") {
    return new StartError(
      `${path} is in use by another Holdfast (a service or an import): stop that one, or choose another store.`,
    );
  }
  if (failureOf(error) === "full") {
    return new StartError(
      `There is no room left on the disk of ${path}: make room, or choose another store.`,
    );
  }
  if (failureOf(error) === "broken") {
    return new StartError(`${path}.lock cannot be opened: let this user write to it, or remove it.`);
  }
  return error;
}
