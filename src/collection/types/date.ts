/** Dates: days, times and Unix time, compared by the instants that they mean (`../instants.ts`). */
import { isDate, isDateValue, isTimestamp, isUnixMillis, maxUnixMillis, timeExamples } from "../dates.ts";
import { ofNumber, ofText } from "../format.ts";
import {
  type InstantForm,
  instantKeyOf,
  isInstantKey,
  keyDigits,
  keyOf,
  maxFraction,
  usualMs,
} from "../instants.ts";
import { shortJson } from "../messages.ts";
import { relativeTime } from "../relative-times.ts";
import type { ComparedValues, DeclaredType } from "./declared-type.ts";

/** How a date can be written: `YYYY-MM-DD`, `YYYY-MM-DDThh:mm:ss.SSSZ`, or Unix time in milliseconds. */
const [day, time, millis] = ["day", "time", "millis"];

/** Dates. */
export const date: DeclaredType<"date"> = {
  name: "date",
  what: "a date",
  expected: "a date",
  jsonTypes: ["string", "number"],
  numberForm: millis,
  formats: {
    date: {
      ...ofText(isDate, "a valid date, as YYYY-MM-DD"),
      code: "date",
      texts: [day],
      example: "2026-03-14",
    },
    "date-time": {
      ...ofText(isTimestamp, "a valid date and time, as YYYY-MM-DDThh:mm:ss.SSSZ"),
      code: "date",
      texts: [time],
      example: "2026-03-14T09:26:53.589Z",
    },
    "unix-millis": {
      ...ofNumber(isUnixMillis, "Unix time in whole milliseconds"),
      code: "date",
      numbers: [millis],
    },
    "date-value": {
      test: isDateValue,
      expected: "a date: YYYY-MM-DD, YYYY-MM-DDThh:mm:ss.SSSZ, or Unix time in whole milliseconds",
      code: "date",
      texts: [day, time],
      numbers: [millis],
      example: "2026-03-14",
    },
  },
  isNatural: false,
  hasUnits: true,
  keyOf: (value) => instantKeyOf(value, "date"),
  isKey: isInstantKey,
  split(key) {
    const isUsual = key[0] !== "-" && key[0] !== "~";
    return isUsual
      ? { number: Date.parse(key.slice(0, usualLength)), rest: key.slice(usualLength) }
      : { number: Number(BigInt(key.slice(1)) - BigInt(maxUnixMillis)), rest: "" };
  },
  isValue: (text, forms) => (forms.has(time) && isTimestamp(text)) || (forms.has(day) && isDate(text)),
  operandKey(written, { forms, isText }) {
    // Nobody who writes a year means the first ten seconds of 1970.
    if (!forms.has(millis) && /^[0-9]{4}$/.test(String(written))) return undefined;
    const isNumber = isText && /^-?[0-9]{1,16}$/.test(String(written));
    return instantKeyOf(isNumber ? Number(written) : written, "date");
  },
  whyNoOperand(written) {
    const isText = typeof written === "string";
    const hint =
      isText && /^(now|today) \d+\w$| \d\d:\d\d$/.test(written) ? '. In a URL, write "+" as %2B' : "";
    const what = `is a date and cannot be compared with ${shortJson(written)}`;
    return isText && /^(now|today)\W*\d/.test(written)
      ? `${what}. Write a distance such as now-7d: with + or -, a whole number, and s, m, h, d or w${hint}`
      : `${what}. Write an existing date such as ${timeExamples}, or a time such as today or now-7d${hint}`;
  },
  relativeKey(written, now, zone) {
    const ms = relativeTime(String(written), now, zone);
    return ms === undefined ? undefined : keyOf({ ms, rest: "" });
  },
  postgresKey: (type, text) => keySql(type, text, "date"),
};

/** Texts with a date, a time and an offset. They are compared so if no schema says what an attribute is. */
export const wholeTimes: ComparedValues = {
  keyOf: (value) => instantKeyOf(value, "time"),
  postgresKey: (type, text) => keySql(type, text, "time"),
};

/** The length of the usual form of an instant. */
const usualLength = new Date(usualMs.first).toISOString().length;

const months = [
  "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])",
  "(0[469]|11)-(0[1-9]|[12][0-9]|30)",
  "02-(0[1-9]|1[0-9]|2[0-8])",
];
const leapYears = "([0-9][0-9](0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)";

