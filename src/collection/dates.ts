/** The forms of a date value: a day, a UTC timestamp with milliseconds, or Unix time in milliseconds. */

const day = /^\d{4}-\d{2}-\d{2}$/;
const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** The furthest that a date can be from 1970, either way (ECMA-262, time values). */
const maxUnixMillis = 8.64e15;

/** Whether this is a day that exists, as `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  return day.test(text) && exists(`${text}T00:00:00.000Z`);
}

/** Whether this is a moment that exists, as `YYYY-MM-DDThh:mm:ss.SSSZ`. */
export function isTimestamp(text: string): boolean {
  return timestamp.test(text) && exists(text);
}

/** Whether this is Unix time in whole milliseconds. */
export function isUnixMillis(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= maxUnixMillis;
}

/** Whether this is a date value in any of its forms. */
export function isDateValue(value: unknown): boolean {
  if (typeof value === "number") return isUnixMillis(value);
  return typeof value === "string" && (isDate(value) || isTimestamp(value));
}

/** Date parsing rolls 30 February and 24:00 over to the next day, so only what comes back unchanged exists. */
function exists(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString() === text;
}
