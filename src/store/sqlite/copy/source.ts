/** A store's file as the source of a copy. A lock prevents changes of resources during the copy, but not of API keys. */
import type { DatabaseSync } from "node:sqlite";
import type { CopySource } from "../../core/copy/contents.ts";
import { StoredContents } from "../../core/copy/stored-contents.ts";
import { takeReadLock } from "../file/lock.ts";
import { openError, openForReading, requireFile, requireSafeSqlite } from "../file/open-file.ts";
import { hasSeal } from "../file/seal.ts";
import { sqliteContents } from "./contents.ts";

/** Opens the store at `path` as the source of a copy. Throws StartError, also if a service or an import has it open. */
export function openSqliteSource(path: string): CopySource {
  requireSafeSqlite();
  requireFile(path);
  const lock = hasSeal(path) ? undefined : takeReadLock(path); // a backup does not change
  let database: DatabaseSync | undefined;
  const close = async () => {
    database?.close();
    lock?.release();
  };
  try {
    const opened = openForReading(path);
    database = opened;
    database.exec("begin"); // all reads see one snapshot, even if a command changes API keys, which the lock allows
    const contents = new StoredContents(sqliteContents(opened, (error) => openError(path, error)));
    return Object.assign(contents, { refresh: async () => opened.exec("commit; begin"), close });
  } catch (error) {
    void close();
    throw openError(path, error);
  }
}
