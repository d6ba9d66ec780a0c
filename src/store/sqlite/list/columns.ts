/** Attributes in SQL: types and values, and the order of values for lists that no index serves. */
import type { SortKey } from "../../../collection/indexes.ts";
import type { Path } from "../../../collection/paths.ts";
import { sortedCodePoints } from "../../../query/sort.ts";
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
