/** The SQL of attributes, sorts and filters. */
import type { SQLInputValue } from "node:sqlite";
import type { SortKey } from "../../../collection/indexes.ts";
import { formatPath, isIdPath, type Path } from "../../../collection/paths.ts";
import { matchesAll, type RelatedCondition, type Scalar, type StoreFilter } from "../../../query/filter.ts";
import { type CursorValues, isInstant, type SortValue, sortedCodePoints } from "../../../query/sort.ts";
import { accessPathOf, keysToId } from "../../core/access-path.ts";
import { builtIndexes } from "../../core/catalogue.ts";
import {
  type Comparison,
  comparisons,
  type Dialect,
  either,
  filterSql as spelledSql,
} from "../../core/filter-sql.ts";
import { type Range, scanOf } from "../../core/ranges.ts";
import { type RelatedCollections, relatedCollection } from "../../core/related.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { entriesTable, refersTable, resourcesTable } from "../file/tables.ts";
import { instantSql, keySql } from "./instants.ts";

/** The order of types: absent or null, boolean, number, string, array or object, and declared dates. */
export const ranks = { null: 0, boolean: 1, number: 2, string: 3, container: 4, date: 5 } as const;

/** An attribute, and how its values are compared. */
export type Compared = Pick<SortKey, "path" | "as">;

/** The two SQL expressions of an attribute. */
export interface Column {
  /** One of `ranks`. */
  rank: string;
  /** A boolean as 0 or 1, a number, the first code points of a string, or the key of an instant. Null for all other values. */
  value: string;
}

/** The JSON type of an attribute, as `json_type` names it. Null if the attribute is absent. */
export function typeSql(path: Path): string {
  return `json_type(doc, ${pathSql(path)})`;
}

/** The complete value of an attribute. An array or an object is its JSON text, so check the type too. */
export function extractSql(path: Path): string {
  return `json_extract(doc, ${pathSql(path)})`;
}

/** The JSON text of an attribute, as `JSON.stringify` creates it. Null if the attribute is absent. */
export function textSql(path: Path): string {
  return `(doc -> ${pathSql(path)})`;
}

/** The path of an attribute as SQL text. SQLite reads each name in it as a JSON string. */
export function pathSql(path: Path): string {
  return quoteText(`$${path.map((name) => `.${JSON.stringify(name)}`).join("")}`);
}

/** Quotes a text for SQL. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The expressions that a list without an index sorts by. */
export function computedColumn({ path, as }: Compared): Column {
  const type = typeSql(path);
  const whole = extractSql(path);
  const plain = {
    rank: `case ${type} when 'text' then ${ranks.string} when 'integer' then ${ranks.number}
      when 'real' then ${ranks.number} when 'true' then ${ranks.boolean} when 'false' then ${ranks.boolean}
      when 'array' then ${ranks.container} when 'object' then ${ranks.container} else ${ranks.null} end`,
    value: `case ${type} when 'text' then substr(${whole}, 1, ${sortedCodePoints}) when 'array' then null
      when 'object' then null else ${whole} end`,
  };
  if (as === undefined) return plain;
  const key = keySql(type, whole, as);
  return {
    rank: `case when ${key} is null then ${plain.rank} else ${ranks.date} end`,
    value: `coalesce(${key}, ${plain.value})`,
  };
}

/** One column that a list is ordered by. */
export interface OrderColumn {
  sql: string;
  descending: boolean;
}

/** The columns that a list is ordered by. The last one is the id. Keys after the id change nothing. */
export function orderColumns(sort: readonly SortKey[]): readonly OrderColumn[] {
  return keysToId(sort).flatMap((key) => {
    const { path, descending } = key;
    if (isIdPath(path)) return [{ sql: "id", descending }];
    const { rank, value } = computedColumn(key);
    return [
      { sql: rank, descending },
      { sql: value, descending },
    ];
  });
}

/** The content of an `order by` clause. */
export function orderSql(columns: readonly OrderColumn[]): string {
  return columns.map(({ sql, descending }) => `${sql}${descending ? " desc" : ""}`).join(", ");
}

/** The condition that a resource comes after a position. */
export function afterSql(
  position: CursorValues,
  sort: readonly SortKey[],
): { where: string; values: readonly SQLInputValue[] } {
  const columns = orderColumns(sort);
  const positions = keysToId(sort).flatMap(({ path }, n) =>
    columnValues(position[n] ?? null, isIdPath(path)),
  );
  const ranges: string[] = [];
  const values: SQLInputValue[] = [];
  for (const [n, { sql, descending }] of columns.entries()) {
    if (positions[n] === null) continue; // all resources with this rank have null here, so none comes after the position
    const equal = columns.slice(0, n).map((each) => `${each.sql} is ?`);
    ranges.push(`(${[...equal, `${sql} ${descending ? "<" : ">"} ?`].join(" and ")})`);
    values.push(...positions.slice(0, n + 1));
  }
  return { where: either(ranges), values };
}

function columnValues(value: SortValue, isId: boolean): SQLInputValue[] {
  if (isId) return [typeof value === "string" || typeof value === "number" ? idValue(value) : null];
  if (typeof value === "boolean") return [ranks.boolean, Number(value)];
  if (typeof value === "number") return [ranks.number, value];
  if (typeof value === "string") return [ranks.string, value];
  if (isInstant(value)) return [ranks.date, value[0]];
  return [value === null ? ranks.null : ranks.container, null];
}

