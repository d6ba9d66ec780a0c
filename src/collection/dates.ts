/**
 * The dates that the formats of schemas accept: a day, a UTC timestamp with milliseconds, or Unix time in milliseconds. Where a
 * request or a command names a time, such as `at`, other forms of RFC 3339 work too.
 */

const day = /^\d{4}-\d{2}-\d{2}$/;
/** Days that every month has. Most days have this form, and need no further test. */
const quickDay = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/;
const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** A time of RFC 3339, or one without seconds (ISO 8601). */
const anyTime =
  /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** The largest distance of a date from 1970 (ECMA-262, time values). */
export const maxUnixMillis = 8.64e15;

/** Whether the text is an existing day, as `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  return quickDay.test(text) || (day.test(text) && exists(`${text}T00:00:00.000Z`));
}

/** Whether the text is an existing time, as `YYYY-MM-DDThh:mm:ss.SSSZ`. */
export function isTimestamp(text: string): boolean {
  return timestamp.test(text) && exists(text);
}

/** Whether the number is Unix time in whole milliseconds. */
export function isUnixMillis(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= maxUnixMillis;
}

/** Whether the value is a date in any of these formats. */
export function isDateValue(value: unknown): boolean {
  if (typeof value === "number") return isUnixMillis(value);
  return typeof value === "string" && (isDate(value) || isTimestamp(value));
}

/** Forms of times, for messages. */
export const timeExamples = "2026-01-31, 2026-01-31T08:30Z, 2026-01-31T08:30:00.000Z or 1769848200000";

/**
 * The Unix time in milliseconds that a text means: a time with `Z` or an offset from UTC (RFC 3339; seconds and fractions can be
 * absent), a day, which means its start in UTC, or Unix time in milliseconds. Digits after the milliseconds have no effect.
 * `undefined` for other texts.
 */
export function timeOf(text: string): number | undefined {
  if (/^-?[0-9]{1,16}$/.test(text) && isUnixMillis(Number(text))) return Number(text);
  return isDate(text) ? Date.parse(text) : parseTime(text);
}

function parseTime(text: string): number | undefined {
  const [, minute, second = "00", fraction = "", sign, hours, minutes] = anyTime.exec(text) ?? [];
  if (minute === undefined) return undefined;
  const local = `${minute}:${second}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
  if (!exists(local)) return undefined;
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  return Date.parse(local) - (sign === "-" ? -offset : offset);
}

/** `Date.parse` turns 30 February and 24:00 into the next day. A time exists only if its text stays the same. */
function exists(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString() === text;
}
