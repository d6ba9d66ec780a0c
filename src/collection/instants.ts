/**
 * Instants: the points in time that dates mean. Dates in different forms are compared by the key of their instant, a text. The
 * keys of two instants have the order of the instants by code point, and equal instants have equal keys. The key of a date in
 * the usual form, `YYYY-MM-DDThh:mm:ss.SSSZ`, is the date itself. Stores compute the same keys in SQL.
 */
import { isDate, isUnixMillis, maxUnixMillis } from "./dates.ts";

/** A point in time, exactly. */
export interface Instant {
  /** Unix time in whole milliseconds, rounded down. */
  ms: number;
  /** The decimal digits after the milliseconds, without zeros at the end. */
  rest: string;
}

/** Which values are instants. `time`: texts with a date, a time and an offset. `date`: also days and Unix time in milliseconds. */
export type InstantForm = "time" | "date";

/** The most digits of a fraction of a second. A text with more of them is no instant. */
export const maxFraction = 64;

/** The first and the last millisecond whose key is the usual form: Unix time. */
export const usualMs = {
  first: Date.parse("0000-01-01T00:00:00.000Z"),
  last: Date.parse("9999-12-31T23:59:59.999Z"),
} as const;

/** The length of the usual form. */
const usualLength = "0000-01-01T00:00:00.000Z".length;

/** The digits of the milliseconds in any other key, which count from the earliest instant. */
export const keyDigits = 17;

/** RFC 3339, also without seconds (ISO 8601). */
const wholeTime =
  /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,64}))?)?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** The instant that a value means; `undefined` if it means none in this form. */
export function instantOf(value: unknown, form: InstantForm): Instant | undefined {
  if (typeof value === "string") return timeIn(value) ?? (form === "date" ? dayIn(value) : undefined);
  return form === "date" && typeof value === "number" && isUnixMillis(value)
    ? { ms: value === 0 ? 0 : value, rest: "" } // -0 is 0
    : undefined;
}

/** The usual form on the first 28 days of a month. Most dates have it, and are their own keys. */
const quickTime = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** The key of the instant that a value means; `undefined` if it means none in this form. */
export function instantKeyOf(value: unknown, form: InstantForm): string | undefined {
  if (typeof value === "string") {
    if (quickTime.test(value)) return value;
    if (form === "date" && isDate(value)) return `${value}T00:00:00.000Z`;
  }
  const instant = instantOf(value, form);
  return instant && keyOf(instant);
}

/** The key of an instant: its usual form, and then the digits after the milliseconds. Other years sort before and after these. */
export function keyOf({ ms, rest }: Instant): string {
  if (ms >= usualMs.first && ms <= usualMs.last) return new Date(ms).toISOString() + rest;
  return (ms < 0 ? "-" : "~") + digitsOf(ms);
}

/** The milliseconds since the earliest instant, with leading zeros. A number cannot hold all of them exactly. */
function digitsOf(ms: number): string {
  return String(BigInt(ms) + BigInt(maxUnixMillis)).padStart(keyDigits, "0");
}

/** Whether a text is a key as `keyOf` makes it. */
export function isInstantKey(text: string): boolean {
  const usual = text.slice(0, usualLength);
  return text.startsWith("-") || text.startsWith("~")
    ? /^.\d{17}$/.test(text)
    : instantKeyOf(usual, "time") === usual && /^\d*$/.test(text.slice(usualLength));
}

function timeIn(text: string): Instant | undefined {
  const [, day, hour, minute, second = "00", fraction = "", sign, hours = "0", minutes = "0"] =
    wholeTime.exec(text) ?? [];
  if (day === undefined || !isDate(day) || isBeyondYears(day, sign)) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const local = Date.parse(`${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, "0")}Z`);
  return { ms: local - (sign === "-" ? -offset : offset), rest: fraction.slice(3).replace(/0+$/, "") };
}

/** Whether an offset could lead to a year that no text can have. */
function isBeyondYears(day: string, sign: string | undefined): boolean {
  return (day === "0000-01-01" && sign === "+") || (day === "9999-12-31" && sign === "-");
}

function dayIn(text: string): Instant | undefined {
  return isDate(text) ? { ms: Date.parse(text), rest: "" } : undefined;
}
