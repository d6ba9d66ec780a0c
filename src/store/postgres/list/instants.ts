/** The keys of instants in the SQL of PostgreSQL, equal to those of `collection/instants.ts`. All functions are immutable. */
import { type InstantForm, keyDigits, keyOffset, maxFraction } from "../../../collection/instants.ts";
import type { Path } from "../../../collection/paths.ts";
import { textSql, typeSql } from "./expressions.ts";

/** The key of the instant that an attribute means; null if it means none. */
export function instantSql(path: Path, form: InstantForm): string {
  // The inner query reads the attribute once. With an offset, PostgreSQL does not merge the two.
  return `(select ${keySql("value.type", "value.text", form)} from (
    select ${typeSql(path)} as type, ${textSql(path)} as text offset 0) as value)`;
}

/** The key, from the type of a value as `json_typeof` names it, and its text. */
export function keySql(type: string, text: string, form: InstantForm): string {
  const t = `${text} collate "C"`;
  const day = form === "date" ? `when ${t} ~ '^${dayPattern}$' then ${secondsKey(daySeconds(text))}` : "";
  const millis =
    form === "date"
      ? `when 'number' then case when ${t} ~ '^-?[0-9]{1,16}$'
          then case when abs(${text}::bigint) <= ${keyOffset}000 then ${millisKey(text)} end end`
      : "";
  return `(case ${type} when 'string' then case when ${t} ~ '^${timePattern}$' then ${timeKey(text)} ${day} end
    ${millis} end collate "C")`;
}

const months = [
  "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])",
  "(0[469]|11)-(0[1-9]|[12][0-9]|30)",
  "02-(0[1-9]|1[0-9]|2[0-8])",
];
const leapYears = "([0-9][0-9](0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)";

/** Exactly the days that exist, because no other day can be computed without an error. */
const dayPattern = `([0-9]{4}-(${months.join("|")})|${leapYears}-02-29)`;
const timePattern = `${dayPattern}[Tt]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,${maxFraction}})?)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])`;

/** Days repeat every 400 years. PostgreSQL has no year 0. */
function daySeconds(t: string): string {
  const number = (start: number, length: number) => `substr(${t}, ${start}, ${length})::int`;
  return `(make_date(${number(1, 4)} + 400, ${number(6, 2)}, ${number(9, 2)}) - make_date(2370, 1, 1)) * 86400::bigint`;
}

function timeKey(t: string): string {
  const number = (start: number) => `substr(${t}, ${start}, 2)::int`;
  const offset = `case when right(${t}, 1) in ('Z', 'z') then 0 else
    (case left(right(${t}, 6), 1) when '-' then -60 else 60 end)
      * (60 * left(right(${t}, 5), 2)::int + right(${t}, 2)::int) end`;
  const seconds = `${daySeconds(t)} + 3600 * ${number(12)} + 60 * ${number(15)}
    + (case when substr(${t}, 17, 1) = ':' then ${number(18)} else 0 end) - ${offset}`;
  return `${secondsKey(seconds)} || ${fractionKey(`coalesce(substring(${t} from '[.]([0-9]+)'), '')`)}`;
}

function millisKey(t: string): string {
  const n = `(${t}::bigint + ${keyOffset}000)`;
  return `lpad((${n} / 1000)::text, ${keyDigits}, '0') || ${fractionKey(`lpad((${n} % 1000)::text, 3, '0')`)}`;
}

function secondsKey(seconds: string): string {
  return `lpad((${seconds} + ${keyOffset})::text, ${keyDigits}, '0')`;
}

/** The fraction without zeros at its end. */
function fractionKey(fraction: string): string {
  return `rtrim(rtrim('.' || ${fraction}, '0'), '.')`;
}
