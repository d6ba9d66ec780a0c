/**
 * Cursors: texts that say where the next page of a list starts. Clients do not interpret them.
 *
 * A cursor contains the sort values of the last resource, and a checksum of these values and of the list. It does not
 * expire, and gives no rights. The checksum is not secret: it only detects a damaged cursor, or one of another list.
 */
import { hash } from "node:crypto";
import { firstCodePoints } from "../collection/text-comparison.ts";
import { typeOfKey } from "../collection/types/declared-types.ts";
import { Problem } from "../errors.ts";
import { isBadString, tryParse } from "../json/values.ts";
import { type RequestedFilter, timelessText } from "./filter.ts";
import {
  type CursorValues,
  maxSortText,
  type RequestedSortKey,
  type SortValue,
  sortValueOf,
} from "./sort.ts";
import { inQuery, type Location, violationAt } from "./violations.ts";

const checksumBytes = 8;
const advice = 'must come from a "next" link of this list, with the same filter and sort';

/** The content of a list, and its order. Every page of a list has the same. */
export interface ListContents {
  /** `undefined`: every resource. */
  filter: RequestedFilter | undefined;
  /** The sort keys of the request. The id is not added yet. */
  sort: readonly RequestedSortKey[];
  /** The terms of `q` (`termsOf`); `undefined` without `q`. */
  words: readonly string[] | undefined;
  /** The time at which the list is read: Unix time in milliseconds. `undefined`: now. */
  at: number | undefined;
}

/** Identifies a list. A list with another filter, sort, search or time has another name. */
export function listName(collection: string, { filter, sort, words, at }: ListContents): string {
  return timelessText([collection, filter, sort, words, ...(at === undefined ? [] : [at])]);
}

/** The cursor for a page that starts after these values. `list` is a result of `listName`. */
export function formatCursor(list: string, values: CursorValues): string {
  const payload = Buffer.from(JSON.stringify(values));
  return Buffer.concat([checksum(list, payload), payload]).toString("base64url");
}

/**
 * Reads a cursor of the same list with this number of values. Throws INVALID_CURSOR. A client can forge a cursor, but then
 * only gets a page that starts elsewhere. `natural`: the places of the keys with natural order.
 */
export function parseCursor(
  list: string,
  cursor: string,
  length: number,
  location: Location = inQuery("cursor"),
  natural: readonly number[] = [],
): CursorValues {
  const bytes = Buffer.from(cursor, "base64url");
  const payload = bytes.subarray(checksumBytes);
  // The last character of base64url has unused bits, and Buffer skips unknown characters.
  const isWhole = bytes.toString("base64url") === cursor && bytes.length > checksumBytes;
  if (!isWhole || !checksum(list, payload).equals(bytes.subarray(0, checksumBytes)))
    throw invalidCursor(location);
  const values = parseValues(payload, natural);
  if (values?.length !== length) throw invalidCursor(location);
  return values;
}

/** The problem of a cursor that does not belong to this list. */
export function invalidCursor(location: Location): Problem {
  return new Problem(
    "INVALID_CURSOR",
    'The cursor is not valid for this list. Use the cursor of a "next" link of this list, with the same filter and sort.',
    { violations: [violationAt(location, "cursor", advice)] },
  );
}

function checksum(list: string, payload: Buffer): Buffer {
  const text = Buffer.concat([Buffer.from(`${list}\0`), payload]);
  return hash("sha256", text, "buffer").subarray(0, checksumBytes);
}

/** The values in a cursor, if they are written as `formatCursor` writes them. The last one is an id. */
function parseValues(payload: Buffer, natural: readonly number[]): CursorValues | undefined {
  const value = tryParse(payload.toString());
  if (!Array.isArray(value) || !value.every(isWellFormed)) return undefined;
  const values = value.map((each, n): SortValue => {
    if (isKnownKey(each)) return each;
    const isNatural = typeof each === "string" && natural.includes(n);
    return isNatural ? firstCodePoints(each, maxSortText) : sortValueOf(each);
  });
  const id = values.at(-1);
  const isExact = Buffer.from(JSON.stringify(values)).equals(payload);
  return isExact && (typeof id === "string" || typeof id === "number") ? values : undefined;
}

/** A forged cursor could contain a string that no resource contains. */
function isWellFormed(value: unknown): boolean {
  return typeof value !== "string" || !isBadString(value);
}

function isKnownKey(value: unknown): value is readonly [key: string] {
  return (
    Array.isArray(value) &&
    value.length === 1 &&
    typeof value[0] === "string" &&
    typeOfKey(value[0]) !== undefined
  );
}
