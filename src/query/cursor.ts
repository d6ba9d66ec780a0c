/**
 * Cursors: where the next page of a list begins, as a token that clients carry and never read.
 *
 * A cursor holds a position and the list that it belongs to. It is stateless and does not expire, and gives no
 * rights. The checksum is not a secret: it tells a damaged cursor from a whole one.
 */
import { hash } from "node:crypto";
import { Problem } from "../errors.ts";
import { inQuery, type Place, violationAt } from "./faults.ts";
import type { ListRequest } from "./list.ts";
import { type Position, sortValueOf } from "./sort.ts";

const checksumBytes = 8;
const advice = 'must come from a "next" link of this list, with the same filter and sort';

/** Names what a cursor belongs to: a list is another one with another filter, sort or words. */
export function listName(
  collection: string,
  { filter, sort, words }: Pick<ListRequest, "filter" | "sort" | "words">,
): string {
  return JSON.stringify([collection, filter, sort, words]);
}

/** Spells the position after which the next page begins. `list` is what `listName` gave. */
export function formatCursor(list: string, position: Position): string {
  const payload = Buffer.from(JSON.stringify(position));
  return Buffer.concat([checksum(list, payload), payload]).toString("base64url");
}

/**
 * Reads a cursor that `formatCursor` made for the same list, with a position of so many values. Throws INVALID_CURSOR.
 * Anybody can forge one, and gets no more than a page that begins elsewhere.
 */
export function parseCursor(
  list: string,
  cursor: string,
  values: number,
  place: Place = inQuery("cursor"),
): Position {
  const bytes = Buffer.from(cursor, "base64url");
  const payload = bytes.subarray(checksumBytes);
  // base64url's last character has spare bits, and Buffer skips characters that it does not know.
  const isWhole = bytes.toString("base64url") === cursor && bytes.length > checksumBytes;
  if (!isWhole || !checksum(list, payload).equals(bytes.subarray(0, checksumBytes)))
    throw invalidCursor(place);
  const position = parsePosition(payload);
  if (position?.length !== values) throw invalidCursor(place);
  return position;
}

/** The problem of a cursor that is not one of this list. */
export function invalidCursor(place: Place): Problem {
  return new Problem(
    "INVALID_CURSOR",
    'The cursor is not valid for this list. Use the cursor of a "next" link of this list, with the same filter and sort.',
    { violations: [violationAt(place, "cursor", advice)] },
  );
}

function checksum(list: string, payload: Buffer): Buffer {
  const text = Buffer.concat([Buffer.from(`${list}\0`), payload]);
  return hash("sha256", text, "buffer").subarray(0, checksumBytes);
}

/** The position that is spelled so and in no other way; its last value is an id. */
function parsePosition(payload: Buffer): Position | undefined {
  const value = parseJson(payload);
  if (!Array.isArray(value) || !value.every(isWellFormed)) return undefined;
  const position = value.map(sortValueOf);
  const id = position.at(-1);
  const isPosition = Buffer.from(JSON.stringify(position)).equals(payload);
  return isPosition && (typeof id === "string" || typeof id === "number") ? position : undefined;
}

function parseJson(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString());
  } catch {
    return undefined;
  }
}

/** Texts of resources have neither lone surrogates nor null characters; a forged one might. */
function isWellFormed(value: unknown): boolean {
  return typeof value !== "string" || (value.isWellFormed() && !value.includes("\0"));
}
