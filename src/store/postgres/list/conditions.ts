/** The SQL of attributes, sorts and filters, with the parameters of a list statement. */
import type { IdKind } from "../../../collection/ids.ts";
import type { SortKey } from "../../../collection/indexes.ts";
import { formatPath, isIdPath, type Path } from "../../../collection/paths.ts";
import { matchesAll, type RelatedCondition, type Scalar, type StoreFilter } from "../../../query/filter.ts";
import { type CursorValues, isInstant, type SortValue, sortedCodePoints } from "../../../query/sort.ts";
import { accessPathOf, keysToId } from "../../core/access-path.ts";
import { builtIndexes, type NumberedCollection } from "../../core/catalogue.ts";
import {
  type Comparison,
  comparisons,
  type Dialect,
  either,
  every,
  filterSql as spelledSql,
} from "../../core/filter-sql.ts";
import { type Range, scanOf } from "../../core/ranges.ts";
import { type RelatedCollections, relatedCollection } from "../../core/related.ts";
import { isStorable } from "../../port/stored.ts";
import { idSql, integerKey, keySql as keyOfIdSql, textMark } from "../tables/id-keys.ts";
import { keyText, keySql as slotSql } from "../tables/indexes.ts";
import { referencesTable, resourcesTable } from "../tables/tables.ts";
import { instantSql, keySql } from "./instants.ts";

/** What the conditions of a list statement depend on, and the values of its parameters so far. */
export interface SqlScope {
  collection: NumberedCollection;
  /** The name of the collection's table in the statement. */
  table: string;
  /** The collections of related resources. */
  related: RelatedCollections;
  idKind: IdKind;
  values: unknown[];
  /** The types of the values. */
  types: ParameterType[];
  /** The SQL of the value at a place from 1. */
  valueAt(place: number): string;
}

/** The type of a parameter. */
export type ParameterType = "text" | "text[]" | "float8" | "float8[]" | "bytea" | "bytea[]";

/** Adds a value, and returns its parameter, such as `$2::text`. */
export function bind({ values, types, valueAt }: SqlScope, value: unknown, type: ParameterType): string {
  values.push(value);
  types.push(type);
  return `${valueAt(values.length)}::${type}`;
}

/**
 * The context of a statement that reads a collection's table under the name `resource`. `valueAt`: how the statement names
 * its values, for example the columns of a row of values. @default parameters
 */
export function scopeOf(
  collection: NumberedCollection,
  related: RelatedCollections = {},
  valueAt: SqlScope["valueAt"] = (place) => `$${place}`,
): SqlScope {
  const { idKind } = collection;
  return { collection, table: "resource", related, idKind, values: [], types: [], valueAt };
}

/** The ends of a range. */
export function boundsSql({ low, high }: Range, scope: SqlScope): readonly [low: string, high: string] {
  return [bind(scope, keyText(low), "bytea"), bind(scope, keyText(high), "bytea")];
}

/** The condition for the resources of a range. */
export function rangeSql(range: Range, scope: SqlScope): string {
  const key = `${scope.table}.${slotSql(range.slot)}`;
  const [low, high] = boundsSql(range, scope);
  return `${key} > ${low} and ${key} < ${high}`;
}

/** The rank of each type in a sort: absent or null, false, true, number, string, array or object, and declared dates. */
export const ranks = { null: 0, false: 1, true: 2, number: 3, string: 4, container: 5, date: 6 } as const;

/** The attribute as `json`; null if it is absent. */
export function valueSql(path: Path): string {
  if (path.some((name) => name.includes("\0"))) return "null::json";
  return `(doc${path.map((name) => ` -> ${quoteText(name)}`).join("")})`;
}

/** The type of the attribute, as `json_typeof` names it; null if it is absent. */
export function typeSql(path: Path): string {
  return `json_typeof(${valueSql(path)})`;
}

/** The JSON text of the attribute, as `JSON.stringify` made it; null if it is absent. */
export function jsonTextSql(path: Path): string {
  return `${valueSql(path)}::text`;
}

