/**
 * Attributes as SQL sees them. For each attribute that an index names, the table of resources has two virtual columns:
 * the rank of its type, and its value. They take no room in the table, and an index on them serves filters, sorts and
 * cursors alike; an index on bare expressions serves no cursor.
 */
import type { Index } from "../../../collection/indexes.ts";
import { formatPath, type Path } from "../../../collection/paths.ts";
import { sortedCodePoints } from "../../../query/sort.ts";
import { isIndexed } from "../../filter-sql.ts";
import { quoteName, resourcesTable } from "../file/tables.ts";

/** The order of types: absent or null, boolean, number, string, array or object. */
export const ranks = { null: 0, boolean: 1, number: 2, string: 3, container: 4 } as const;

/** What an attribute is in SQL. */
export interface Column {
  /** One of `ranks`. */
  rank: string;
  /** Booleans as 0 and 1, numbers, the first code points of strings; null for the rest. */
  value: string;
}

/** The attribute as JSON has it: its type, as `json_type` names it; null where it is absent. */
export function typeSql(path: Path): string {
  return `json_type(doc, ${pathSql(path)})`;
}

/** The whole value of the attribute; arrays and objects as text, so that the type has to be asked too. */
export function extractSql(path: Path): string {
  return `json_extract(doc, ${pathSql(path)})`;
}

/** The JSON text of the attribute, as `JSON.stringify` made it; null where it is absent. */
export function textSql(path: Path): string {
  return `(doc -> ${pathSql(path)})`;
}

/** SQLite reads the names in a path as JSON strings. */
export function pathSql(path: Path): string {
  return quoteText(`$${path.map((name) => `.${JSON.stringify(name)}`).join("")}`);
}

/** The columns of an attribute: those of the table where some index names the attribute, else computed. */
export function columnOf(path: Path, indexes: readonly Index[]): Column {
  return isIndexed(path, indexes) ? nameColumn(path) : computeColumn(path);
}

/** The statements that make the columns which the indexes want and the table does not have. */
export function columnDdl(
  number: number,
  indexes: readonly Index[],
  existing: ReadonlySet<string>,
): string[] {
  const paths = new Map(indexes.flat().map(({ path }) => [formatPath(path), path]));
  return [...paths.values()].flatMap((path) => {
    const computed = computeColumn(path);
    const named = nameColumn(path);
    return (["rank", "value"] as const)
      .filter((part) => !existing.has(columnName(part, path)))
      .map(
        (part) =>
          `alter table ${resourcesTable(number)} add column ${named[part]} any
           generated always as (${computed[part]}) virtual`,
      );
  });
}

/** The name of an index, which tells what it holds. */
export function indexName(number: number, index: Index): string {
  const keys = index.map(({ path, descending }) => `${descending ? "-" : ""}${formatPath(path)}`);
  return `${resourcesTable(number)} by ${keys.join(",")}`;
}

/** The statement that makes an index. */
export function indexDdl(number: number, index: Index): string {
  const columns = index.flatMap(({ path, descending }) => {
    const { rank, value } = nameColumn(path);
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

function columnName(part: "rank" | "value", path: Path): string {
  return `${part} ${formatPath(path)}`;
}

function nameColumn(path: Path): Column {
  return { rank: quoteName(columnName("rank", path)), value: quoteName(columnName("value", path)) };
}

function computeColumn(path: Path): Column {
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
