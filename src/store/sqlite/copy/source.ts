/** A store's file as the source of a copy. A lock prevents changes of resources during the copy, but not of API keys. */
import type { DatabaseSync } from "node:sqlite";
import { StartError } from "../../../errors.ts";
import type { CopySource } from "../../core/copy/contents.ts";
import { type Lock, takeReadLock } from "../file/lock.ts";
import { openError, openForReading, requireFile, requireSafeSqlite } from "../file/open-file.ts";
import { hasSeal } from "../file/seal.ts";
import { readSecret } from "../file/secret.ts";
import { SqliteContents } from "./contents.ts";

/** Opens the store at `path` as the source of a copy. Throws StartError, also if a service or an import has it open. */
export function openSqliteSource(path: string): CopySource {
  requireSafeSqlite();
  requireFile(path);
  const lock = hasSeal(path) ? undefined : takeReadLock(path); // a backup does not change
  let database: DatabaseSync | undefined;
  try {
    database = openForReading(path);
    requireComplete(path, database);
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

/** The columns and tables that were added last, by table. */
const newestColumns = { receipts: "brief", collections: "timestamps", keys: "prefix" };

/** Throws StartError for a file of an older version, because a read-only connection cannot add what the file lacks. */
export function requireComplete(path: string, database: DatabaseSync): void {
  const column = database.prepare("select 1 from pragma_table_xinfo(?) where name = ?");
  const hasColumns = Object.entries(newestColumns).every(([table, name]) => column.get(table, name));
  const lacksDeleted = database
    .prepare("select 1 from collections where 'deleted_' || number not in (select name from sqlite_schema)")
    .get();
  if (hasColumns && lacksDeleted === undefined && readSecret(database).length > 0) return;
  throw new StartError(
    `${path} was last used by an older version of Holdfast. Start the service of this version on it once, stop it, and copy again.`,
  );
}
