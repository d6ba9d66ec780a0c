/** A store's file as the target of a copy. */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { StartError } from "../../../errors.ts";
import type { CollectionOutline, CopyTarget, Item, Outline, Section } from "../../core/copy/contents.ts";
import { takeLock } from "../file/lock.ts";
import {
  isIncompleteCopy,
  openError,
  prepareFile,
  requireSafeSqlite,
  requireWritablePath,
} from "../file/open-file.ts";
import { copyingTable } from "../file/tables.ts";
import { logPlans, secretPlans } from "../sqlite-dialect.ts";
import { Heads } from "../writer/heads.ts";
import { migrateCollection } from "../writer/migrate.ts";
import { SearchTables } from "../writer/search-tables.ts";
import { SqliteContents } from "./contents.ts";

const busyTimeoutMs = 5_000;
const cacheKibibytes = 128 * 1024;

/** Opens the store at `path` as the target of a copy. Creates it if it does not exist. All methods throw StartError too. */
export function openSqliteTarget(path: string): CopyTarget {
  requireSafeSqlite();
  requireWritablePath(path);
  const lock = takeLock(path);
  let database: DatabaseSync | undefined;
  try {
    prepareFile(path, { allowIncomplete: true, lock });
    database = openToWrite(path);
    return new SqliteTarget(path, database, lock);
  } catch (error) {
    database?.close();
    lock.release();
    throw openError(path, error);
  }
}

function openToWrite(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs, limits: { attach: 0 } });
  database.exec(`pragma synchronous = full; pragma cache_size = -${cacheKibibytes}`);
  return database;
}

/** The target of one copy. */
class SqliteTarget extends SqliteContents implements CopyTarget {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #lock: { release(): void };

  constructor(path: string, database: DatabaseSync, lock: { release(): void }) {
    super(path, database);
    this.#path = path;
    this.#database = database;
    this.#lock = lock;
  }

  async mark(): Promise<string | undefined> {
    if (!isIncompleteCopy(this.#database)) return undefined;
    return String(this.#database.prepare(`select mark from ${copyingTable}`).get()?.mark);
  }

  async begin({ collections }: Outline, mark: string): Promise<boolean> {
    if (!this.#isEmpty()) return false;
    this.#inTransaction(() => {
      const heads = new Heads(this.#database);
      for (const { name, idKind } of collections)
        migrateCollection(this.#database, heads, {
          name,
          idKind,
          schema: undefined,
          indexes: [],
          search: [],
        });
      this.#database.exec(`create table ${copyingTable} (mark text not null) strict`);
      this.#database.prepare(`insert into ${copyingTable} values (?)`).run(mark);
    });
    return true;
  }

  async write(
    section: Section,
    items: readonly Item[],
    { before, after }: { before: string; after: string },
  ): Promise<void> {
    const { name, columns, toKey } = this.tableOf(section);
    this.#inTransaction(() => {
      const insert = this.#database.prepare(
        `insert into ${name} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
      );
      for (const [key = null, ...others] of items) insert.run(toKey(key) as SQLInputValue, ...others);
      const move = this.#database.prepare(`update ${copyingTable} set mark = ? where mark = ?`);
      if (move.run(after, before).changes !== 1)
        throw new StartError("Another copy into the same store is in progress.");
    });
  }

  async complete(outline: Outline, onDone: (collection: CollectionOutline) => void): Promise<void> {
    this.#inTransaction(() => this.#setCounters(outline));
    const search = new SearchTables(this.#database);
    for (const collection of outline.collections) {
      const heads = new Heads(this.#database);
      this.#inTransaction(() => search.declare(migrateCollection(this.#database, heads, collection)));
      onDone(collection);
    }
    while (this.#inTransaction(() => search.buildNext())) {}
  }

  async release(): Promise<void> {
    this.#inTransaction(() => this.#database.exec(`drop table ${copyingTable}`));
    this.#database.exec("pragma wal_checkpoint(truncate)");
  }

  async close(): Promise<void> {
    this.#database.close();
    this.#lock.release();
  }

  #setCounters({ secret, groups, collections }: Outline): void {
    this.plans.run(secretPlans.replace(secret));
    this.#database.prepare("update meta set value = ? where name = 'groups'").run(groups);
    this.#database.exec(`
      update meta set value = (select count(*) from receipts) where name = 'receipts';
      update meta set value = (select coalesce(sum(octet_length(answer)), 0) from receipts) where name = 'answers'
    `);
    const setHead = this.#database.prepare(
      "update heads set sequence = ?, count = ?, checksums = ?, last_id = ? where number = ?",
    );
    for (const { sequence, gapsUpTo, count, checksums, lastId, name } of collections) {
      const { number } = this.find(name);
      setHead.run(sequence, count, checksums, lastId, number);
      if (gapsUpTo > 0) this.plans.run(logPlans.noteGaps(number, gapsUpTo));
    }
  }

  #isEmpty(): boolean {
    return ["collections", "keys", "receipts"].every(
      (table) => this.#database.prepare(`select 1 from ${table} limit 1`).get() === undefined,
    );
  }

  #inTransaction<T>(work: () => T): T {
    try {
      this.#database.exec("begin immediate");
      const result = work();
      this.#database.exec("commit");
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("rollback");
      throw openError(this.#path, error);
    }
  }
}