/** The attribute as text: a string without its quotes. */
export function textSql(path: Path): string {
  if (path.some((name) => name.includes("\0"))) return "null::text";
  const names = path.map(quoteText);
  const last = names.pop();
  return `(doc${names.map((name) => ` -> ${name}`).join("")} ->> ${last})`;
}

/** The rank, the number and the text that sort a list without an index. */
export function sortExpressions({ path, as }: Pick<SortKey, "path" | "as">): readonly string[] {
  const type = typeSql(path);
  const value = textSql(path);
  const rank = `case ${type} when 'string' then ${ranks.string} when 'number' then ${ranks.number}
      when 'boolean' then case ${value} when 'true' then ${ranks.true} else ${ranks.false} end
      when 'array' then ${ranks.container} when 'object' then ${ranks.container} else ${ranks.null} end`;
  const number = `case ${type} when 'number' then ${value}::float8 else 0::float8 end`;
  const text = `case ${type} when 'string' then left(${value}, ${sortedCodePoints}) else '' end`;
  if (as === undefined) return [`(${rank})`, `(${number})`, `(${text} collate "C")`];
  const key = keySql(type, value, as);
  const unless = (sql: string, date: number) => `(case when ${key} is null then ${sql} else ${date} end)`;
  return [unless(rank, ranks.date), unless(number, 0), `(coalesce(${key}, ${text}) collate "C")`];
}

/** The rank, the number and the text of a value. */
export function sortValues(value: SortValue): readonly [rank: number, number: number, text: string] {
  if (typeof value === "boolean") return [value ? ranks.true : ranks.false, 0, ""];
  if (typeof value === "number") return [ranks.number, value, ""];
  if (typeof value === "string") return [ranks.string, 0, value];
  if (isInstant(value)) return [ranks.date, 0, value[0]];
  return [value === null ? ranks.null : ranks.container, 0, ""];
}

/**
 * A text as an SQL literal. Whether a backslash is an escape in plain quotes depends on a setting of the database, so
 * such texts use `E'…'`.
 */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes("\\") ? `E${quoted.replaceAll("\\", "\\\\")}` : quoted;
}

/** One expression that a list is ordered by. */
export interface OrderTerm {
  sql: string;
  descending: boolean;
}

/** The expressions that a list is ordered by. The key is the last one. */
export function orderTerms(sort: readonly SortKey[]): readonly OrderTerm[] {
  return keysToId(sort).flatMap((key) => {
    const expressions = isIdPath(key.path) ? ["resource.key"] : sortExpressions(key);
    return expressions.map((sql) => ({ sql, descending: key.descending }));
  });
}

/** The `order by` of terms, or of columns that contain them. */
export function orderSql(terms: readonly OrderTerm[]): string {
  return terms.map(({ sql, descending }) => `${sql}${descending ? " desc" : ""}`).join(", ");
}

/** The condition that a resource comes after a position. */
export function afterSql(position: CursorValues, sort: readonly SortKey[], scope: SqlScope): string {
  const terms = orderTerms(sort);
  const bounds = keysToId(sort).flatMap(({ path }, n) =>
    boundsOf(position[n] ?? null, isIdPath(path), scope),
  );
  const beyond = terms.map(({ sql, descending }, n) => {
    const equal = terms.slice(0, n).map((each, place) => `${each.sql} = ${bounds[place]}`);
    return every([...equal, `${sql} ${descending ? "<" : ">"} ${bounds[n]}`]);
  });
  return either(beyond);
}

function boundsOf(value: SortValue, isId: boolean, scope: SqlScope): readonly string[] {
  if (isId) return [bind(scope, keyAt(scope.idKind, value), "text")];
  const [rank, number, text] = sortValues(value);
  return [String(rank), bind(scope, number, "float8"), bind(scope, isStorable(text) ? text : "", "text")];
}

/** The key of an id at a position. The position contains the id as the resource does. */
function keyAt(idKind: IdKind, value: SortValue): string {
  if (typeof value === "number") return idKind === "integer" ? integerKey(value) : "";
  if (typeof value !== "string" || !isStorable(value)) return "";
  return idKind === "integer" ? textMark + value : value;
}

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
  const isIndexed = accessPathOf({ filter }, builtIndexes(other))?.kind === "index";
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
