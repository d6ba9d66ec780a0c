/**
 * Unique attributes in SQL: their columns and indexes, and the resources that have a value. A virtual column contains the value
 * to compare. Its index is not a unique index, for two reasons. Values must differ only after all changes of a commit. And
 * equal values from before the declaration can stay until the next write to them. This file refuses nothing.
 */
import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { formatPath } from "../../../collection/paths.ts";
import { type Unique, uniqueValue } from "../../../collection/unique.ts";
import type { HoldersQuery } from "../../core/commits/lookups.ts";
import { quoteName, resourcesTable } from "../file/tables.ts";
import { extractSql, textSql, typeSql } from "../list/conditions.ts";
import { keySql } from "../list/instants.ts";

/** The name of the column with the value to compare. */
export function uniqueColumn({ path, ignoreCase, as }: Unique): string {
  return `${as ?? ""}unique ${ignoreCase ? "lower " : ""}${formatPath(path)}`;
}

/** The statement that adds the column. */
export function uniqueColumnDdl(number: number, unique: Unique): string {
  const whole = extractSql(unique.path);
  const type = typeSql(unique.path);
  const plain = `case ${type}
      when 'text' then ${unique.ignoreCase ? `lower(${whole})` : whole}
      when 'integer' then ${whole} when 'real' then ${whole}
      when 'true' then ${textSql(unique.path)} when 'false' then ${textSql(unique.path)} end`;
  const value = unique.as === undefined ? plain : `coalesce(${keySql(type, whole, unique.as)}, ${plain})`;
  return `alter table ${resourcesTable(number)} add column ${quoteName(uniqueColumn(unique))} any
    generated always as (${value}) virtual`;
}

/** The name of the index on the column. */
export function uniqueIndexName(number: number, unique: Unique): string {
  return `${resourcesTable(number)} ${uniqueColumn(unique)}`;
}

/** The statement that creates the index. */
export function uniqueIndexDdl(number: number, unique: Unique): string {
  const name = quoteName(uniqueIndexName(number, unique));
  return `create index ${name} on ${resourcesTable(number)} (${quoteName(uniqueColumn(unique))})`;
}

interface Statements {
  holders: StatementSync;
  text: StatementSync;
}

/** Finds the resources that have a value in a unique attribute. */
export class Uniques {
  readonly #database: DatabaseSync;
  /** By the object of the declaration. A new declaration is a new object. */
  readonly #statements = new WeakMap<Unique, Statements>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** The ids of the resources with a value, as `uniqueValue` writes it. Stops after `enough` of them. */
  holders({ collection, unique, value, enough }: HoldersQuery): string[] {
    let statements = this.#statements.get(unique);
    if (statements === undefined) {
      statements = this.#prepare(collection.number, unique);
      this.#statements.set(unique, statements);
    }
    const { holders, text } = statements;
    const isExact = isExactInSql(value);
    const ids = holders.all(value, isExact ? enough : -1).map(({ id }) => id as SQLOutputValue);
    const hasValue = (id: SQLOutputValue) =>
      uniqueValue(JSON.parse(String(text.get(id)?.doc)), unique) === value;
    return (isExact ? ids : ids.filter(hasValue)).map(String);
  }

  #prepare(number: number, unique: Unique): Statements {
    const table = resourcesTable(number);
    return {
      holders: this.#database.prepare(
        `select id from ${table} where ${quoteName(uniqueColumn(unique))} =
           case when ?1 in ('true', 'false') then ?1 else json_extract(?1, '$') end limit ?2`,
      ),
      text: this.#database.prepare(`select doc from ${table} where id = ?`),
    };
  }
}

/** Whether equal columns mean equal values. The column has the same text for `true` and `"true"`, and rounds fractions. */
function isExactInSql(value: string): boolean {
  if (value.startsWith('"')) return value !== '"true"' && value !== '"false"';
  return Number.isSafeInteger(Number(value));
}
