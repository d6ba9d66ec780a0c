/** A store's file in copies: as the source, and as the target. A backup (`backup.ts`) reads it in the same way. */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { BuildState } from "../../core/building.ts";
import { Catalogue } from "../../core/catalogue.ts";
import {
  type Cell,
  type CopySource,
  type CopyTarget,
  type Item,
  type ItemsTable,
  layouts,
  type PageSize,
} from "../../core/copy/contents.ts";
import {
  type ContentsDriver,
  ContentsPlans,
  StoredContents,
  StoredTarget,
  type TargetDriver,
} from "../../core/copy/stored-contents.ts";
import { ask, type Row } from "../../sql/plans.ts";
import { takeLock, takeReadLock } from "../file/lock.ts";
import {
  isIncompleteCopy,
  openError,
  openForReading,
  prepareFile,
  requireFile,
  requireSafeSqlite,
  requireWritablePath,
} from "../file/open-file.ts";
import { hasSeal } from "../file/seal.ts";
import { withBigIntsIfNeeded } from "../file/wide-integers.ts";
import { PlanRunner, readCatalogue, storePlans } from "../sqlite-dialect.ts";
import { Heads } from "../writer/heads.ts";
import { createMigrations } from "../writer/migrate.ts";

const plans = new ContentsPlans(storePlans);

/** Reads a file. `toError` replaces the errors of SQLite. */
export function sqliteContents(
  database: DatabaseSync,
  toError: (error: unknown) => unknown = (error) => error,
): ContentsDriver {
  const runner = new PlanRunner(database);
  const attempt = async <T>(read: () => T): Promise<T> => {
    try {
      return read();
    } catch (error) {
      throw toError(error);
    }
  };
  return {
    plans,
    run: (plan) => attempt(() => runner.run(plan)),
    page: (...args) => attempt(() => readPage(database, ...args)),
  };
}

/** Reads row by row, because the size of a page is only known then. A statement that measures the rows first takes longer. */
function readPage(
  database: DatabaseSync,
  { kind, name, columns, shown, toKey, toItem }: ItemsTable,
  after: Cell | undefined,
  size: PageSize,
): readonly Item[] {
  const from = after === undefined ? "" : `where ${columns[0]} > ?`;
  const statement = database.prepare(`select ${shown} from ${name} ${from} order by ${columns[0]} limit ?`);
  statement.setReturnArrays(true);
  const start = after === undefined ? [] : [toKey(after) as SQLInputValue];
  const longAt = columns.indexOf(layouts[kind].long ?? "");
  return withBigIntsIfNeeded(statement, () => {
    const items: Item[] = [];
    let bytes = 0;
    for (const row of statement.iterate(...start, size.items) as Iterable<unknown>) {
      const item = toItem(row as Row);
      bytes += Buffer.byteLength(String(item[longAt] ?? ""));
      if (items.length > 0 && bytes > size.bytes) break;
      items.push(item);
    }
    return items;
  });
}

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
