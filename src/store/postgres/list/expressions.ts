/** SQL expressions for the attributes of a resource: types, values, and the expressions that lists and indexes sort by. */
import type { SortKey } from "../../../collection/indexes.ts";
import { isInstantKey, shortKeyOf } from "../../../collection/instants.ts";
import type { Path } from "../../../collection/paths.ts";
import type { Unique } from "../../../collection/unique.ts";
import { isInstant, type SortValue, sortedCodePoints } from "../../../query/sort.ts";
import { isDateText, isMillis, keySql, shortKeySql } from "./instants.ts";

/** The rank of each type in a sort: absent or null, false, true, number, string, array or object, and declared dates. */
export const ranks = { null: 0, false: 1, true: 2, number: 3, string: 4, container: 5, date: 6 } as const;

/** The expressions that sort by one attribute. All have the same direction. */
export interface SortExpressions {
  rank: string;
  number: string;
  text: string;
}

/** The values of these expressions for one value of an attribute. */
export interface SortValues {
  rank: number;
  number: number;
  text: string;
}

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

/** The sort expressions of an attribute. */
export function sortExpressions({ path, as }: Pick<SortKey, "path" | "as">): SortExpressions {
  const type = typeSql(path);
  const text = textSql(path);
  if (as !== undefined) return dateExpressions(type, text);
  return {
    rank: `(case ${type} when 'string' then ${ranks.string} when 'number' then ${ranks.number}
      when 'boolean' then case ${text} when 'true' then ${ranks.true} else ${ranks.false} end
      when 'array' then ${ranks.container} when 'object' then ${ranks.container} else ${ranks.null} end)`,
    number: `(case ${type} when 'number' then ${text}::float8 else 0::float8 end)`,
    text: `(case ${type} when 'string' then left(${text}, ${sortedCodePoints}) else '' end collate "C")`,
  };
}

/** The sort expressions of a declared date. Its text is the short key of its instant. */
function dateExpressions(type: string, text: string): SortExpressions {
  return {
    rank: `(case ${type} when 'string' then case when ${isDateText(text)} then ${ranks.date} else ${ranks.string} end
      when 'number' then case when ${isMillis(text)} then ${ranks.date} else ${ranks.number} end
      when 'boolean' then case ${text} when 'true' then ${ranks.true} else ${ranks.false} end
      when 'array' then ${ranks.container} when 'object' then ${ranks.container} else ${ranks.null} end)`,
    number: `(case ${type} when 'number' then case when ${isMillis(text)} then 0::float8 else ${text}::float8 end else 0::float8 end)`,
    text: `(coalesce(${shortKeySql(type, text)}, case ${type} when 'string' then left(${text}, ${sortedCodePoints}) else '' end) collate "C")`,
  };
}

/** The values of the sort expressions for a value. */
export function sortValues(value: SortValue): SortValues {
  if (typeof value === "boolean") return { rank: value ? ranks.true : ranks.false, number: 0, text: "" };
  if (typeof value === "number") return { rank: ranks.number, number: value, text: "" };
  if (typeof value === "string") return { rank: ranks.string, number: 0, text: value };
  if (isInstant(value)) return { rank: ranks.date, number: 0, text: shortKeyOf(value[0]) };
  return { rank: value === null ? ranks.null : ranks.container, number: 0, text: "" };
}

/** An index of unique values contains this many code points of each value. No declaration allows longer values. */
const uniqueLength = 600;

/** The value of a unique attribute, in the form of `uniqueValue`; null if it has no value that must be unique. */
export function uniqueSql(unique: Unique): string {
  return uniqueBy(unique, keySql);
}

/** The indexed start of a unique value. A date has its short key. */
export function uniqueIndexSql(unique: Unique): string {
  return `left(${uniqueBy(unique, shortKeySql)}, ${uniqueLength})`;
}

/** What the index has for a value, in the form of `uniqueValue`. */
export function indexedUniqueValue({ as }: Unique, value: string): string {
  const key: unknown = as && JSON.parse(value);
  const indexed = typeof key === "string" && isInstantKey(key) ? JSON.stringify(shortKeyOf(key)) : value;
  return [...indexed].slice(0, uniqueLength).join("");
}

function uniqueBy({ path, ignoreCase, as }: Unique, keyOf: typeof keySql): string {
  const text = `${jsonTextSql(path)} collate "C"`;
  const value = ignoreCase ? `lower(${text})` : text;
  const instant = as && `'"' || ${keyOf(typeSql(path), textSql(path), as)} || '"'`;
  return `(case when ${typeSql(path)} in ('string', 'number', 'boolean')
    then ${instant === undefined ? value : `coalesce(${instant}, ${value})`} end)`;
}

/**
 * A text as an SQL literal. Whether a backslash is an escape in plain quotes depends on a setting of the database, so
 * such texts use `E'…'`.
 */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes("\\") ? `E${quoted.replaceAll("\\", "\\\\")}` : quoted;
}
