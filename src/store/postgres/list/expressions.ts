/** SQL expressions for the attributes of a resource: types, values, and the expressions that lists sort by. */
import type { SortKey } from "../../../collection/indexes.ts";
import type { Path } from "../../../collection/paths.ts";
import { isInstant, type SortValue, sortedCodePoints } from "../../../query/sort.ts";
import { keySql } from "./instants.ts";

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
