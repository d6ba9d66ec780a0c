/**
 * Keys in the order of lists: the sort values of a resource as bytes. The order of the bytes is the order of `compareBy` for the
 * resources, so a page of a list is a range of keys. All databases compare bytes in the same way, without a collation.
 *
 * Each value has a byte for its type, and then its content. No value is the beginning of another one, so the values of several
 * attributes follow each other. A descending value has all its bits inverted. The id is the last value, and a UUID has 16 bytes.
 */
import { createHash } from "node:crypto";
import type { Index, SortKey } from "../../collection/indexes.ts";
import { isIdPath } from "../../collection/paths.ts";
import type { DeclaredType } from "../../collection/types/declared-type.ts";
import { typeNamed, typeOfKey } from "../../collection/types/declared-types.ts";
import {
  type CursorValues,
  hasKey,
  maxSortText,
  rankOf,
  type ranks,
  type SortValue,
  withId,
} from "../../query/sort.ts";

/** The first byte of each type, in the order of `ranks`. An inverted first byte is greater than all of these, and less than `end`. */
const typeBytes = {
  null: 0x10,
  false: 0x20,
  true: 0x21,
  number: 0x30,
  string: 0x40,
  container: 0x50,
  declared: 0x60,
  movedNull: 0x70,
} as const satisfies Record<keyof typeof ranks, number>;

/** A byte that is less than the first byte of every value, and one that is greater. */
const [start, end] = [0x01, 0xff];

/** The most bytes of a key. An index of PostgreSQL has space for 2,704. */
const maxLength = 2_600;

/** The byte after the 16 bytes of a UUID in an id: the id is before it, the UUID itself, or after it. */
const idEnds = { before: 0x00, uuid: 0x01, after: 0x02 } as const;

/** It has space for five values and an id, also for those of a forged cursor. */
const buffer = Buffer.allocUnsafe(6 * (2 + 4 * maxSortText));

/**
 * The key with these sort values. With fewer values than the index has attributes and the id, it is the beginning of the keys of
 * all resources with these values. In a key that is too long, a hash takes the place of the id.
 */
export function keyAt(values: CursorValues, index: Index): Buffer {
  let length = 0;
  for (const [n, key] of withId(index).entries()) {
    if (n >= values.length) break;
    const from = length;
    const value = values[n] as SortValue;
    length =
      typeof value === "string" && isIdPath(key.path) ? writeId(value, from) : writeIn(key, value, from);
    const id = from + 1;
    if (n === index.length && length > maxLength)
      length = id + createHash("sha256").update(buffer.subarray(id, length)).digest().copy(buffer, id);
    if (key.descending) invert(from, length);
  }
  return Buffer.from(buffer.subarray(0, length));
}

/** A bound directly before all keys that begin with the bytes. */
export function before(prefix: Buffer): Buffer {
  return Buffer.concat([prefix, Buffer.of(start)]);
}

/** A bound directly after all keys that begin with the bytes. */
export function after(prefix: Buffer): Buffer {
  return Buffer.concat([prefix, Buffer.of(end)]);
}

/** The bounds of the values that have the type of `value`, in an attribute that follows the bytes. */
export function boundsOfType(
  prefix: Buffer,
  value: SortValue,
  key: KeyForm & Pick<SortKey, "descending">,
): { low: Buffer; high: Buffer } {
  writeIn(key, value, 0);
  if (key.descending) invert(0, 1);
  const [type = 0] = buffer;
  return {
    low: Buffer.concat([prefix, Buffer.of(type)]),
    high: Buffer.concat([prefix, Buffer.of(type + 1)]),
  };
}

function invert(from: number, to: number): void {
  for (let at = from; at < to; at++) buffer[at] = ~(buffer[at] as number);
}

/** What decides how a value is written. */
type KeyForm = Pick<SortKey, "movesNulls" | "as">;

/** Writes a value as a key in ascending order has it. Returns the place after it. */
function writeIn({ movesNulls, as }: KeyForm, value: SortValue, at: number): number {
  const next = write(value, as, at);
  if (value === null && movesNulls === true) buffer[at] = typeBytes.movedNull;
  return next;
}

