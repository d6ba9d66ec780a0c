/** A store's file as the source of a copy. A lock prevents changes of resources during the copy, but not of API keys. */
import type { DatabaseSync } from "node:sqlite";
import type { CopySource } from "../../core/copy/contents.ts";
import { type Lock, takeReadLock } from "../file/lock.ts";
import { openError, openForReading, requireFile, requireSafeSqlite } from "../file/open-file.ts";
import { hasSeal } from "../file/seal.ts";
import { SqliteContents } from "./contents.ts";

/** Opens the store at `path` as the source of a copy. Throws StartError, also if a service or an import has it open. */
export function openSqliteSource(path: string): CopySource {
  requireSafeSqlite();
  requireFile(path);
  const lock = hasSeal(path) ? undefined : takeReadLock(path); // a backup does not change
  let database: DatabaseSync | undefined;
  try {
    database = openForReading(path);
    return new SqliteSource(path, database, lock);
  } catch (error) {
    database?.close();
    lock?.release();
    throw openError(path, error);
  }
}

/** The source, in the state at the time of its opening. */
class SqliteSource extends SqliteContents implements CopySource {
  readonly #database: DatabaseSync;
  readonly #lock: Lock | undefined;

  constructor(path: string, database: DatabaseSync, lock: Lock | undefined) {
    super(path, database);
    this.#database = database;
    this.#lock = lock;
    database.exec("begin"); // all reads see one snapshot, even if a command changes API keys, which the lock allows
  }

  async refresh(): Promise<void> {
    this.#database.exec("commit; begin");
  }

  async close(): Promise<void> {
    this.#database.close();
    this.#lock?.release();
  }
}
