/**
 * The tables of resources on the writer's connection. A change of a resource also updates the head row, the integer ids, the
 * entries, the words and the change log. The caller keeps a transaction open.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { checksumOfChange, checksumOfKept, checksumOfResource } from "../../core/checksums.ts";
import type { ResourceState, StagedChange } from "../../core/commits/staged-changes.ts";
import { integerOf } from "../../core/integer-ids.ts";
import { keptText } from "../../core/superseded.ts";
import { isInternal } from "../../port/record.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { changesTable, deletedTable, resourcesTable, toSqliteId } from "../file/tables.ts";
import type { Marks } from "../marks.ts";
import type { EntryTables } from "./entry-tables.ts";
import type { Heads } from "./heads.ts";
import type { SearchTables } from "./search-tables.ts";

/** Whether a state has its checksum. Only an erase removes a damaged resource. */
function isIntact(collection: string, id: string, state: ResourceState): boolean {
  return checksumOfResource(collection, { id, ...state }) === state.checksum;
}

/** The prepared statements of one collection. */
interface Statements {
  insert: StatementSync;
  update: StatementSync;
  remove: StatementSync;
  log: StatementSync;
  noteDeleted: StatementSync;
}

/** The parts of the writer that a change of a resource updates. */
export interface ResourcesParts {
  database: DatabaseSync;
  heads: Heads;
  entries: EntryTables;
  search: SearchTables;
  /** Whether the store keeps changes. */
  isLogged: boolean;
  marks: Marks;
}

/** The resources of all collections. */
export class Resources {
  readonly #database: DatabaseSync;
  readonly #heads: Heads;
  readonly #entries: EntryTables;
  readonly #search: SearchTables;
  readonly #isLogged: boolean;
  readonly #marks: Marks;
  readonly #statements = new Map<number, Statements>();

  constructor({ database, heads, entries, search, isLogged, marks }: ResourcesParts) {
    this.#database = database;
    this.#heads = heads;
    this.#entries = entries;
    this.#search = search;
    this.#isLogged = isLogged;
    this.#marks = marks;
  }

  /** Writes an accepted change. Returns its sequence. */
  write(change: StagedChange): number {
    const { collection, id, kind, version, at, origin, before, next } = change;
    const { number, idKind } = collection;
    const statements = this.#statementsOf(number);
    const head = this.#heads.of(number);
    const sqliteId = toSqliteId(idKind, id);
    let rowId = before?.rowId;
    this.#marks.mark(number, id);
    head.sequence++;
    head.checksums = (head.checksums + (next?.checksum ?? 0) - (before?.checksum ?? 0)) | 0;
    if (next === undefined) {
      statements.remove.run(sqliteId);
      statements.noteDeleted.run(id, version);
      head.count--;
    } else if (before === undefined) {
      rowId = Number(statements.insert.run(sqliteId, version, at, next.checksum, next.text).lastInsertRowid);
      head.count++;
      this.#noteId(collection, id);
    } else {
      statements.update.run(version, at, next.checksum, next.text, sqliteId);
    }
    if (rowId !== undefined) {
      if (next === undefined && before !== undefined && !isIntact(collection.name, id, before))
        this.#entries.removeDamaged(collection, rowId);
      else this.#entries.update(change, rowId);
      this.#search.update(collection, rowId, { before: before?.text, next: next?.text ?? null });
    }
    if (this.#isLogged && !isInternal(collection.name)) {
      const superseded = keptText({ before, next, version });
      const { principal, group } = origin;
      const kept = superseded === null ? null : checksumOfKept(superseded);
      const row = { sequence: head.sequence, id, version, kind, at, principal, group, kept_checksum: kept };
      const sum = checksumOfChange(collection.name, row);
      statements.log.run(head.sequence, id, version, kind, at, principal, group, superseded, kept, sum);
    }
    return head.sequence;
  }

  #noteId({ number, idKind }: NumberedCollection, id: string): void {
    const integer = integerOf(idKind, id);
    if (integer === undefined) return;
    const head = this.#heads.of(number);
    head.lastId = Math.max(head.lastId, integer);
  }

  #statementsOf(number: number): Statements {
    const known = this.#statements.get(number);
    if (known !== undefined) return known;
    const resources = resourcesTable(number);
    const deleted = deletedTable(number);
    const statements = {
      insert: this.#database.prepare(
        `insert into ${resources} (id, version, updated_at, checksum, doc) values (?, ?, ?, ?, ?) on conflict do nothing`,
      ),
      update: this.#database.prepare(
        `update ${resources} set version = ?, updated_at = ?, checksum = ?, doc = ? where id = ?`,
      ),
      remove: this.#database.prepare(`delete from ${resources} where id = ?`),
      log: this.#database.prepare(
        `insert into ${changesTable(number)} values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      noteDeleted: this.#database.prepare(
        `insert into ${deleted} values (?, ?) on conflict do update set version = max(version, excluded.version)`,
      ),
    };
    this.#statements.set(number, statements);
    return statements;
  }
}
