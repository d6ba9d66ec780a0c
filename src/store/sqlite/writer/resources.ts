/**
 * The tables of resources on the connection that writes, with all that goes along with a change in them: heads, integer
 * ids, words and the change log. Whoever calls holds a transaction open to write.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { integerOf } from "../../integer-ids.ts";
import type { Arrival } from "../../load.ts";
import { collectionOf, type NumberedCollection } from "../catalogue.ts";
import { toSqliteId } from "../ids.ts";
import type { WireChange } from "../protocol.ts";
import { changesTable, resourcesTable } from "../tables.ts";
import type { ChangeLog } from "./change-log.ts";
import type { Heads } from "./heads.ts";
import type { IdBlocks } from "./id-blocks.ts";
import type { SearchTables } from "./search-tables.ts";

/** A resource as it was before a change. */
export interface Before {
  key: number;
  version: number;
  text: string;
}

/** What the change log says about where a change came from. */
export interface Origin {
  at: number;
  principal: string | null;
  group: number | null;
}

/** A prepared statement for each thing that is done to a collection's tables. */
interface Statements {
  find: StatementSync;
  insert: StatementSync;
  update: StatementSync;
  remove: StatementSync;
  log: StatementSync;
}

/** What goes along with a change. */
export interface ResourcesParts {
  database: DatabaseSync;
  collections: ReadonlyMap<number, NumberedCollection>;
  heads: Heads;
  ids: IdBlocks;
  search: SearchTables;
  log: ChangeLog;
}

/** The resources of all collections. */
export class Resources {
  readonly #database: DatabaseSync;
  readonly #collections: ReadonlyMap<number, NumberedCollection>;
  readonly #heads: Heads;
  readonly #ids: IdBlocks;
  readonly #search: SearchTables;
  readonly #log: ChangeLog;
  readonly #statements = new Map<number, Statements>();

  constructor({ database, collections, heads, ids, search, log }: ResourcesParts) {
    this.#database = database;
    this.#collections = collections;
    this.#heads = heads;
    this.#ids = ids;
    this.#search = search;
    this.#log = log;
  }

  /** The resource as it is, or `undefined`. */
  find({ collection, id }: { collection: number; id: string }): Before | undefined {
    const { idKind } = collectionOf(this.#collections, collection);
    const row = this.#statementsOf(collection).find.get(toSqliteId(idKind, id));
    if (row === undefined) return undefined;
    return { key: Number(row.key), version: Number(row.version), text: String(row.doc) };
  }

  /** Carries out a change of what `find` gave, and gives its sequence. */
  write(change: WireChange, before: Before | undefined, origin: Origin): number {
    const { collection, id, next } = change;
    const described = collectionOf(this.#collections, collection);
    const statements = this.#statementsOf(collection);
    const head = this.#heads.of(collection);
    const { at, principal, group } = origin;
    const version = (before?.version ?? -change.expect) + 1;
    const sqliteId = toSqliteId(described.idKind, id);
    let key = before?.key;
    head.sequence++;
    if (next === null) {
      statements.remove.run(sqliteId);
      head.count--;
    } else if (before === undefined) {
      key = Number(statements.insert.run(sqliteId, version, at, next).lastInsertRowid);
      head.count++;
      this.#noteId(described, id);
    } else {
      statements.update.run(version, at, next, sqliteId);
    }
    if (key !== undefined) this.#search.follow(collection, key, { before: before?.text, next });
    const kind = next === null ? "deleted" : before === undefined ? "created" : "updated";
    if (this.#log.isKept)
      statements.log.run(head.sequence, id, version, kind, at, principal, group, before?.text ?? null);
    return head.sequence;
  }

  /** Puts an arrival into the table and nowhere else, and gives its key; `undefined` where its id is taken. */
  place({ number, idKind }: NumberedCollection, { id, text }: Arrival, at: number): number | undefined {
    const { insert } = this.#statementsOf(number);
    const version = this.#heads.of(number).sequence + 1;
    const { changes, lastInsertRowid } = insert.run(toSqliteId(idKind, id), version, at, text);
    return changes === 0 ? undefined : Number(lastInsertRowid);
  }

  /** Takes out what was placed last. */
  takeOut({ number, idKind }: NumberedCollection, id: string): void {
    this.#statementsOf(number).remove.run(toSqliteId(idKind, id));
  }

  /** Does for what was placed last all that goes along with a create. */
  settle(
    collection: NumberedCollection,
    { key, id, text }: Arrival & { key: number },
    { at, principal, group }: Origin,
  ): void {
    const { number } = collection;
    const head = this.#heads.of(number);
    this.#search.follow(number, key, { next: text });
    head.sequence++;
    head.count++;
    this.#noteId(collection, id);
    if (!this.#log.isKept) return;
    const { log } = this.#statementsOf(number);
    log.run(head.sequence, id, head.sequence, "created", at, principal, group, null);
  }

  /** Removes a resource that is there, without a trace in the log, and gives its sequence. Its words are left to the caller. */
  erase({ collection, id }: { collection: number; id: string }): number {
    const head = this.#heads.of(collection);
    this.takeOut(collectionOf(this.#collections, collection), id);
    head.sequence++;
    head.count--;
    return head.sequence;
  }

  #noteId({ number, idKind }: NumberedCollection, id: string): void {
    const integer = integerOf(idKind, id);
    if (integer !== undefined) this.#ids.use(number, integer, this.#heads.of(number));
  }

  #statementsOf(number: number): Statements {
    const known = this.#statements.get(number);
    if (known !== undefined) return known;
    const resources = resourcesTable(number);
    const statements = {
      find: this.#database.prepare(`select key, version, doc from ${resources} where id = ?`),
      insert: this.#database.prepare(
        `insert into ${resources} (id, version, updated_at, doc) values (?, ?, ?, ?) on conflict do nothing`,
      ),
      update: this.#database.prepare(
        `update ${resources} set version = ?, updated_at = ?, doc = ? where id = ?`,
      ),
      remove: this.#database.prepare(`delete from ${resources} where id = ?`),
      log: this.#database.prepare(`insert into ${changesTable(number)} values (?, ?, ?, ?, ?, ?, ?, ?)`),
    };
    this.#statements.set(number, statements);
    return statements;
  }
}
