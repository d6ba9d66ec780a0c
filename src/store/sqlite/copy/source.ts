/** A store's file that is copied: nobody writes to it meanwhile. */
import type { DatabaseSync } from "node:sqlite";
import { StartError } from "../../../errors.ts";
import type { CopySource } from "../../copy/contents.ts";
import { type Lock, takeReadLock } from "../file/lock.ts";
import { openError, openForReading, requireFile, requireSoundSqlite } from "../file/open-file.ts";
import { readSecret } from "../file/secret.ts";
import { SqliteContents } from "./contents.ts";

/** Opens the store at `path` to be copied. Throws StartError, also when a service or an import has it open. */
export function openSqliteSource(path: string): CopySource {
  requireSoundSqlite();
  requireFile(path);
  const lock = takeReadLock(path);
  let database: DatabaseSync | undefined;
  try {
    database = openForReading(path);
    requireWhole(path, database);
    return new SqliteSource(path, database, lock);
  } catch (error) {
    database?.close();
    lock.release();
    throw openError(path, error);
  }
}

/** The source as it is when it is opened. */
class SqliteSource extends SqliteContents implements CopySource {
  readonly #database: DatabaseSync;
  readonly #lock: Lock;

  constructor(path: string, database: DatabaseSync, lock: Lock) {
    super(path, database);
    this.#database = database;
    this.#lock = lock;
    database.exec("begin"); // what is read belongs together, also beside commands about keys
  }

  async refresh(): Promise<void> {
    this.#database.exec("commit; begin");
  }

  async close(): Promise<void> {
    this.#database.close();
    this.#lock.release();
  }
}

/** Columns and tables that came last, before there was a first release. */
const youngestColumns = { receipts: "brief", collections: "timestamps", keys: "prefix" };

/** A file that is only read cannot be brought up to date. */
function requireWhole(path: string, database: DatabaseSync): void {
  const column = database.prepare("select 1 from pragma_table_xinfo(?) where name = ?");
  const hasColumns = Object.entries(youngestColumns).every(([table, name]) => column.get(table, name));
  if (hasColumns && readSecret(database).length > 0) return;
  throw new StartError(
    `${path} was last used by an older version of Holdfast. Start the service of this version on it once, stop it, and copy again.`,
  );
}
