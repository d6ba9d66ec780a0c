/** The conditions of filters in the SQL of PostgreSQL. `store/core/filter-sql.ts` combines them. */
import type { IdKind } from "../../../collection/ids.ts";
import { formatPath, isIdPath, type Path } from "../../../collection/paths.ts";
import { matchesAll, type RelatedCondition, type Scalar, type StoreFilter } from "../../../query/filter.ts";
import { accessPathOf } from "../../core/access-path.ts";
import {
  type Comparison,
  comparisons,
  type Dialect,
  either,
  filterSql as spelledSql,
} from "../../core/filter-sql.ts";
import { scanOf } from "../../core/ranges.ts";
import { relatedCollection } from "../../core/related.ts";
import { isStorable } from "../../port/stored.ts";
import { idSql, integerKey, keySql as keyOfIdSql, textMark } from "../tables/id-keys.ts";
import { referencesTable, resourcesTable } from "../tables/tables.ts";
import { jsonTextSql, quoteText, textSql, typeSql, valueSql } from "./expressions.ts";
import { instantSql, keySql } from "./instants.ts";
import { bind, rangeSql, type SqlScope } from "./parameters.ts";

/** A filter as an SQL expression. */
export function filterSql(filter: StoreFilter, scope: SqlScope): string {
  return spelledSql(filter, dialect, scope);
}

const dialect: Dialect<SqlScope> = {
  equals,
  idEquals,
  compare,
  idCompare: (kind, value, scope) =>
    typeof value === "number" ? compareIntegers(kind, value, scope) : compareTexts(kind, value, scope),
  instantKey: instantSql,
  hasInstant(path, keys, form, scope) {
    const key = keySql("json_typeof(element.value)", "(element.value #>> '{}')", form);
    return hasElement(path, equalsSql(key, keys, scope));
  },
  textIs: (kind, text, values, scope) =>
    kind === "in"
      ? equalsSql(text, values, scope)
      : either(values.map((value) => `${text} ${comparisons[kind]} ${bind(scope, value, "text")}`)),
  lowered(path, scope) {
    if (!isIdPath(path))
      return `(case ${typeSql(path)} when 'string' then lower(${textSql(path)} collate "C") end)`;
    if (scope.idKind !== "integer") return `lower(${scope.table}.key)`;
    return `(case when ${scope.table}.key >= '${textMark}' then lower(substr(${scope.table}.key, 2)) end)`;
  },
  includes: (lowered, text, scope) =>
    isStorable(text) ? `strpos(${lowered}, ${bind(scope, text, "text")}) > 0` : "false",
  hasAffix(kind, lowered, text, scope) {
    if (!isStorable(text)) return "false";
    const part = kind === "startsWith" ? "left" : "right";
    return `${part}(${lowered}, ${[...text].length}) = ${bind(scope, text, "text")}`;
  },
  hasItem: (path, values, scope) =>
    hasElement(path, `element.value::text = any(${bind(scope, values.map(jsonOf), "text[]")})`),
  presence: valueSql,
  related: relatedSql,
};

/** `json_array_elements` fails for a value that is not an array. */
function hasElement(path: Path, where: string): string {
  const elements = `case ${typeSql(path)} when 'array' then ${valueSql(path)} else '[]'::json end`;
  return `exists (select 1 from json_array_elements(${elements}) as element where ${where})`;
}

/** Compares JSON texts. Equal values have equal texts, because `JSON.stringify` wrote all of them. */
function equals(path: Path, values: readonly Scalar[], scope: SqlScope): string {
  return `${jsonTextSql(path)} = any(${bind(scope, values.map(jsonOf), "text[]")})`;
}

function equalsSql(sql: string, values: readonly string[], scope: SqlScope): string {
  const [first] = values;
  if (values.length === 1) return `${sql} = ${bind(scope, first, "text")}`;
  return `${sql} = any(${bind(scope, values, "text[]")})`;
}

