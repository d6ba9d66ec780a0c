/** The keys of instants in the SQL of PostgreSQL, equal to those of `collection/instants.ts`. All functions are immutable. */
import { maxUnixMillis } from "../../../collection/dates.ts";
import { type InstantForm, keyDigits, maxFraction, usualMs } from "../../../collection/instants.ts";
import type { Path } from "../../../collection/paths.ts";
import { textSql, typeSql } from "./conditions.ts";

/** The key of the instant that an attribute means; null if it means none. */
export function instantSql(path: Path, form: InstantForm): string {
  // The inner query reads the attribute once. With an offset, PostgreSQL does not merge the two.
  return `(select ${keySql("value.type", "value.text", form)} from (
    select ${typeSql(path)} as type, ${textSql(path)} as text offset 0) as value)`;
}

/** The key, from the type of a value as `json_typeof` names it, and its text. An index can contain it: it has no query. */
export function keySql(type: string, text: string, form: InstantForm): string {
  const millis = form === "date" ? `when 'number' then ${millisKeySql(text)}` : "";
  return `(case ${type} when 'string' then ${textKeySql(text, form)} ${millis} end collate "C")`;
}

function digits(millis: string): string {
  return `lpad((${millis} + ${maxUnixMillis})::text, ${keyDigits}, '0')`;
}

/** The key of a text; null if it is not a date. */
function textKeySql(text: string, form: InstantForm): string {
  const t = `${text} collate "C"`;
  const day = form === "date" ? `when ${t} ~ '^${dayPattern}$' then ${text} || 'T00:00:00.000Z'` : "";
  return `case when ${t} ~ '^${quickPattern}$' or ${t} ~ '^${usualPattern}$' then ${text} when ${isTime(t)} then ${timeKey(text)} ${day} end`;
}

/** The key of a number; null if it is not Unix time in milliseconds. */
function millisKeySql(text: string): string {
  return `case when ${isMillis(text)} then ${millisKey(text)} end`;
}

/** Whether the text of a number is Unix time in milliseconds. */
function isMillis(text: string): string {
  return `(case when ${text} collate "C" ~ '^-?[0-9]{1,16}$' then abs(${text}::bigint) <= ${maxUnixMillis} else false end)`;
}

const months = [
  "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])",
  "(0[469]|11)-(0[1-9]|[12][0-9]|30)",
  "02-(0[1-9]|1[0-9]|2[0-8])",
];
const leapYears = "([0-9][0-9](0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)";

/** Exactly the days that exist, because no other day can be computed without an error. */
const dayPattern = `([0-9]{4}-(${months.join("|")})|${leapYears}-02-29)`;
const clockPattern = `[Tt]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,${maxFraction}})?)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])`;

/** The form whose key is the text itself. */
const usualPattern = `${dayPattern}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9][.][0-9]{3}Z`;

/** The same on the first 28 days of a month. Most dates have this form, and the test takes a fraction of the time. */
const quickPattern =
  "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9][.][0-9]{3}Z";

function isTime(t: string): string {
  return `(${t} ~ '^${dayPattern}${clockPattern}$' and ${notBeyond(t)})`;
}

/** An offset cannot lead to a year that no text can have. */
function notBeyond(t: string): string {
  return `${t} !~ '^(0000-01-01.*[+]|9999-12-31.*-)..:..$'`;
}

/** PostgreSQL has no year 0. Days repeat every 400 years. */
function timeKey(t: string): string {
  const number = (start: number, length = 2) => `substr(${t}, ${start}, ${length})::int`;
  const offset = `case when right(${t}, 1) in ('Z', 'z') then 0 else
    (case left(right(${t}, 6), 1) when '-' then -60 else 60 end)
      * (60 * left(right(${t}, 5), 2)::int + right(${t}, 2)::int) end`;
  const minutes = `(make_timestamp(${number(1, 4)} + 400, ${number(6)}, ${number(9)}, ${number(12)}, ${number(15)}, 0)
    - make_interval(secs => ${offset}))`;
  const seconds = `case when substr(${t}, 17, 1) = ':' then substr(${t}, 18, 2) else '00' end`;
  const fraction = `coalesce(substring(${t} from '[.]([0-9]+)'), '')`;
  return `${dayText(minutes)} || 'T' || ${part("hour", minutes)} || ':' || ${part("minute", minutes)} || ':' || ${seconds}
    || '.' || left(${fraction} || '000', 3) || 'Z' || rtrim(substr(${fraction}, 4), '0')`;
}

function millisKey(t: string): string {
  const [n, since] = [`${t}::bigint`, `(${t}::bigint - (${usualMs.first}))`];
  const day = `(make_date(400, 1, 1) + (${since} / 86400000)::int)`;
  const two = (divisor: number, most: number) => `lpad((${since} / ${divisor} % ${most})::text, 2, '0')`;
  return `case when ${n} between ${usualMs.first} and ${usualMs.last}
    then ${dayText(day)} || 'T' || ${two(3_600_000, 24)} || ':' || ${two(60_000, 60)} || ':' || ${two(1_000, 60)}
      || '.' || lpad((${since} % 1000)::text, 3, '0') || 'Z'
    else (case when ${n} < 0 then '-' else '~' end) || ${digits(n)} end`;
}

/** The day of a time that is 400 years later. */
function dayText(time: string): string {
  return `lpad((extract(year from ${time})::int - 400)::text, 4, '0') || '-' || ${part("month", time)} || '-' || ${part("day", time)}`;
}

function part(name: "month" | "day" | "hour" | "minute", time: string): string {
  return `lpad(extract(${name} from ${time})::int::text, 2, '0')`;
}
