/** What differs in the SQL of lists on SQLite. */
import type { DatabaseSync } from "node:sqlite";
import { foldText } from "../../../collection/folding.ts";
import { itemName, type Path } from "../../../collection/paths.ts";
import { timeZone } from "../../../collection/time-zones.ts";
import { comparedKeyOf, type Meaning } from "../../../collection/types/declared-types.ts";
import { type DateUnit, unitText, wholeDate } from "../../../query/figures.ts";
import { naturalValue } from "../../../query/natural-order.ts";
import { ranks, sortedCodePoints } from "../../../query/sort.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { bind, comparisons, either, type ListDialect, type Scope } from "../../core/list-sql.ts";
import type { RelatedCollections } from "../../core/related.ts";
import { entriesTable, resourcesTable } from "../file/tables.ts";
import { sqliteDialect } from "../sqlite-dialect.ts";
import { addExactTotals } from "./exact-totals.ts";
import { searchSql } from "./search.ts";

/** The SQL function that a query thread calls for each resource, so that it can interrupt the statement. */
export const interruptFunction = "holdfast_interrupt";

/** Adds the functions of the statements for lists to a connection, except `interruptFunction`. */
export function addListFunctions(database: DatabaseSync): void {
  const options = { deterministic: true, useBigIntArguments: true }; // an integer can be above 2^53
  database.function("holdfast_key_of", options, (value, as) => {
    const plain = typeof value === "bigint" ? Number(value) : value;
    return comparedKeyOf(plain, as as Meaning) ?? null;
  });
  database.function("holdfast_fold", options, (text) => (text === null ? null : foldText(String(text))));
  database.function("holdfast_natural", options, (text) => naturalValue(String(text), sortedCodePoints));
  database.function("holdfast_date", options, (text) => wholeDate(text) ?? null);
  database.function("holdfast_unit", options, (moment, unit, zone) =>
    moment === null
      ? null
      : (unitText(String(moment), unit as DateUnit, zone === "" ? undefined : timeZone(String(zone))) ??
        null),
  );
  addExactTotals(database);
}

/** The key of what a value means, from its type as `json_type` names it. Null if it means nothing. */
export function meaningSql(type: string, value: string, as: Meaning): string {
  return `iif(${type} in ('text', 'integer'), holdfast_key_of(${value}, '${as}'), null)`;
}

/** The complete value of an attribute. An array or an object is its JSON text, so check the type too. */
export function extractSql(path: Path): string {
  return `json_extract(doc, ${pathSql(path)})`;
}