/** Writes a value at a place of the buffer. Returns the place after it. */
function write(value: SortValue, as: SortKey["as"], at: number): number {
  if (hasKey(value)) return writeKey(value[0], typeNamed(as) ?? typeOfKey(value[0]), at);
  if (typeof value === "number") return writeNumber(value, at);
  buffer[at] = typeBytes[rankOf(value)];
  return typeof value === "string" ? writeText(value, at + 1) : at + 1;
}

/** Writes a double whose bits have the order of numbers: the sign bit of a positive one is set, and a negative one is inverted. */
function writeNumber(value: number, at: number): number {
  buffer[at] = typeBytes.number;
  buffer.writeDoubleBE(value, at + 1);
  if (value < 0) invert(at + 1, at + 9);
  else buffer[at + 1] = (buffer[at + 1] as number) | 0x80;
  return at + 9;
}

/** Writes the key of a value of a declared type. */
function writeKey(key: string, type: DeclaredType | undefined, at: number): number {
  const parts = type?.split?.(key);
  const next = parts === undefined ? at + 1 : writeNumber(parts.number, at);
  buffer[at] = typeBytes.declared;
  return writeText(parts === undefined ? key : parts.rest, next);
}

/** Writes a text in UTF-8, which has the order of code points. A zero byte ends it. A byte 255 follows each zero byte inside it. */
function writeText(text: string, at: number): number {
  let next = at;
  if (text.isWellFormed() && !text.includes("\0")) next += buffer.write(text, next);
  else
    for (const character of text) {
      next += character.isWellFormed()
        ? buffer.write(character, next)
        : writeHalf(character.charCodeAt(0), next);
      if (character === "\0") buffer[next++] = 0xff;
    }
  buffer[next] = 0;
  return next + 1;
}

/**
 * Writes an id. A UUID has 16 bytes and a byte that ends it. Any other text has the last UUID before it, another byte, and the whole
 * text. A text before all UUIDs has the first UUID.
 */
function writeId(id: string, at: number): number {
  buffer[at] = typeBytes.string;
  const uuid = uuidUpTo(id);
  buffer.write((uuid ?? firstUuid).replaceAll("-", ""), at + 1, "hex");
  const next = at + 17;
  buffer[next] = uuid === undefined ? idEnds.before : uuid === id ? idEnds.uuid : idEnds.after;
  return uuid === id ? next + 1 : writeText(id, next + 1);
}

const firstUuid = "00000000-0000-0000-0000-000000000000";
const lastUuid = firstUuid.replaceAll("0", "f");
const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The last UUID that does not sort after the text. `undefined` if all UUIDs sort after it. */
function uuidUpTo(text: string): string | undefined {
  if (uuidPattern.test(text)) return text;
  const isFit = (n: number) => (lastUuid[n] === "-" ? text[n] === "-" : /^[0-9a-f]$/.test(text[n] ?? ""));
  let place = 0;
  while (place < lastUuid.length && isFit(place)) place++;
  if (place === lastUuid.length) return text.slice(0, place);
  for (; place >= 0; place--) {
    const digits = lastUuid[place] === "-" ? "-" : "0123456789abcdef";
    const less = [...digits].findLast((digit) => digit < (text[place] ?? ""));
    if (less !== undefined) return text.slice(0, place) + less + lastUuid.slice(place + 1);
  }
  return undefined;
}

/** Writes an unpaired surrogate. A first half sorts directly before its pairs, and a second half after all characters. */
function writeHalf(unit: number, at: number): number {
  if (unit < 0xdc00) {
    const length = buffer.write(String.fromCharCode(unit, 0xdc00), at);
    buffer[at + length - 1] = 0x7f;
    return length;
  }
  buffer[at] = 0xf5;
  buffer[at + 1] = 0x80 | ((unit >> 5) & 0x1f);
  buffer[at + 2] = 0x80 | (unit & 0x1f);
  return 3;
}
