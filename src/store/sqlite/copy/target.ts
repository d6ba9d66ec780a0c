/** A store's file as the target of a copy. */
import { DatabaseSync } from "node:sqlite";
import type { BuildState } from "../../core/building.ts";
import { Catalogue } from "../../core/catalogue.ts";
import type { CopyTarget } from "../../core/copy/contents.ts";
import { StoredTarget, type TargetDriver } from "../../core/copy/stored-contents.ts";
import { ask } from "../../sql/plans.ts";
import { readCatalogue } from "../file/catalogue.ts";
import { takeLock } from "../file/lock.ts";
import {
  isIncompleteCopy,
  openError,
  prepareFile,
  requireSafeSqlite,
  requireWritablePath,
} from "../file/open-file.ts";
import { Heads } from "../writer/heads.ts";
import { createMigrations } from "../writer/migrate.ts";
import { sqliteContents } from "./contents.ts";

const busyTimeoutMs = 5_000;
const cacheKibibytes = 128 * 1024;

/** Opens the store at `path` as the target of a copy. Creates it if it does not exist. All methods throw StartError too. */
export function openSqliteTarget(path: string): CopyTarget {
  requireSafeSqlite();
  requireWritablePath(path);
  const lock = takeLock(path);
  let database: DatabaseSync | undefined;
  const close = async () => {
    database?.close(); // moves everything into the file
    lock.release();
  };
  try {
    prepareFile(path, { allowIncomplete: true, lock });
    database = openToWrite(path);
    return new StoredTarget({ ...targetDriver(path, database), close });
  } catch (error) {
    void close();
    throw openError(path, error);
  }
}

function openToWrite(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs, limits: { attach: 0 } });
  database.exec(`pragma synchronous = full; pragma cache_size = -${cacheKibibytes}`);
  return database;
}

function targetDriver(path: string, database: DatabaseSync): Omit<TargetDriver, "close"> {
  const contents = sqliteContents(database, (error) => openError(path, error));
  const transact: TargetDriver["transact"] = async (work) => {
    try {
      database.exec("begin immediate");
      const result = await work({
        run: contents.run,
        async declare(records) {
          const known = readCatalogue(database);
          const migrations = createMigrations(database, new Heads(database), { buildsAtOnce: true });
          for (const record of records) await contents.run(migrations.migrate(record, known));
        },
      });
      database.exec("commit");
      return result;
    } catch (error) {
      if (database.isTransaction) database.exec("rollback");
      throw openError(path, error);
    }
  };
  return {
    ...contents,
    transact,
    isIncomplete: async () => isIncompleteCopy(database),
    addsKeys: false, // it is faster to add the entries of an index together
    add({ name, columns }, rows) {
      const places = columns.map((_, n) => `$${n + 1}`);
      const text = { sql: `insert into ${name} (${columns.join(", ")}) values (${places.join(", ")})` };
      return ask({ text, values: rows, read: () => {}, isSilent: true });
    },
    async finish() {
      const { building } = createMigrations(database, new Heads(database));
      for (;;) {
        const isMore = await transact(async ({ run }) => {
          const [state] = await run(building.incomplete());
          const { byNumber } = new Catalogue(readCatalogue(database).values());
          const collection = state && byNumber.get(state.number);
          if (collection !== undefined) await run(building.step(collection, state as BuildState));
          return collection !== undefined;
        });
        if (!isMore) return;
      }
    },
  };
}