/** The context of a condition. */
export interface SqlScope {
  collection: NumberedCollection;
  /** The name of the collection's table in the statement. */
  table: string;
  /** The values of the question marks so far, in their order. */
  values: SQLInputValue[];
  /** The collections of related resources. */
  related: RelatedCollections;
  /** Whether the statement calls `interruptFunction` for each resource that it reads. */
  isInterruptible: boolean;
}

/** A filter as an SQL expression. */
export function filterSql(filter: StoreFilter, scope: SqlScope): string {
  return spelledSql(filter, dialect, scope);
}

const dialect: Dialect<SqlScope> = {
  // Equal values have equal JSON texts, because `JSON.stringify` wrote all of them.
  equals: (path, values, scope) => `${textSql(path)} in (${bindAll(values.map(jsonOf), scope)})`,
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
  instantKey: instantSql,
  hasInstant(path, keys, form, scope) {
    const key = keySql("element.type", "element.atom", form);
    return hasElement(path, `${key} in (${bindAll(keys, scope)})`);
  },
  textIs: (kind, text, values, scope) =>
    kind === "in"
      ? `${text} in (${bindAll(values, scope)})`
      : either(values.map((value) => `${text} ${comparisons[kind]} ${bindAll([value], scope)}`)),
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
  related: relatedSql,
};

/** The value of an id in its column. A bigint, because Node binds a number as a floating-point number. */
export function idValue(value: string | number): string | bigint | number {
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
}

function compare({ kind, path }: Comparison, operand: string | number, scope: SqlScope): string {
  const type = typeof operand === "number" ? "in ('integer', 'real')" : "= 'text'";
  return `(${typeSql(path)} ${type} and ${extractSql(path)} ${comparisons[kind]} ${bindAll([operand], scope)})`;
}

function hasItem(path: Path, values: readonly Scalar[], scope: SqlScope): string {
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
  return hasElement(path, either(parts));
}

function hasElement(path: Path, where: string): string {
  // `json_each` also lists the members of an object.
  return `(${typeSql(path)} = 'array' and exists (
    select 1 from json_each(doc, ${pathSql(path)}) as element where ${where}))`;
}

/** The SQL function that a query thread calls for each resource, so that it can interrupt the statement. */
export const interruptFunction = "holdfast_interrupt";

/**
 * A condition about related resources. If an index finds the related resources that match, the statement starts from them.
 * Otherwise it looks for a related resource of each resource. The table of references connects both.
 */
function relatedSql({ relation, filter }: RelatedCondition, scope: SqlScope): string {
  const { collection, table, related, isInterruptible } = scope;
  const other = relatedCollection(related, relation.collection);
  if (other === undefined) return "false";
  const isReference = relation.kind === "reference";
  const isAny = matchesAll(filter);
  const links = `${refersTable((isReference ? collection : other).number)} as link`;
  const accessPath = isAny ? undefined : accessPathOf({ filter }, builtIndexes(other));
  const range = accessPath?.kind === "index" ? scanOf({ filter }, other.slots)?.range : undefined;
  const resources = `${resourcesTable(other.number)} as related`;
  const others =
    range === undefined
      ? resources
      : `${entriesTable(other.number)} as found cross join ${resources} on related.key = found.row`;
  const inner = { ...scope, collection: other, table: "related" };
  const rangeSql = ({ slot, low, high }: Range) =>
    `found.slot = ${bindAll([slot], scope)} and found.k > ${bindAll([low], scope)} and found.k < ${bindAll([high], scope)}`;
  const ownSql = () => (range === undefined ? filterSql(filter, inner) : rangeSql(range));
  const terms = [
    ...(isInterruptible ? [`${interruptFunction}()`] : []),
    `link.attribute = ${quoteText(formatPath(relation.path))}`,
    ...(isAny ? [] : [ownSql()]),
  ].join(" and ");
  if (accessPath !== undefined) {
    const join = isReference ? "link.target = cast(related.id as text)" : "link.key = related.key";
    const found = isReference ? "link.key" : idSql("link.target", collection);
    return `${table}.${isReference ? "key" : "id"} in (
      select ${found} from ${others} cross join ${links} on ${join} where ${terms})`;
  }
  const join = isReference ? `related.id = ${idSql("link.target", other)}` : "related.key = link.key";
  const own = isReference ? `link.key = ${table}.key` : `link.target = cast(${table}.id as text)`;
  const from = isAny && !isReference ? links : `${links} cross join ${others} on ${join}`;
  return `exists (select 1 from ${from} where ${terms} and ${own})`;
}

/** The id in a table of resources, from its text in a table of references. */
function idSql(text: string, { idKind }: NumberedCollection): string {
  if (idKind !== "integer") return text;
  const integer = `cast(${text} as integer)`;
  return `iif(cast(${integer} as text) = ${text}, ${integer}, ${text})`;
}

function bindAll(values: readonly SQLInputValue[], { values: bound }: SqlScope): string {
  bound.push(...values);
  return values.map(() => "?").join(", ");
}

function jsonOf(value: Scalar): string {
  return JSON.stringify(value);
}
