/** The formats that a schema may name: how each is checked, and what it asks for in words. */
import { fullFormats } from "ajv-formats/dist/formats.js";
import { isDate, isDateValue, isTimestamp, isUnixMillis } from "./dates.ts";

/** One format. A format is silent about values of types that it does not speak of. */
export interface Format {
  test: (value: unknown) => boolean;
  /** Completes “must be …”. */
  asks: string;
  /** Whether it is one of the forms of a date value. */
  isDate?: true;
}

/**
 * Longer strings fit no format but those of plain content: no address is longer, and the regular expressions
 * below run on V8's engine, which is linear on them but not free.
 */
const maxLength = 8192;

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;
const int32 = 2 ** 31;

/** Every format by name. */
export const formats = {
  date: ofText(isDate, "a valid date, as YYYY-MM-DD", true),
  "date-time": ofText(isTimestamp, "a valid date and time, as YYYY-MM-DDThh:mm:ss.SSSZ", true),
  "unix-millis": ofNumber(isUnixMillis, "Unix time in whole milliseconds", true),
  "date-value": {
    test: isDateValue,
    asks: "a date: YYYY-MM-DD, YYYY-MM-DDThh:mm:ss.SSSZ, or Unix time in whole milliseconds",
    isDate: true,
  },
  time: fromLibrary("time", "a time with an offset, such as 10:30:00Z"),
  duration: fromLibrary("duration", "an ISO 8601 duration, such as P3DT12H"),
  email: fromLibrary("email", "an email address"),
  hostname: fromLibrary("hostname", "a host name"),
  ipv4: fromLibrary("ipv4", "an IPv4 address"),
  ipv6: fromLibrary("ipv6", "an IPv6 address"),
  uri: fromLibrary("uri", "an absolute URI, such as https://example.org/"),
  "uri-reference": fromLibrary("uri-reference", "a URI or a reference to one"),
  "uri-template": fromLibrary("uri-template", "a URI template (RFC 6570)"),
  uuid: fromLibrary("uuid", "a UUID"),
  "json-pointer": fromLibrary("json-pointer", "a JSON Pointer, such as /name/first"),
  "relative-json-pointer": fromLibrary("relative-json-pointer", "a relative JSON Pointer"),
  "json-pointer-uri-fragment": fromLibrary(
    "json-pointer-uri-fragment",
    "a JSON Pointer as a URI fragment, such as #/name",
  ),
  regex: ofText(isRegularExpression, "an ECMA-262 regular expression"),
  byte: { test: (value) => typeof value !== "string" || isBase64(value), asks: "base64" },
  int32: ofNumber(
    (value) => Number.isInteger(value) && value >= -int32 && value < int32,
    "a 32-bit whole number",
  ),
  int64: ofNumber(Number.isInteger, "a whole number"),
  // Hints for forms and code generators, which ask for nothing.
  float: { test: () => true, asks: "a number" },
  double: { test: () => true, asks: "a number" },
  password: { test: () => true, asks: "a string" },
  binary: { test: () => true, asks: "a string" },
} as const satisfies Record<string, Format>;

/** The format of this name. */
export function formatOf(name: string): Format | undefined {
  return Object.hasOwn(formats, name) ? formats[name as keyof typeof formats] : undefined;
}

function ofText(fits: (text: string) => boolean, asks: string, isDateForm?: true): Format {
  const test = (value: unknown) => typeof value !== "string" || (value.length <= maxLength && fits(value));
  return isDateForm === undefined ? { test, asks } : { test, asks, isDate: true };
}

function ofNumber(fits: (value: number) => boolean, asks: string, isDateForm?: true): Format {
  const test = (value: unknown) => typeof value !== "number" || fits(value);
  return isDateForm === undefined ? { test, asks } : { test, asks, isDate: true };
}

function fromLibrary(name: keyof typeof fullFormats, asks: string): Format {
  const check: unknown = fullFormats[name];
  if (check instanceof RegExp) return ofText((text) => check.test(text), asks);
  const fits = typeof check === "function" ? check : (check as { validate: unknown }).validate;
  return ofText(fits as (text: string) => boolean, asks);
}

function isRegularExpression(text: string): boolean {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && base64.test(text);
}
