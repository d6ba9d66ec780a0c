/**
 * Attributes in SQL. For each indexed attribute, the table of resources has two virtual columns: the rank of its type, and
 * its value. They take no space in the table. An index on them supports filters, sorts and cursors. An index on expressions
 * would not support cursors.
 */
import { type Index, nameOfKey, type SortKey } from "../../../collection/indexes.ts";
import { formatPath, type Path } from "../../../collection/paths.ts";
import { sortedCodePoints } from "../../../query/sort.ts";
import { isIndexed } from "../../core/filter-sql.ts";
import { quoteName, resourcesTable } from "../file/tables.ts";
import { keySql } from "./instants.ts";

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

/** The columns of an indexed attribute. For any other attribute, the expressions that compute the same values. */
export function columnOf(compared: Compared, indexes: readonly Index[]): Column {
  return isIndexed(compared, indexes) ? tableColumn(compared) : computedColumn(compared);
}

/** The statements that add the columns of the indexes to the table, if they do not exist. */
export function columnDdl(
  number: number,
  indexes: readonly Index[],
  existing: ReadonlySet<string>,
): string[] {
  const keys = new Map(indexes.flat().map((key) => [nameOfKey(key), key]));
  return [...keys.values()].flatMap((key) => {
    const computed = computedColumn(key);
    const column = tableColumn(key);
    return (["rank", "value"] as const)
      .filter((kind) => !existing.has(columnName(kind, key)))
      .map(
        (kind) =>
          `alter table ${resourcesTable(number)} add column ${column[kind]} any
           generated always as (${computed[kind]}) virtual`,
      );
  });
}

/** The name of an index. It contains the sort keys, so an index with other keys has another name. */
export function indexName(number: number, index: Index): string {
  const keys = index.map(
    ({ path, descending, as }) =>
      `${descending ? "-" : ""}${as === undefined ? "" : `${as} `}${formatPath(path)}`,
  );
  return `${resourcesTable(number)} by ${keys.join(",")}`;
}

/** The statement that creates an index. */
export function indexDdl(number: number, index: Index): string {
  const columns = index.flatMap((key) => {
    const { rank, value } = tableColumn(key);
    const direction = key.descending ? " desc" : "";
    return [`${rank}${direction}`, `${value}${direction}`];
  });
  const name = quoteName(indexName(number, index));
  return `create index ${name} on ${resourcesTable(number)} (${columns.join(", ")}, id)`;
}

/** Quotes a text for SQL. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function columnName(kind: "rank" | "value", { path, as }: Compared): string {
  return `${as ?? ""}${kind} ${formatPath(path)}`;
}

function tableColumn(compared: Compared): Column {
  return { rank: quoteName(columnName("rank", compared)), value: quoteName(columnName("value", compared)) };
}

/** The expressions of the columns of an index. In an inner query, SQLite reads them from the index, but never columns. */
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
