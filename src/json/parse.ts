/**
 * The strict parser for JSON from clients: I-JSON (RFC 8259, RFC 7493). It refuses every text whose value could not be
 * stored exactly.
 *
 * `JSON.parse` does the parsing. But it keeps only the last of two members with the same name, rounds numbers and
 * accepts lone surrogates. Cheap checks compare the text with the value, to find signs of this. If a check finds one,
 * `explain.ts` reads the text again and finds the error and its place.
 */
import { isUtf8 } from "node:buffer";
import { Problem } from "../errors.ts";
import { explain, wholeBody } from "./explain.ts";
import { beyondLimits, isBadString, isObject, type JsonLimits } from "./values.ts";

/**
 * The value of a JSON text. Throws MALFORMED_JSON, DUPLICATE_MEMBER, NUMBER_OUT_OF_RANGE, INVALID_STRING,
 * INVALID_UTF8 or BODY_TOO_DEEP.
 */
export function parseJson(bytes: Uint8Array, limits: JsonLimits): unknown {
  const text = decode(bytes);
  const membersInText = countMembers(text, limits);
  // The recursion below must not go too deep, and a very wide object is slow.
  if (membersInText === tooLarge) throw explain(text, limits) ?? beyondLimits(limits);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw explain(text, limits) ?? new Problem("MALFORMED_JSON", `${wholeBody} is not valid JSON.`);
  }
  if (needsCloserLook(text, survey(value), membersInText) || (badEscape.test(text) && hasBadString(value))) {
    const problem = explain(text, limits);
    if (problem !== undefined) throw problem;
  }
  return value;
}

/** What the message about an array says: what to send instead. */
export type InsteadOfArray = string | ((items: readonly unknown[]) => string);

/** The value as an object. Throws BODY_NOT_OBJECT. If the value is an array, the message says what to send instead. */
export function requireObject(
  value: unknown,
  {
    subject = wholeBody,
    insteadOfArray = "send one resource per request",
  }: { subject?: string; insteadOfArray?: InsteadOfArray } = {},
): Record<string, unknown> {
  if (isObject(value)) return value;
  const isWhat = Array.isArray(value) ? "an array" : value === null ? "null" : `a ${typeof value}`;
  const advice =
    Array.isArray(value) && typeof insteadOfArray === "function" ? insteadOfArray(value) : insteadOfArray;
  const hint = Array.isArray(value) ? `: ${advice}` : "";
  throw new Problem("BODY_NOT_OBJECT", `${subject} must be a JSON object, not ${isWhat}${hint}.`);
}

/*
 * These expressions search whole texts, so each must take linear time for every text: no two attempts can read the
 * same characters. A match inside a string is a false alarm. It only causes a second reading.
 */

/** Escapes that can produce a lone surrogate or a null character. Surrogate pairs match too. */
const badEscape = /\\u(?:0000|[dD][89a-fA-F])/;
/** Numbers that can be so small that they round to 0. */
const tinyNumber = /[eE]-[0-9]{3}|0\.0{200}/;
/** Integer literals that can be too large. */
const largeInteger = /(?:^|[[,:\s])-?[0-9]{16,}(?![0-9.eE])/;

function decode(bytes: Uint8Array): string {
  if (!isUtf8(bytes))
    throw new Problem("INVALID_UTF8", `${wholeBody} is not valid UTF-8. Send JSON in UTF-8.`);
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw new Problem("INVALID_UTF8", `${wholeBody} starts with a byte order mark. Remove it.`);
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

const tooLarge = -1;

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const leftBrace = 0x7b;
const rightBrace = 0x7d;
const leftBracket = 0x5b;
const rightBracket = 0x5d;

/** The number of members of all objects in a JSON text, or `tooLarge`. Meaningless if the text is not JSON. */
function countMembers(text: string, limits: JsonLimits): number {
  const membersAt: number[] = [0];
  let members = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) {
      while (++i < text.length) {
        const inner = text.charCodeAt(i);
        if (inner === quote) break;
        if (inner === backslash) i++;
      }
    } else if (code === colon) {
      members++;
      const own = (membersAt[depth] ?? 0) + 1;
      if (own > limits.members) return tooLarge;
      membersAt[depth] = own;
    } else if (code === leftBracket) {
      if (++depth > limits.depth) return tooLarge;
    } else if (code === leftBrace) {
      if (++depth > limits.depth) return tooLarge;
      membersAt[depth] = 0;
    } else if (code === rightBrace || code === rightBracket) {
      if (--depth < 0) return members;
    }
  }
  return members;
}

/** The properties of a parsed value that make a closer look at its text necessary. */
interface Survey {
  members: number;
  hasZero: boolean;
  /** A number that JavaScript writes with an exponent. If its text is an integer literal, it is refused. */
  hasHuge: boolean;
  /** Infinity, or a number between the largest safe integer and `huge`. */
  hasInexact: boolean;
}

/** JavaScript writes this number and all greater ones with an exponent. */
const huge = 1e21;

function survey(value: unknown): Survey {
  const found = { members: 0, hasZero: false, hasHuge: false, hasInexact: false };
  surveyInto(value, found);
  return found;
}

function surveyInto(value: unknown, found: Survey): void {
  if (typeof value === "number") {
    if (value === 0) found.hasZero = true;
    else if (value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER) {
      if (Math.abs(value) >= huge && Number.isFinite(value)) found.hasHuge = true;
      else found.hasInexact = true;
    }
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) surveyInto(value[i], found);
    return;
  }
  const values = Object.values(value);
  found.members += values.length;
  for (let i = 0; i < values.length; i++) surveyInto(values[i], found);
}

function needsCloserLook(text: string, found: Survey, membersInText: number): boolean {
  if (found.members !== membersInText || found.hasInexact) return true;
  return (found.hasZero && tinyNumber.test(text)) || (found.hasHuge && largeInteger.test(text));
}

/** Whether a string or a member name in a value contains a lone surrogate or a null character. */
function hasBadString(value: unknown): boolean {
  if (typeof value === "string") return isBadString(value);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasBadString);
  return Object.keys(value).some(isBadString) || Object.values(value).some(hasBadString);
}
