/**
 * Writes changes of resources on the writer's connection, row by row: the resource, its entries and words, the change log, and the
 * counters of the collection. The caller keeps a transaction open.
 */
import type { StatementSync } from "node:sqlite";
import { checksumOfDeleted, checksumOfResource } from "../../core/checksums.ts";
import {
  countChange,
  logCells,
  type ResourceState,
  type StagedChange,
  type StagedChanges,
} from "../../core/commits/staged-changes.ts";
import { keptText } from "../../core/superseded.ts";
import { isInternal } from "../../port/record.ts";
import { replaceDeleted } from "../../sql/table.ts";
import { changesTable, deletedTable, resourcesTable, toSqliteId } from "../file/tables.ts";
import type { TaskParts } from "./commits.ts";

/** The prepared statements of one collection. */
interface Statements {
  insert: StatementSync;
  update: StatementSync;
  remove: StatementSync;
  log: StatementSync;
  noteDeleted: StatementSync;
}

/** The parts of the writer that a change of a resource updates. */
type ResourcesParts = Pick<TaskParts, "database" | "heads" | "entries" | "search" | "isLogged" | "marks">;

/** The resources of all collections. */
export class Resources {
  readonly #parts: ResourcesParts;
  readonly #statements = new Map<number, Statements>();

  constructor(parts: ResourcesParts) {
    this.#parts = parts;
  }

  /** Writes everything that is staged, except receipts. Each change has its sequence afterwards. */
  write(staged: StagedChanges): void {
    for (const change of staged.after(0)) this.#write(change);
  }

  #write(change: StagedChange): void {
    const { heads, entries, search, marks } = this.#parts;
    const { collection, id, version, at, before, next } = change;
    const { number, idKind } = collection;
    const { insert, update, remove, log, noteDeleted } = this.#statementsOf(number);
    const head = heads.of(number);
    let row = before?.rowId as number;
    marks.mark(number, id);
    countChange(head, change);
    head.checksums |= 0;
    const isLogged = this.#parts.isLogged && !isInternal(collection.name);
    if (!isLogged) head.unloggedUpTo = head.gapsUpTo = head.sequence;
    change.sequence = head.sequence;
    if (next === undefined) {
      remove.run(row);
      noteDeleted.run(id, version, checksumOfDeleted(collection.name, { id, version }));
    } else if (before === undefined) {
      const sqliteId = toSqliteId(idKind, id);
      row = Number(insert.run(sqliteId, version, at, next.checksum, next.text).lastInsertRowid);
      next.rowId = row; // a later step of the same commit can delete it
    } else {
      update.run(version, at, next.checksum, next.text, row);
    }
    if (next === undefined && before !== undefined && !isIntact(collection.name, id, before))
      entries.removeDamaged(collection, row);
    else entries.update(change, row);
    search.update(collection, row, { before: before?.text, next: next?.text ?? null });
    if (isLogged) log.run(...logCells(change, keptText(change)));
    else if (next === undefined && collection.search.length > 0) heads.insertAgain(number);
  }

  #statementsOf(number: number): Statements {
    const known = this.#statements.get(number);
    if (known !== undefined) return known;
    const { database } = this.#parts;
    const table = resourcesTable(number);
    const statements = {
      insert: database.prepare(
        `insert into ${table} (id, version, updated_at, checksum, doc) values (?, ?, ?, ?, ?)`,
      ),
      update: database.prepare(
        `update ${table} set version = ?, updated_at = ?, checksum = ?, doc = ? where key = ?`,
      ),
      remove: database.prepare(`delete from ${table} where key = ?`),
      log: database.prepare(`insert into ${changesTable(number)} values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
      noteDeleted: database.prepare(
        `insert into ${deletedTable(number)} values (?, ?, ?) ${replaceDeleted(deletedTable(number))}`,
      ),
    };
    this.#statements.set(number, statements);
    return statements;
  }
}

/** Whether a state has its checksum. Only an erase removes a damaged resource. */
function isIntact(collection: string, id: string, state: ResourceState): boolean {
  return checksumOfResource(collection, { id, ...state }) === state.checksum;
}
