/** Reads resources as they were from the change log. Whoever calls holds a snapshot open. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ChangeKind, ResourceChange } from "../change-log.ts";
import type { Stored } from "../stored.ts";
import type { NumberedCollection } from "./catalogue.ts";
import { toSqliteId } from "./ids.ts";
import { changesTable, resourcesTable } from "./tables.ts";

/** The prepared statements of one collection. */
interface Statements {
  current: StatementSync;
  page: StatementSync;
  upTo: StatementSync;
  oldest: StatementSync;
  superseded: StatementSync;
}

/** A row of the log in short. */
interface Found {
  version: number;
  kind: ChangeKind;
  at: number;
}

/** The change log as the history of single resources, on one connection. */
export class Past {
  readonly #database: DatabaseSync;
  readonly #collections = new Map<number, Statements>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** The changes of a resource below a version, newest first. */
  changes({ number }: NumberedCollection, id: string, page: { before: number; limit: number }) {
    const rows = this.#of(number).page.all(id, page.before, page.limit);
    return rows.map(
      (row): ResourceChange => ({
        sequence: Number(row.sequence),
        version: Number(row.version),
        kind: row.kind as ChangeKind,
        at: Number(row.at),
        principal: row.principal === null ? undefined : String(row.principal),
        group: row.group === null ? undefined : Number(row.group),
      }),
    );
  }

  /** A version of a resource: the current one, or one whose change is in the log. */
  version(collection: NumberedCollection, id: string, version: number): Stored | undefined {
    const current = this.#current(collection, id);
    if (current?.version === version) return current;
    const made = this.#upTo(collection, id, version);
    if (made?.version !== version || made.kind === "deleted") return undefined;
    return this.#superseded(collection, id, made);
  }

  /** The resource as it was at a time. */
  at(collection: NumberedCollection, id: string, at: number): Stored | undefined {
    const current = this.#current(collection, id);
    if (current !== undefined && current.updatedAt <= at) return current;
    const made = this.#lastUntil(collection, id, at);
    if (made === undefined || made.kind === "deleted") return undefined;
    return this.#superseded(collection, id, made);
  }

  #current({ number, idKind }: NumberedCollection, id: string): Stored | undefined {
    const row = this.#of(number).current.get(toSqliteId(idKind, id));
    if (row === undefined) return undefined;
    return { id, version: Number(row.version), text: String(row.doc), updatedAt: Number(row.updated_at) };
  }

  /** What the next change put another text in place of. A create that follows a delete has nothing to tell. */
  #superseded({ number }: NumberedCollection, id: string, { version, at }: Found): Stored | undefined {
    const text = this.#of(number).superseded.get(id, version + 1)?.superseded;
    return typeof text === "string" ? { id, version, text, updatedAt: at } : undefined;
  }

  /**
   * The last change that had happened by then. Halving, since a resource may have a million changes; where the clock
   * was put back, some change after which it showed that time.
   */
  #lastUntil(collection: NumberedCollection, id: string, at: number): Found | undefined {
    const oldest = toFound(this.#of(collection.number).oldest.get(id));
    if (oldest === undefined || oldest.at > at) return undefined;
    let last = oldest;
    let high = this.#upTo(collection, id, Number.MAX_SAFE_INTEGER)?.version ?? last.version;
    for (let low = last.version; low < high; ) {
      const middle = low + Math.ceil((high - low) / 2);
      const found = this.#upTo(collection, id, middle);
      if (found === undefined) return undefined;
      if (found.at <= at) {
        last = found;
        low = middle;
      } else high = found.version - 1;
    }
    return last;
  }

  #upTo({ number }: NumberedCollection, id: string, version: number): Found | undefined {
    return toFound(this.#of(number).upTo.get(id, version));
  }

  #of(number: number): Statements {
    const known = this.#collections.get(number);
    if (known !== undefined) return known;
    const prepare = (sql: string) => this.#database.prepare(sql);
    const changes = changesTable(number);
    const short = `select version, kind, at from ${changes}`;
    const statements = {
      current: prepare(`select version, updated_at, doc from ${resourcesTable(number)} where id = ?`),
      page: prepare(
        `select sequence, version, kind, at, principal, "group" from ${changes}
         where id = ? and version < ? order by version desc limit ?`,
      ),
      upTo: prepare(`${short} where id = ? and version <= ? order by version desc limit 1`),
      oldest: prepare(`${short} where id = ? order by version limit 1`),
      superseded: prepare(`select superseded from ${changes} where id = ? and version = ?`),
    };
    this.#collections.set(number, statements);
    return statements;
  }
}

function toFound(row: Record<string, unknown> | undefined): Found | undefined {
  if (row === undefined) return undefined;
  return { version: Number(row.version), kind: row.kind as ChangeKind, at: Number(row.at) };
}
