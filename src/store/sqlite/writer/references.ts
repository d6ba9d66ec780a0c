/**
 * References in SQL. A collection with references has a table of the ids that its resources refer to. Triggers update this
 * table with every write to a resource, so a rollback restores it too.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { formatPath } from "../../../collection/paths.ts";
import { type Reference, referencedIds } from "../../../collection/references.ts";
import type { FoundResource, ReferrersQuery, TargetsQuery } from "../../core/commits/lookups.ts";
import type { ResourceState } from "../../core/commits/staged-changes.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { refersTable, resourcesTable } from "../file/tables.ts";
import { pathSql, quoteText } from "../list/conditions.ts";
import { stateColumns, stateOf } from "./resources.ts";

/** Creates the table of references and its triggers again, and fills the table. */
export function rebuildReferences(
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
  const insert = (doc: string, key: string, from: string) =>
    references.map((reference) => insertSql(table, reference, { doc, key, from })).join("");
  database.exec(`
    create table ${table} (
      attribute text not null, target text not null, key integer not null, primary key (attribute, target, key)
    ) strict, without rowid;
    create index ${table}_by_key on ${table} (key);
    ${insert("resource.doc", "resource.key", `${resources} as resource, `)}
    create trigger ${table}_insert after insert on ${resources} begin ${insert("new.doc", "new.key", "")} end;
    create trigger ${table}_update after update of doc on ${resources} begin
      delete from ${table} where key = old.key; ${insert("new.doc", "new.key", "")}
    end;
    create trigger ${table}_delete after delete on ${resources} begin
      delete from ${table} where key = old.key;
    end;
  `);
}

/** Inserts the ids of one reference. They are in the JSON text `doc` of the resource with the row key `key`. */
function insertSql(
  table: string,
  { path }: Reference,
  { doc, key, from }: { doc: string; key: string; from: string },
): string {
  const jsonPath = pathSql(path);
  const attribute = quoteText(formatPath(path));
  return `insert into ${table} select distinct ${attribute}, cast(item.atom as text), ${key}
    from ${from}json_each(${doc}, ${jsonPath}) as item
    where item.type in ('text', 'integer') and json_type(${doc}, ${jsonPath}) in ('text', 'integer', 'array');`;
}

interface Statements {
  referrers: StatementSync;
  targets: StatementSync;
}

/** Finds resources by the ids that they refer to. */
export class References {
  readonly #database: DatabaseSync;
  /** By the object of the declaration. A new declaration is a new object. */
  readonly #statements = new WeakMap<Reference, Statements>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** The resources that refer to `ids`. Reads them one by one, because their texts together can exceed the memory. */
  referrers({ referrer, ids, known, limit }: ReferrersQuery): readonly FoundResource[] {
    const { from, reference } = referrer;
    const { referrers } = this.#statementsOf(from, reference);
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

  /** The ids that a reference of any resource contains, starting from one id. */
  targets({ collection, reference, from, limit }: TargetsQuery): string[] {
    const rows = this.#statementsOf(collection, reference).targets.all(
      formatPath(reference.path),
      from,
      limit,
    );
    return rows.map(({ target }) => String(target));
  }

  #statementsOf({ number }: NumberedCollection, reference: Reference): Statements {
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

/** Whether a resource really refers to a target. The table also contains integers above 2^53, which cannot be ids in JSON. */
function isTarget({ text }: ResourceState, reference: Reference, target: string): boolean {
  const isExact = Number.isSafeInteger(Number(target)) || !/^-?[0-9]+$/.test(target);
  return isExact || referencedIds(JSON.parse(text), [reference]).some(({ id }) => id === target);
}

function toFound(found: ReadonlyMap<string, ResourceState>): FoundResource[] {
  return [...found].map(([id, state]) => ({ id, state }));
}
