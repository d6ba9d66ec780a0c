/** The keys of instants in the SQL of SQLite, equal to those of `collection/instants.ts`. */
import { type InstantForm, keyDigits, keyOffset, maxFraction } from "../../../collection/instants.ts";
import type { Path } from "../../../collection/paths.ts";
import { either, every } from "../../filter-sql.ts";
import { extractSql, typeSql } from "./columns.ts";

/** The key of the instant that an attribute means; null if it means none. */
export function instantSql(path: Path, form: InstantForm): string {
  // The inner query reads the attribute once. With a limit, SQLite does not merge the two.
  return `(select ${keySql("type", "value", form)} from (
    select ${typeSql(path)} as type, ${extractSql(path)} as value limit 1))`;
}

/** The key, from the type of a value as `json_type` names it, and the value. */
export function keySql(type: string, value: string, form: InstantForm): string {
  const day = form === "date" ? `when ${isDay(value)} then ${secondsKey(`unixepoch(${value})`)}` : "";
  const millis =
    form === "date"
      ? `when 'integer' then case when abs(${value}) <= ${keyOffset}000 then ${millisKey(value)} end`
      : "";
  return `case ${type} when 'text' then case when ${isTime(value)} then ${timeKey(value)} ${day} end ${millis} end`;
}

const digits = (count: number) => "[0-9]".repeat(count);
const dayPattern = `${digits(4)}-${digits(2)}-${digits(2)}`;

/** SQLite's own dates have many more forms, and the day after the last one of a month. */
function isDay(t: string): string {
  return `(${t} glob '${dayPattern}' and octet_length(${t}) = 10 and date(${t}) = ${t})`;
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
  return `${secondsKey(seconds)} || ${fractionKey(`substr(${between}, 5)`)}`;
}

function millisKey(n: string): string {
  const whole = `printf('%0${keyDigits}d', (${n} + ${keyOffset}000) / 1000)`;
  return `${whole} || ${fractionKey(`printf('%03d', (${n} + ${keyOffset}000) % 1000)`)}`;
}

function secondsKey(seconds: string): string {
  return `printf('%0${keyDigits}d', ${seconds} + ${keyOffset})`;
}

/** The fraction without zeros at its end. */
function fractionKey(fraction: string): string {
  return `rtrim(rtrim('.' || ${fraction}, '0'), '.')`;
}
