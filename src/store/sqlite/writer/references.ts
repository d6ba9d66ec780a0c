/**
 * References in SQL. A collection that declares some has a table of the ids that its resources hold, which triggers keep
 * in step: whatever writes a resource, and whatever takes that back, does so to the table too.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { formatPath } from "../../../collection/paths.ts";
import { type Reference, referencedIds } from "../../../collection/references.ts";
import type { FoundResource, ReferrersQuery, TargetsQuery } from "../../commits/lookups.ts";
import type { ResourceState } from "../../commits/staged-changes.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { resourcesTable } from "../file/tables.ts";
import { pathSql, quoteText } from "../list/columns.ts";
import { stateColumns, stateOf } from "./resources.ts";

function refersTable(number: number): string {
  return `refers_${number}`;
}

/** Makes the table of a collection's references anew. */
export function fitReferences(
  database: DatabaseSync,
  number: number,
  references: readonly Reference[],
): void {
  const table = refersTable(number);
  const resources = resourcesTable(number);
  for (const event of ["insert", "update", "delete"])
    database.exec(`drop trigger if exists ${table}_${event}`);
  database.exec(`drop table if exists ${table}`);
  if (references.length === 0) return;
  const fill = (doc: string, key: string, from: string) =>
    references.map((reference) => fillSql(table, reference, { doc, key, from })).join("");
  database.exec(`
    create table ${table} (
      attribute text not null, target text not null, key integer not null, primary key (attribute, target, key)
    ) strict, without rowid;
    create index ${table}_by_key on ${table} (key);
    ${fill("resource.doc", "resource.key", `${resources} as resource, `)}
    create trigger ${table}_insert after insert on ${resources} begin ${fill("new.doc", "new.key", "")} end;
    create trigger ${table}_update after update of doc on ${resources} begin
      delete from ${table} where key = old.key; ${fill("new.doc", "new.key", "")}
    end;
    create trigger ${table}_delete after delete on ${resources} begin
      delete from ${table} where key = old.key;
    end;
  `);
}

function fillSql(
  table: string,
  { path }: Reference,
  { doc, key, from }: { doc: string; key: string; from: string },
): string {
  const place = pathSql(path);
  const attribute = quoteText(formatPath(path));
  return `insert into ${table} select distinct ${attribute}, cast(item.atom as text), ${key}
    from ${from}json_each(${doc}, ${place}) as item
    where item.type in ('text', 'integer') and json_type(${doc}, ${place}) in ('text', 'integer', 'array');`;
}

interface Statements {
  referrers: StatementSync;
  targets: StatementSync;
}

/** Finds resources by the ids that they refer to. */
export class References {
  readonly #database: DatabaseSync;
  /** By the reference as it is declared now: a new declaration is a new object. */
  readonly #statements = new WeakMap<Reference, Statements>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Reads one after the other: the texts of all together may be larger than the memory. */
  referrers({ referrer, ids, known, limit }: ReferrersQuery): readonly FoundResource[] {
    const { from, reference } = referrer;
    const { referrers } = this.#of(from, reference);
    const found = new Map<string, ResourceState>();
    let text = 0;
    for (const target of ids) {
      for (const row of referrers.iterate(formatPath(reference.path), target)) {
        const id = String(row.id);
        if (known.has(id) || found.has(id)) continue;
        const state = stateOf(row);
        if (!isTarget(state, reference, target)) continue;
        found.set(id, state);
        text += Buffer.byteLength(state.text);
        if (found.size === limit.resources || text > limit.text) return toFound(found);
      }
    }
    return toFound(found);
  }

  /** The ids that a reference holds, from one on. */
  targets({ collection, reference, from, limit }: TargetsQuery): string[] {
    const rows = this.#of(collection, reference).targets.all(formatPath(reference.path), from, limit);
    return rows.map(({ target }) => String(target));
  }

  #of({ number }: NumberedCollection, reference: Reference): Statements {
    const known = this.#statements.get(reference);
    if (known !== undefined) return known;
    const statements = {
      referrers: this.#database.prepare(
        `select ${stateColumns}, id from ${refersTable(number)} as refers
         cross join ${resourcesTable(number)} as resource using (key)
         where refers.attribute = ? and refers.target = ?`,
      ),
      targets: this.#database.prepare(
        `select distinct target from ${refersTable(number)}
         where attribute = ? and target >= ? order by target limit ?`,
      ),
    };
    this.#statements.set(reference, statements);
    return statements;
  }
}

/** SQLite takes integers for ids that are not safe in JSON. */
function isTarget({ text }: ResourceState, reference: Reference, target: string): boolean {
  const isSure = Number.isSafeInteger(Number(target)) || !/^-?[0-9]+$/.test(target);
  return isSure || referencedIds(JSON.parse(text), [reference]).some(({ id }) => id === target);
}

function toFound(found: ReadonlyMap<string, ResourceState>): FoundResource[] {
  return [...found].map(([id, state]) => ({ id, state }));
}
