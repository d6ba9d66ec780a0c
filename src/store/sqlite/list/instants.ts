/** The keys of instants in the SQL of SQLite, equal to those of `collection/instants.ts`. */
import { maxUnixMillis } from "../../../collection/dates.ts";
import { type InstantForm, keyDigits, maxFraction, usualMs } from "../../../collection/instants.ts";
import type { Path } from "../../../collection/paths.ts";
import { either, every } from "../../core/filter-sql.ts";
import { extractSql, typeSql } from "./conditions.ts";

/** The key of the instant that an attribute means; null if it means none. */
export function instantSql(path: Path, form: InstantForm): string {
  // The inner query reads the attribute once. With a limit, SQLite does not merge the two.
  return `(select ${keySql("type", "value", form)} from (
    select ${typeSql(path)} as type, ${extractSql(path)} as value limit 1))`;
}

/** The key, from the type of a value as `json_type` names it, and the value. A column can contain it: it has no query. */
export function keySql(type: string, value: string, form: InstantForm): string {
  const day = form === "date" ? `when ${isDay(value)} then ${value} || 'T00:00:00.000Z'` : "";
  const millis =
    form === "date"
      ? `when 'integer' then case when abs(${value}) <= ${maxUnixMillis} then ${millisKey(value)} end`
      : "";
  return `case ${type} when 'text' then case when ${isUsual(value)} then ${value}
    when ${isTime(value)} then ${timeKey(value)} ${day} end ${millis} end`;
}

const digits = (count: number) => "[0-9]".repeat(count);

/** The form of a day, for `glob`. */
export const dayPattern = `${digits(4)}-${digits(2)}-${digits(2)}`;

/** SQLite's own dates have many more forms, and the day after the last one of a month. */
function isDay(t: string): string {
  return `(${t} glob '${dayPattern}' and octet_length(${t}) = 10 and date(${t}) = ${t})`;
}

/** The form whose key is the text itself. Most dates have it. */
function isUsual(t: string): string {
  return every([
    `${t} glob '${dayPattern}T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]Z'`,
    `octet_length(${t}) = 24`,
    `substr(${t}, 12, 2) <= '23'`,
    `date(substr(${t}, 1, 10)) = substr(${t}, 1, 10)`,
  ]);
}

/** A text with a null character or with others than those of ASCII has more bytes than characters. */
function isTime(t: string): string {
  const [day, between] = [`substr(${t}, 1, 10)`, betweenSql(t)];
  const isOffset = every([`${t} glob '*[+-][0-2][0-9]:[0-5][0-9]'`, `substr(${t}, -5, 2) <= '23'`]);
  const hasFraction = every([
    `${between} glob ':[0-5][0-9].[0-9]*'`,
    `rtrim(substr(${between}, 5), '0123456789') = ''`,
    `length(${between}) <= ${maxFraction + 4}`,
  ]);
  return every([
    `${t} glob '${dayPattern}[Tt][0-2][0-9]:[0-5][0-9]*'`,
    `substr(${t}, 12, 2) <= '23'`,
    `octet_length(${t}) = length(${t})`,
    `${t} not glob '0000-01-01*+[0-9][0-9]:[0-9][0-9]' and ${t} not glob '9999-12-31*-[0-9][0-9]:[0-9][0-9]'`,
    `date(${day}) = ${day}`,
    either([isZulu(t), isOffset]),
    either([`${between} = ''`, `${between} glob ':[0-5][0-9]'`, hasFraction]),
  ]);
}

function isZulu(t: string): string {
  return `${t} glob '*[Zz]'`;
}

/** The seconds and their fraction, such as ":30.5". They are between the minute and the offset. */
function betweenSql(t: string): string {
  return `substr(${t}, 17, length(${t}) - 16 - iif(${isZulu(t)}, 1, 6))`;
}

function timeKey(t: string): string {
  const number = (start: number) => `cast(substr(${t}, ${start}, 2) as integer)`;
  const between = betweenSql(t);
  const offset = `iif(${isZulu(t)}, 0, iif(substr(${t}, -6, 1) = '-', -60, 60) * (60 * ${number(-5)} + ${number(-2)}))`;
  const seconds = `unixepoch(substr(${t}, 1, 10)) + 3600 * ${number(12)} + 60 * ${number(15)}
    + cast(substr(${between}, 2, 2) as integer) - ${offset}`;
  const fraction = `substr(${between}, 5)`;
  return `${secondsText(seconds)} || '.' || substr(${fraction} || '000', 1, 3) || 'Z' || rtrim(substr(${fraction}, 4), '0')`;
}

function millisKey(n: string): string {
  const [seconds, rest] = [
    `(${n} + ${maxUnixMillis}) / 1000 - ${maxUnixMillis / 1000}`,
    `(${n} + ${maxUnixMillis}) % 1000`,
  ];
  return `case when ${n} between ${usualMs.first} and ${usualMs.last}
    then ${secondsText(seconds)} || printf('.%03dZ', ${rest})
    else iif(${n} < 0, '-', '~') || printf('%0${keyDigits}d', ${n} + ${maxUnixMillis}) end`;
}

function secondsText(seconds: string): string {
  return `strftime('%Y-%m-%dT%H:%M:%S', ${seconds}, 'unixepoch')`;
}
