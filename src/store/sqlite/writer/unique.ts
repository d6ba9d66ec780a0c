/**
 * Unique attributes in SQL. The value that is compared is a virtual column with an index, which is not a unique one: a
 * commit of several changes is judged by what they make together, and values that were equal before the attribute was
 * declared may stay until they are written to.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { formatPath } from "../../../collection/paths.ts";
import type { Unique } from "../../../collection/unique.ts";
import { toFragment } from "../../../json/pointer.ts";
import type { NumberedCollection } from "../catalogue.ts";
import { extractSql, quoteName, textSql, typeSql } from "../columns.ts";
import { toSqliteId } from "../ids.ts";
import { resourcesTable } from "../tables.ts";

const constraints = [
  ["uniques", "text not null default '[]'"],
  ["refers", "text not null default '[]'"],
  ["timestamps", "integer not null default 0"],
] as const;

/** Brings a file up to date that was made before there were unique attributes, references and timestamps. */
export function addConstraints(database: DatabaseSync): void {
  const columns = database.prepare("select name from pragma_table_xinfo('collections')").all();
  for (const [constraint, type] of constraints) {
    if (columns.some(({ name }) => name === constraint)) continue;
    database.exec(`alter table collections add column ${constraint} ${type}`);
  }
}

/** The name of the column of what is compared. */
export function uniqueColumn({ path, ignoreCase }: Unique): string {
  return `unique ${ignoreCase ? "lower " : ""}${formatPath(path)}`;
}

/** The statement that makes the column. */
export function uniqueColumnDdl(number: number, unique: Unique): string {
  const whole = extractSql(unique.path);
  return `alter table ${resourcesTable(number)} add column ${quoteName(uniqueColumn(unique))} any
    generated always as (case ${typeSql(unique.path)}
      when 'text' then ${unique.ignoreCase ? `lower(${whole})` : whole}
      when 'integer' then ${whole} when 'real' then ${whole}
      when 'true' then ${textSql(unique.path)} when 'false' then ${textSql(unique.path)} end) virtual`;
}

/** The name of the index on the column. */
export function uniqueIndexName(number: number, unique: Unique): string {
  return `${resourcesTable(number)} ${uniqueColumn(unique)}`;
}

/** The statement that makes the index. */
export function uniqueIndexDdl(number: number, unique: Unique): string {
  const name = quoteName(uniqueIndexName(number, unique));
  return `create index ${name} on ${resourcesTable(number)} (${quoteName(uniqueColumn(unique))})`;
}

function nobody(_id: string): boolean {
  return false;
}

interface Check {
  pointer: string;
  others: StatementSync;
}

/** Finds values that are there twice. */
export class Uniques {
  readonly #database: DatabaseSync;
  /** By the collection as it is declared now: a new declaration is a new object. */
  readonly #checks = new WeakMap<NumberedCollection, readonly Check[]>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /**
   * The first unique attribute, as a pointer, in which another resource has the value that this one has. At most so many
   * as `limit` are passed over, of which it is said that their turn comes later.
   */
  taken(
    collection: NumberedCollection,
    id: string,
    { isLater = nobody, limit = 0 } = {},
  ): string | undefined {
    const { unique = [] } = collection;
    if (unique.length === 0) return undefined;
    let checks = this.#checks.get(collection);
    if (checks === undefined) {
      checks = unique.map((each) => this.#prepare(collection.number, each));
      this.#checks.set(collection, checks);
    }
    const sqliteId = toSqliteId(collection.idKind, id);
    const isTaken = ({ others }: Check) =>
      others.all(sqliteId, limit + 1).some((other) => !isLater(String(other.id)));
    return checks.find(isTaken)?.pointer;
  }

  #prepare(number: number, unique: Unique): Check {
    const table = resourcesTable(number);
    const column = quoteName(uniqueColumn(unique));
    // A cross join keeps its order: first the one resource, then the index.
    const others = this.#database.prepare(
      `select other.id from ${table} as own cross join ${table} as other
       where own.id = ? and other.${column} = own.${column} and other.key <> own.key limit ?`,
    );
    return { pointer: toFragment(unique.path), others };
  }
}
