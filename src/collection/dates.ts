/**
 * The dates that the formats of schemas and the parameter `at` accept: a day, a UTC timestamp with milliseconds, or Unix time
 * in milliseconds. Other spellings, such as an offset from UTC, are not dates here.
 */

const day = /^\d{4}-\d{2}-\d{2}$/;
const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** The largest distance of a date from 1970 (ECMA-262, time values). */
const maxUnixMillis = 8.64e15;

/** Whether the text is an existing day, as `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  return day.test(text) && exists(`${text}T00:00:00.000Z`);
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

/** The Unix time in milliseconds that a date value means, written as text. A day is its start. `undefined` for other texts. */
export function timeOf(text: string): number | undefined {
  if (/^-?[0-9]{1,16}$/.test(text) && isUnixMillis(Number(text))) return Number(text);
  return isDate(text) || isTimestamp(text) ? Date.parse(text) : undefined;
}

/** `Date.parse` turns 30 February and 24:00 into the next day. A time exists only if its text stays the same. */
function exists(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString() === text;
}
