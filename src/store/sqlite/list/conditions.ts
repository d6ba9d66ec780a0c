/** The conditions of filters in the SQL of SQLite. `store/filter-sql.ts` combines them. */
import type { SQLInputValue } from "node:sqlite";
import type { Index } from "../../../collection/indexes.ts";
import { isIdPath, type Path } from "../../../collection/paths.ts";
import type { Filter, Scalar } from "../../../query/filter.ts";
import {
  beginningOf,
  type Comparison,
  comparisons,
  type Dialect,
  either,
  isIndexed,
  isLong,
  filterSql as spelledSql,
} from "../../filter-sql.ts";
import { columnOf, extractSql, pathSql, ranks, textSql, typeSql } from "./columns.ts";

/** The indexes of the collection, and the values of the question marks so far, in their order. */
export interface Scope {
  indexes: readonly Index[];
  values: SQLInputValue[];
}

/** A filter as an SQL expression. */
export function filterSql(filter: Filter, scope: Scope): string {
  return spelledSql(filter, dialect, scope);
}

const dialect: Dialect<Scope> = {
  // Equal values have equal JSON texts, because `JSON.stringify` wrote all of them.
  equals: (path, values, scope) => `${textSql(path)} in (${bindAll(values.map(jsonOf), scope)})`,
  equalsIndexed,
  idEquals(values, scope) {
    const ids = values.filter((value) => typeof value === "string" || typeof value === "number");
    return ids.length === 0 ? "false" : `id in (${bindAll(ids.map(idValue), scope)})`;
  },
  compare,
  /** In SQLite, every number is less than every text. */
  idCompare(kind, value, scope) {
    const type = typeof value === "number" ? "integer" : "text";
    return `(typeof(id) = '${type}' and id ${comparisons[kind]} ${bindAll([idValue(value)], scope)})`;
  },
  lowered(path) {
    if (isIdPath(path)) return "iif(typeof(id) = 'text', lower(id), null)";
    return `iif(${typeSql(path)} = 'text', lower(${extractSql(path)}), null)`;
  },
  includes: (lowered, text, scope) => `instr(${lowered}, ${bindAll([text], scope)}) > 0`,
  hasAffix(kind, lowered, text, scope) {
    const length = [...text].length;
    const part =
      kind === "startsWith" ? `substr(${lowered}, 1, ${length})` : `substr(${lowered}, -${length})`;
    return `${part} = ${bindAll([text], scope)}`;
  },
  hasItem,
  presence: typeSql,
};

/** The value of an id in its column. A bigint, because Node binds a number as a floating-point number. */
export function idValue(value: string | number): string | bigint | number {
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
}

/** Compares the columns, so that an index can be used. They contain only the first characters of a string. */
function equalsIndexed(path: Path, values: readonly Scalar[], scope: Scope): string {
  const { rank, value } = columnOf(path, scope.indexes);
  const parts: string[] = [];
  const short = values.filter((each) => typeof each === "string" && !isLong(each));
  const groups = [
    [ranks.string, short],
    [ranks.number, values.filter((each) => typeof each === "number")],
    [ranks.boolean, values.filter((each) => typeof each === "boolean").map(Number)],
  ] as const;
  for (const [type, group] of groups) {
    if (group.length === 0) continue;
    const bound = bindAll(group as readonly SQLInputValue[], scope);
    parts.push(`(${rank} = ${type} and ${value} ${group.length === 1 ? `= ${bound}` : `in (${bound})`})`);
  }
  for (const each of values) {
    if (typeof each !== "string" || !isLong(each)) continue;
    const bound = bindAll([beginningOf(each), jsonOf(each)], scope).split(", ");
    parts.push(`(${rank} = ${ranks.string} and ${value} = ${bound[0]} and ${textSql(path)} = ${bound[1]})`);
  }
  if (values.includes(null)) parts.push(`(${rank} = ${ranks.null} and ${typeSql(path)} = 'null')`);
  return either(parts);
}

function compare({ kind, path }: Comparison, operand: string | number, scope: Scope): string {
  const comparison = comparisons[kind];
  if (!isIndexed(path, scope.indexes)) {
    const type = typeof operand === "number" ? "in ('integer', 'real')" : "= 'text'";
    return `(${typeSql(path)} ${type} and ${extractSql(path)} ${comparison} ${bindAll([operand], scope)})`;
  }
  const { rank, value } = columnOf(path, scope.indexes);
  if (typeof operand === "string" && isLong(operand)) {
    // The column contains only the first characters.
    const roughly = `${value} ${kind.startsWith("g") ? ">=" : "<="} ${bindAll([beginningOf(operand)], scope)}`;
    return `(${rank} = ${ranks.string} and ${roughly} and ${extractSql(path)} ${comparison} ${bindAll([operand], scope)})`;
  }
  const type = typeof operand === "number" ? ranks.number : ranks.string;
  return `(${rank} = ${type} and ${value} ${comparison} ${bindAll([operand], scope)})`;
}

function hasItem(path: Path, values: readonly Scalar[], scope: Scope): string {
  const parts: string[] = [];
  const texts = values.filter((value) => typeof value === "string");
  const numbers = values.filter((value) => typeof value === "number");
  if (texts.length > 0) parts.push(`(element.type = 'text' and element.atom in (${bindAll(texts, scope)}))`);
  if (numbers.length > 0) {
    parts.push(`(element.type in ('integer', 'real') and element.atom in (${bindAll(numbers, scope)}))`);
  }
  for (const value of [true, false, null]) {
    if (values.includes(value)) parts.push(`element.type = '${value}'`);
  }
  // `json_each` also lists the members of an object.
  return `(${typeSql(path)} = 'array' and exists (
    select 1 from json_each(doc, ${pathSql(path)}) as element where ${either(parts)}))`;
}

function bindAll(values: readonly SQLInputValue[], { values: bound }: Scope): string {
  bound.push(...values);
  return values.map(() => "?").join(", ");
}

function jsonOf(value: Scalar): string {
  return JSON.stringify(value);
}