/** The path of an attribute as SQL text. SQLite reads each name in it as a JSON string. */
function pathSql(path: Path): string {
  return quote(`$${path.map((name) => `.${JSON.stringify(name)}`).join("")}`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * The rank of a value, and the value for its order: a boolean as 0 or 1, a number, or the first code points of a string (or what has
 * their natural order); otherwise null.
 */
export function orderOf(
  type: string,
  value: string,
  isNatural = false,
): readonly [rank: string, value: string] {
  const text = isNatural ? `holdfast_natural(${value})` : `substr(${value}, 1, ${sortedCodePoints})`;
  return [
    `case ${type} when 'text' then ${ranks.string} when 'integer' then ${ranks.number} when 'real' then ${ranks.number}
      when 'true' then ${ranks.true} when 'false' then ${ranks.false}
      when 'array' then ${ranks.container} when 'object' then ${ranks.container} else ${ranks.null} end`,
    `case ${type} when 'text' then ${text} when 'array' then null
      when 'object' then null else ${value} end`,
  ];
}

/** The value of an id in its column. A bigint, because Node binds a number as a floating-point number. */
function idValue(value: string | number): string | bigint | number {
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
}

function hasElement(path: Path, where: string): string {
  // `json_each` also lists the members of an object.
  return `(${sqliteLists.type(path)} = 'array' and exists (
    select 1 from json_each(doc, ${pathSql(path)}) as element where ${where}))`;
}

/** The SQL of lists. */
export const sqliteLists: ListDialect = {
  ...sqliteDialect,
  joinsInOrder: true,
  fence: "limit -1",
  quote,
  // SQLite plans a statement again for each new value of a bare parameter in `limit`.
  rows: (n, scope) => `+${bind(scope, n, "float8")}`,
  oneOf: (sql, values, scope) =>
    `${sql} in (${values.map((value) => bind(scope, value, "text")).join(", ")})`,
  type: (path) => `json_type(doc, ${pathSql(path)})`,
  json: (path) => `(doc -> ${pathSql(path)})`,
  typed(path, type) {
    const types = type === "number" ? "in ('integer', 'real')" : "= 'text'";
    return `iif(${sqliteLists.type(path)} ${types}, ${extractSql(path)}, null)`;
  },
  key: (path, as) => meaningSql(sqliteLists.type(path), extractSql(path), as),
  hasItem(path, values, scope) {
    const atoms = values.filter((value) => typeof value === "string" || typeof value === "number");
    const plain = "element.type not in ('true', 'false')"; // whose atoms are 1 and 0
    const parts =
      atoms.length === 0 ? [] : [`(${sqliteLists.oneOf("element.atom", atoms, scope)} and ${plain})`];
    for (const value of [true, false, null])
      if (values.includes(value)) parts.push(`element.type = '${value}'`);
    return hasElement(path, either(parts));
  },
  hasKey: (path, keys, as, scope) =>
    hasElement(path, sqliteLists.oneOf(meaningSql("element.type", "element.atom", as), keys, scope)),
  folded: (text) => `holdfast_fold(${text})`,
  hasFolded: (path, condition) =>
    hasElement(path, condition("iif(element.type = 'text', holdfast_fold(element.atom), null)")),
  // With the name `doc` for the item, SQLite would take it for the argument of `json_each`.
  hasObject: (path, where) => `(${sqliteLists.type(path)} = 'array' and exists (
    select 1 from (select item as doc from (
      select '{"${itemName}":' || element.value || '}' as item from json_each(doc, ${pathSql(path)}) as element
      where element.type = 'object')) as items where ${where}))`,
  suffix: (text, length) => `substr(${text}, -${length})`,
  sortTerms: (path, isNatural) => orderOf(sqliteLists.type(path), extractSql(path), isNatural),
  sortValues: (value) => [value],
  keyOfValue: (_, value) => idValue(value),
  /** In SQLite, every number is less than every text. */
  compareId(kind, value, scope) {
    const id = `${scope.table}.id`;
    const type = typeof value === "number" ? "integer" : "text";
    return `(typeof(${id}) = '${type}' and ${id} ${comparisons[kind]} ${bind(scope, idValue(value), "text")})`;
  },
  textId: ({ table }) => `iif(typeof(${table}.id) = 'text', ${table}.id, null)`,
  idSql: (_, key) => `cast(${key} as text)`,
  keySql(kind, id) {
    if (kind !== "integer") return id;
    const integer = `cast(${id} as integer)`;
    return `iif(cast(${integer} as text) = ${id}, ${integer}, ${id})`;
  },
  keyed: (number, table) =>
    `${entriesTable(number)} as ${table}_entry cross join ${resourcesTable(number)} as ${table} on ${table}.key = ${table}_entry.row`,
  keyColumnOf: (_, table) => `${table}_entry.k`,
  ofSlot: (slot, table) => [`${table}_entry.slot = ${slot}`],
  bytes: (key) => key,
  search: (terms, scope) => searchSql(terms, scope),
};

/** The context of a statement about the resources of a collection. `first` are the conditions that come before all others. */
export function scopeOf(
  collection: NumberedCollection,
  first: readonly string[],
  related: RelatedCollections = {},
): Scope {
  return {
    dialect: sqliteLists,
    collection,
    table: "resource",
    related,
    first,
    values: [],
    valueAt: (place) => `?${place}`,
  };
}
