/** The formats that a schema can use: a check and a description for each. */
import { fullFormats } from "ajv-formats/dist/formats.js";
import { type Format, ofNumber, ofText } from "./format.ts";
import { declaredFormats } from "./types/declared-types.ts";

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;
const int32 = 2 ** 31;

/** Every format by name. */
export const formats: Readonly<Record<string, Format>> = {
  ...declaredFormats,
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
  byte: { test: (value) => typeof value !== "string" || isBase64(value), expected: "base64" },
  int32: ofNumber(
    (value) => Number.isInteger(value) && value >= -int32 && value < int32,
    "a 32-bit whole number",
  ),
  // These accept every value. They are hints for forms and code generators.
  float: { test: () => true, expected: "a number" },
  double: { test: () => true, expected: "a number" },
  password: { test: () => true, expected: "a string" },
  binary: { test: () => true, expected: "a string" },
};

/** The format of this name. */
export function formatOf(name: string): Format | undefined {
  return Object.hasOwn(formats, name) ? formats[name] : undefined;
}

function fromLibrary(name: keyof typeof fullFormats, expected: string): Format {
  const check: unknown = fullFormats[name];
  if (check instanceof RegExp) return ofText((text) => check.test(text), expected);
  const fits = typeof check === "function" ? check : (check as { validate: unknown }).validate;
  return ofText(fits as (text: string) => boolean, expected);
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