/** Matches only days that exist. PostgreSQL throws an error for others. */
const dayPattern = `([0-9]{4}-(${months.join("|")})|${leapYears}-02-29)`;

/** The first 28 days of a month. Most dates have one, and the test takes a fraction of the time. */
const quickDayPattern = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])";

const minutePattern = "([01][0-9]|2[0-3]):[0-5][0-9]";
const clockPattern = `[Tt]${minutePattern}(:[0-5][0-9]([.][0-9]{1,${maxFraction}})?)?([Zz]|[+-]${minutePattern})`;

/** The form of keys. A text in this form is its own key. */
const usualPattern = `T${minutePattern}:[0-5][0-9][.][0-9]{3}Z`;

/** Whether a text is a day and what follows it. */
function isDay(text: string, rest: string): string {
  const [quick, any] = [quickDayPattern, dayPattern].map((day) => `${text} collate "C" ~ '^${day}${rest}$'`);
  return `(${quick} or ${any})`;
}

/** The date in a text, with its time; null for other texts. A cast would fail for them. */
export function dateSql(text: string): string {
  const isDate = isDay(text, `(T${minutePattern}:[0-5][0-9]([.][0-9]{1,9})?Z)?`);
  return `case when length(${text}) <= 30 and substr(${text}, 5, 1) = '-' and ${isDate}
    then case length(${text}) when 10 then ${text} || 'T00:00' else ${text} end end`;
}

/** `postgresKey` of both. */
function keySql(type: string, text: string, as: InstantForm): string {
  const [dayKey, millisecondsKey] =
    as === "time"
      ? ["", ""]
      : [
          `when length(${text}) = 10 and ${isDay(text, "")} then ${text} || 'T00:00:00.000Z'`,
          `when 'number' then case when ${isMillis(text)} then ${millisKey(text)} end`,
        ];
  // An offset cannot lead to a year that no text can have.
  const isBeyond = `${text} collate "C" ~ '^(0000-01-01.*[+]|9999-12-31.*-)..:..$'`;
  return `(case ${type} when 'string' then case ${dayKey} when ${isDay(text, usualPattern)} then ${text}
    when ${isDay(text, clockPattern)} and not ${isBeyond} then ${timeKey(text)} end ${millisecondsKey} end collate "C")`;
}

/** Whether the text of a number is Unix time in milliseconds. */
function isMillis(text: string): string {
  return `(case when ${text} collate "C" ~ '^-?[0-9]{1,16}$' then abs(${text}::bigint) <= ${maxUnixMillis} else false end)`;
}

function timeKey(t: string): string {
  const number = (start: number, length = 2) => `substr(${t}, ${start}, ${length})::int`;
  const offset = `case when right(${t}, 1) in ('Z', 'z') then 0 else
    (case left(right(${t}, 6), 1) when '-' then -60 else 60 end)
      * (60 * left(right(${t}, 5), 2)::int + right(${t}, 2)::int) end`;
  const minutes = `(make_timestamp(${number(1, 4)} + 400, ${number(6)}, ${number(9)}, ${number(12)}, ${number(15)}, 0)
    - make_interval(secs => ${offset}))`;
  const seconds = `case when substr(${t}, 17, 1) = ':' then substr(${t}, 18, 2) else '00' end`;
  const fraction = `coalesce(substring(${t} from '[.]([0-9]+)'), '')`;
  return `${timeText(minutes, '"T"HH24:MI:')} || ${seconds}
    || '.' || left(${fraction} || '000', 3) || 'Z' || rtrim(substr(${fraction}, 4), '0')`;
}

function millisKey(t: string): string {
  const n = `${t}::bigint`;
  const time = `(timestamp '2370-01-01' + make_interval(days => (${n} / 86400000)::int, secs => ${n} % 86400000 / 1000.0))`;
  return `case when ${n} between ${usualMs.first} and ${usualMs.last} then ${timeText(time, '"T"HH24:MI:SS.MS"Z"')}
    else (case when ${n} < 0 then '-' else '~' end) || lpad((${n} + ${maxUnixMillis})::text, ${keyDigits}, '0') end`;
}

/** The text of a time that is 400 years later. PostgreSQL has no year 0. Days repeat every 400 years. */
function timeText(time: string, format: string): string {
  return `lpad((extract(year from ${time})::int - 400)::text, 4, '0') || to_char(${time}, '-MM-DD${format}')`;
}