function compare({ kind, path }: Comparison, operand: string | number, scope: SqlScope): string {
  const ofType = (type: string, sql: string) => `(case ${typeSql(path)} when '${type}' then ${sql} end)`;
  if (typeof operand === "number")
    return `${ofType("number", `${textSql(path)}::float8`)} ${comparisons[kind]} ${bind(scope, operand, "float8")}`;
  const { kind: known, text } = keepableComparison(kind, operand);
  return `${ofType("string", `${textSql(path)} collate "C"`)} ${comparisons[known]} ${bind(scope, text, "text")}`;
}

/** No text contains a null character. An operand with one sorts directly after the text before it. */
function keepableComparison(
  kind: Comparison["kind"],
  operand: string,
): { kind: Comparison["kind"]; text: string } {
  const end = operand.indexOf("\0");
  if (end === -1) return { kind, text: operand };
  return { kind: kind.startsWith("g") ? "gt" : "lte", text: operand.slice(0, end) };
}

/** A number matches only integer ids. A string never matches an integer id. */
function idEquals(values: readonly Scalar[], scope: SqlScope): string {
  const keys = values.flatMap((value) => {
    if (typeof value === "string") return isStorable(value) ? [textKey(scope.idKind, value)] : [];
    if (typeof value !== "number" || scope.idKind !== "integer") return [];
    return Number.isSafeInteger(value) ? [integerKey(value)] : [];
  });
  return keys.length === 0 ? "false" : `${scope.table}.key = any(${bind(scope, keys, "text[]")})`;
}

function textKey(idKind: IdKind, text: string): string {
  return idKind === "integer" ? textMark + text : text;
}

function compareTexts(kind: Comparison["kind"], operand: string, scope: SqlScope): string {
  const isText = scope.idKind === "integer" ? `${scope.table}.key >= '${textMark}' and ` : "";
  const { kind: known, text } = keepableComparison(kind, operand);
  const limit = bind(scope, textKey(scope.idKind, text), "text");
  return `(${isText}${scope.table}.key ${comparisons[known]} ${limit})`;
}

function compareIntegers(kind: Comparison["kind"], operand: number, scope: SqlScope): string {
  if (scope.idKind !== "integer") return "false";
  const isInteger = `${scope.table}.key < '${textMark}'`;
  const isUpwards = kind.startsWith("g");
  if (operand > Number.MAX_SAFE_INTEGER) return isUpwards ? "false" : `(${isInteger})`;
  if (operand < -Number.MAX_SAFE_INTEGER) return isUpwards ? `(${isInteger})` : "false";
  const floor = Math.floor(operand);
  // Between two integers, a comparison with the lower one gives the same result.
  const known = floor === operand ? kind : isUpwards ? "gt" : "lte";
  const limit = floor < -Number.MAX_SAFE_INTEGER ? -Number.MAX_SAFE_INTEGER : floor;
  return `(${isInteger} and ${scope.table}.key ${comparisons[known]} ${bind(scope, integerKey(limit), "text")})`;
}

/** A condition about related resources. The table of references connects both, and the database decides where to start. */
function relatedSql({ relation, filter }: RelatedCondition, scope: SqlScope): string {
  const { collection, table, related } = scope;
  const other = relatedCollection(related, relation.collection);
  if (other === undefined) return "false";
  const isReference = relation.kind === "reference";
  const links = `${referencesTable((isReference ? collection : other).number)} as link`;
  const { idKind } = other;
  const inner = { ...scope, collection: other, table: "related", idKind };
  const isAny = matchesAll(filter);
  const isIndexed = accessPathOf({ filter }, other.indexes)?.kind === "index";
  const range = isIndexed ? scanOf({ filter }, other.slots)?.range : undefined;
  const join = `related.key = ${isReference ? keyOfIdSql(idKind, "link.target") : "link.key"}`;
  const from =
    isAny && !isReference ? links : `${links} join ${resourcesTable(other.number)} as related on ${join}`;
  const own = isReference
    ? `link.key = ${table}.key`
    : `link.target = ${idSql(collection.idKind, `${table}.key`)}`;
  const terms = [
    `link.attribute = ${quoteText(formatPath(relation.path))}`,
    own,
    ...(isAny ? [] : [range === undefined ? filterSql(filter, inner) : rangeSql(range, inner)]),
  ];
  return `exists (select 1 from ${from} where ${terms.join(" and ")})`;
}

function jsonOf(value: Scalar): string {
  return JSON.stringify(value);
}
