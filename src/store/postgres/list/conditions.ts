/** Conditions as PostgreSQL spells them. */
import { isIdPath, type Path } from "../../../collection/paths.ts";
import { lowerAscii } from "../../../collection/text.ts";
import type { Condition, Filter, Scalar } from "../../../query/filter.ts";
import {
  beginningOf,
  type Comparison,
  comparisons,
  either,
  isLong,
  type Spellings,
  filterSql as spelledSql,
} from "../../filter-sql.ts";
import { isIndexed } from "../../sql.ts";
import { isKeepable } from "../tables/id-keys.ts";
import { jsonTextSql, ranks, sortExpressions, textSql, typeSql, valueSql } from "./expressions.ts";
import { idCompareSql, idInSql, loweredIdSql } from "./id-conditions.ts";
import { bind, type Scope } from "./parameters.ts";

/** A filter as an SQL expression. */
export function filterSql(filter: Filter, scope: Scope): string {
  return spelledSql(filter, dialect, scope);
}

const attributes = {
  in: inSql,
  gt: compareSql,
  gte: compareSql,
  lt: compareSql,
  lte: compareSql,
  contains: containsSql,
  startsWith: affixSql,
  endsWith: affixSql,
  exists: ({ path, value }) =>
    isIdPath(path) ? String(value) : `${valueSql(path)} is ${value ? "not " : ""}null`,
} as const satisfies Spellings<Scope>;

const ids = {
  ...attributes,
  in: idInSql,
  gt: idCompareSql,
  gte: idCompareSql,
  lt: idCompareSql,
  lte: idCompareSql,
} as const satisfies Spellings<Scope>;

const dialect = { attributes, ids };

function inSql(condition: Condition & { kind: "in" }, scope: Scope): string {
  const { path, values } = condition;
  if (values.length === 0) return "false";
  if (isIndexed(path, scope.indexes)) return indexedInSql(condition, scope);
  return isOneOfSql(path, values, scope);
}

/** Equal values have equal JSON texts, since one hand wrote them all. */
function isOneOfSql(path: Path, values: readonly Scalar[], scope: Scope): string {
  const texts = values.map((value) => JSON.stringify(value));
  return `${jsonTextSql(path)} = any(${bind(scope, texts, "text[]")})`;
}

/** By type, so that an index is of use; its expression holds only the beginnings of strings. */
function indexedInSql({ path, values }: Condition & { kind: "in" }, scope: Scope): string {
  const { rank, number, text } = sortExpressions(path);
  const parts: string[] = [];
  const strings = values.filter((each) => typeof each === "string").filter(isKeepable);
  const numbers = values.filter((each) => typeof each === "number");
  const short = strings.filter((each) => !isLong(each));
  if (short.length > 0)
    parts.push(`(${rank} = ${ranks.string} and ${number} = 0 and ${equalsSql(text, short, "text", scope)})`);
  if (numbers.length > 0)
    parts.push(
      `(${rank} = ${ranks.number} and ${equalsSql(number, numbers, "float8", scope)} and ${text} = '')`,
    );
  for (const value of [true, false]) {
    const known = value ? ranks.true : ranks.false;
    if (values.includes(value)) parts.push(`(${rank} = ${known} and ${number} = 0 and ${text} = '')`);
  }
  for (const each of strings.filter(isLong)) {
    const beginning = `${text} = ${bind(scope, beginningOf(each), "text")}`;
    parts.push(
      `(${rank} = ${ranks.string} and ${number} = 0 and ${beginning} and ${isOneOfSql(path, [each], scope)})`,
    );
  }
  if (values.includes(null)) parts.push(`(${rank} = ${ranks.null} and ${typeSql(path)} = 'null')`);
  return either(parts);
}

function equalsSql(sql: string, values: readonly unknown[], type: "text" | "float8", scope: Scope): string {
  const [first] = values;
  if (values.length === 1) return `${sql} = ${bind(scope, first, type)}`;
  return `${sql} = any(${bind(scope, values, `${type}[]`)})`;
}

function compareSql(condition: Comparison, scope: Scope): string {
  return either(condition.values.map((value) => compareOneSql(condition, value, scope)));
}

function compareOneSql({ kind, path }: Comparison, operand: string | number, scope: Scope): string {
  const { rank, number, text } = sortExpressions(path);
  const comparison = comparisons[kind];
  if (typeof operand === "number")
    return `(${rank} = ${ranks.number} and ${number} ${comparison} ${bind(scope, operand, "float8")})`;
  const { kind: known, text: limit } = keepableComparison(kind, operand);
  const isString = `${rank} = ${ranks.string} and ${number} = 0`;
  if (!isLong(limit)) return `(${isString} and ${text} ${comparisons[known]} ${bind(scope, limit, "text")})`;
  // The expression tells only the beginnings apart.
  const roughly = `${text} ${known.startsWith("g") ? ">=" : "<="} ${bind(scope, beginningOf(limit), "text")}`;
  const exactly = `${textSql(path)} collate "C" ${comparisons[known]} ${bind(scope, limit, "text")}`;
  return `(${isString} and ${roughly} and ${exactly})`;
}

/** No text has a null character, so that whatever compares with one lies right behind what stands before it. */
function keepableComparison(
  kind: Comparison["kind"],
  operand: string,
): { kind: Comparison["kind"]; text: string } {
  const end = operand.indexOf("\0");
  if (end === -1) return { kind, text: operand };
  return { kind: kind.startsWith("g") ? "gt" : "lte", text: operand.slice(0, end) };
}

/** The text that strings are looked for in, ASCII letters as small ones; null where the attribute is no string. */
function loweredSql(path: Path, scope: Scope): string {
  if (isIdPath(path)) return loweredIdSql(scope.idKind);
  return `(case ${typeSql(path)} when 'string' then lower(${textSql(path)} collate "C") end)`;
}

function containsSql({ path, values }: Condition & { kind: "contains" }, scope: Scope): string {
  const parts = values
    .filter((value) => typeof value === "string")
    .filter(isKeepable)
    .map((value) => `strpos(${loweredSql(path, scope)}, ${bind(scope, lowerAscii(value), "text")}) > 0`);
  if (!isIdPath(path) && values.length > 0) parts.push(elementSql(path, values, scope));
  return either(parts);
}

/** An array's element equal to one of the values. What is not an array must not be taken apart. */
function elementSql(path: Path, values: readonly Scalar[], scope: Scope): string {
  const elements = `case ${typeSql(path)} when 'array' then ${valueSql(path)} else '[]'::json end`;
  const texts = values.map((value) => JSON.stringify(value));
  return `exists (select 1 from json_array_elements(${elements}) as element
    where element.value::text = any(${bind(scope, texts, "text[]")}))`;
}

function affixSql(
  { kind, path, values }: Condition & { kind: "startsWith" | "endsWith" },
  scope: Scope,
): string {
  const whole = loweredSql(path, scope);
  return either(
    values.filter(isKeepable).map((value) => {
      const affix = lowerAscii(value);
      const length = [...affix].length;
      if (length === 0) return `${whole} is not null`;
      const part = kind === "startsWith" ? "left" : "right";
      return `${part}(${whole}, ${length}) = ${bind(scope, affix, "text")}`;
    }),
  );
}
