/**
 * References in SQL. A collection that declares some has a table of the ids that its resources hold, which triggers keep
 * in step: whatever writes a resource, and whatever takes that back, does so to the table too.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { formatPath } from "../../../collection/paths.ts";
import { type Reference, targetsOf } from "../../../collection/refers.ts";
import { toFragment } from "../../../json/pointer.ts";
import type { Lost } from "../../lost.ts";
import type { NumberedCollection } from "../catalogue.ts";
import { pathSql } from "../columns.ts";
import { toSqliteId } from "../ids.ts";
import { resourcesTable } from "../tables.ts";

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
  const attribute = `'${formatPath(path).replaceAll("'", "''")}'`;
  return `insert into ${table} select distinct ${attribute}, cast(item.atom as text), ${key}
    from ${from}json_each(${doc}, ${place}) as item
    where item.type in ('text', 'integer') and json_type(${doc}, ${place}) in ('text', 'integer', 'array');`;
}

/** A resource that refers to another. */
export interface Found {
  key: number;
  id: string;
}

/** That resource as it is. */
export interface FoundWhole extends Found {
  version: number;
  text: string;
  updatedAt: number;
}

/** Resources that refer to one. */
export interface Referrers {
  from: NumberedCollection;
  reference: Reference;
  find(id: string, limit: number): Found[];
  /** One of those that were found. Their texts together may be larger than the memory. */
  read(found: Found): FoundWhole;
}

/** Knows which collections refer to which. */
export class References {
  readonly #database: DatabaseSync;
  readonly #collections: ReadonlyMap<number, NumberedCollection>;
  #numbers = new Map<string, number>();
  #to = new Map<string, Referrers[]>();
  readonly #exists = new Map<number, StatementSync>();

  constructor(database: DatabaseSync, collections: ReadonlyMap<number, NumberedCollection>) {
    this.#database = database;
    this.#collections = collections;
  }

  /** The collections were declared anew. */
  refresh(): void {
    this.#numbers = new Map([...this.#collections.values()].map(({ name, number }) => [name, number]));
    this.#to = new Map();
    for (const from of this.#collections.values()) {
      for (const reference of from.references ?? []) {
        const known = this.#to.get(reference.collection) ?? [];
        this.#to.set(reference.collection, [...known, this.#referrers(from, reference)]);
      }
    }
  }

  /** Who may refer to resources of a collection. */
  to(collection: NumberedCollection): readonly Referrers[] {
    return this.#to.get(collection.name) ?? none;
  }

  /** The place of the first id in a resource that leads nowhere. Those that lead to the collections `later` are not looked at. */
  dangling(
    collection: NumberedCollection,
    text: string,
    later: readonly string[] = none,
  ): string | undefined {
    const { references = none } = collection;
    if (references.length === 0) return undefined;
    const lost = targetsOf(JSON.parse(text), references).find(
      ({ reference, id }) => !later.includes(reference.collection) && !this.#has(reference.collection, id),
    );
    return lost === undefined ? undefined : toFragment(lost.at);
  }

  /** References from resources of a collection to some collections that lead nowhere, as many as are asked for. */
  lostTo(to: readonly string[], from: NumberedCollection, limit: number): Lost[] {
    const references = (from.references ?? none).filter(({ collection }) => to.includes(collection));
    return references.flatMap((reference) => this.#lostBy(reference, from, limit)).slice(0, limit);
  }

  #lostBy({ path, collection }: Reference, { number, name }: NumberedCollection, limit: number): Lost[] {
    const target = this.#collections.get(this.#numbers.get(collection) ?? 0);
    if (target === undefined) return [];
    const attribute = formatPath(path);
    const asInteger = target.idKind === "integer" ? ", cast(refers.target as integer)" : "";
    const rows = this.#database
      .prepare(
        `select resource.id, refers.target from ${refersTable(number)} as refers
         join ${resourcesTable(number)} as resource using (key)
         where refers.attribute = ? and not exists
           (select 1 from ${resourcesTable(target.number)} as other where other.id in (refers.target${asInteger}))
         limit ?`,
      )
      .all(attribute, limit);
    return rows.map(({ id, target }) => ({
      from: name,
      id: String(id),
      attribute,
      to: `${collection}/${target}`,
    }));
  }

  #has(name: string, id: string): boolean {
    const number = this.#numbers.get(name);
    const collection = number === undefined ? undefined : this.#collections.get(number);
    if (number === undefined || collection === undefined) return false;
    let exists = this.#exists.get(number);
    if (exists === undefined) {
      exists = this.#database.prepare(`select 1 from ${resourcesTable(number)} where id = ?`);
      this.#exists.set(number, exists);
    }
    return exists.get(toSqliteId(collection.idKind, id)) !== undefined;
  }

  #referrers(from: NumberedCollection, reference: Reference): Referrers {
    let find: StatementSync | undefined;
    let read: StatementSync | undefined;
    const attribute = formatPath(reference.path);
    const resources = resourcesTable(from.number);
    return {
      from,
      reference,
      find: (id, limit) => {
        find ??= this.#database.prepare(
          `select resource.key, resource.id
           from ${refersTable(from.number)} as refers cross join ${resources} as resource using (key)
           where refers.attribute = ? and refers.target = ? limit ?`,
        );
        const rows = find.all(attribute, id, limit);
        return rows.map((row) => ({ key: Number(row.key), id: String(row.id) }));
      },
      read: (found) => {
        read ??= this.#database.prepare(`select version, updated_at, doc from ${resources} where key = ?`);
        const { version, updated_at: updatedAt, doc } = read.get(found.key) ?? {};
        return { ...found, version: Number(version), updatedAt: Number(updatedAt), text: String(doc) };
      },
    };
  }
}

const none: readonly never[] = [];
