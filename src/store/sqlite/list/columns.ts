/**
 * Attributes in SQL. For each indexed attribute, the table of resources has two virtual columns: the rank of its type, and
 * its value. They take no space in the table. An index on them supports filters, sorts and cursors. An index on expressions
 * would not support cursors.
 */
import type { Index } from "../../../collection/indexes.ts";
import { formatPath, type Path } from "../../../collection/paths.ts";
import { sortedCodePoints } from "../../../query/sort.ts";
import { isIndexed } from "../../filter-sql.ts";
import { quoteName, resourcesTable } from "../file/tables.ts";

/** The order of types: absent or null, boolean, number, string, array or object. */
export const ranks = { null: 0, boolean: 1, number: 2, string: 3, container: 4 } as const;

/** The two SQL expressions of an attribute. */
export interface Column {
  /** One of `ranks`. */
  rank: string;
  /** A boolean as 0 or 1, a number, or the first code points of a string. Null for all other values. */
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

/** The columns of an indexed attribute. For any other attribute, the expressions that compute the same values. */
export function columnOf(path: Path, indexes: readonly Index[]): Column {
  return isIndexed(path, indexes) ? tableColumn(path) : computedColumn(path);
}

/** The statements that add the columns of the indexes to the table, if they do not exist. */
export function columnDdl(
  number: number,
  indexes: readonly Index[],
  existing: ReadonlySet<string>,
): string[] {
  const paths = new Map(indexes.flat().map(({ path }) => [formatPath(path), path]));
  return [...paths.values()].flatMap((path) => {
    const computed = computedColumn(path);
    const column = tableColumn(path);
    return (["rank", "value"] as const)
      .filter((kind) => !existing.has(columnName(kind, path)))
      .map(
        (kind) =>
          `alter table ${resourcesTable(number)} add column ${column[kind]} any
           generated always as (${computed[kind]}) virtual`,
      );
  });
}

/** The name of an index. It contains the sort keys, so an index with other keys has another name. */
export function indexName(number: number, index: Index): string {
  const keys = index.map(({ path, descending }) => `${descending ? "-" : ""}${formatPath(path)}`);
  return `${resourcesTable(number)} by ${keys.join(",")}`;
}

/** The statement that creates an index. */
export function indexDdl(number: number, index: Index): string {
  const columns = index.flatMap(({ path, descending }) => {
    const { rank, value } = tableColumn(path);
    const direction = descending ? " desc" : "";
    return [`${rank}${direction}`, `${value}${direction}`];
  });
  const name = quoteName(indexName(number, index));
  return `create index ${name} on ${resourcesTable(number)} (${columns.join(", ")}, id)`;
}

/** Quotes a text for SQL. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function columnName(kind: "rank" | "value", path: Path): string {
  return `${kind} ${formatPath(path)}`;
}

function tableColumn(path: Path): Column {
  return { rank: quoteName(columnName("rank", path)), value: quoteName(columnName("value", path)) };
}

/** The expressions of the columns of an index. In an inner query, SQLite reads them from the index, but never columns. */
export function computedColumn(path: Path): Column {
  const type = typeSql(path);
  const whole = extractSql(path);
  return {
    rank: `case ${type} when 'text' then ${ranks.string} when 'integer' then ${ranks.number}
      when 'real' then ${ranks.number} when 'true' then ${ranks.boolean} when 'false' then ${ranks.boolean}
      when 'array' then ${ranks.container} when 'object' then ${ranks.container} else ${ranks.null} end`,
    value: `case ${type} when 'text' then substr(${whole}, 1, ${sortedCodePoints}) when 'array' then null
      when 'object' then null else ${whole} end`,
  };
}
