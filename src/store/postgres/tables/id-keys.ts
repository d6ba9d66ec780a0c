/**
 * The keys of ids in the tables: texts whose order by code point is the order of lists. With integer ids, the keys of
 * integers sort by number and come before the keys of other texts. With other kinds of ids, the key is the id.
 */
import type { IdKind } from "../../../collection/ids.ts";
import { integerOf } from "../../integer-ids.ts";

const negativeMark = "0";
const positiveMark = "1";

/** The start of the keys of texts in a collection with integer ids. No key of an integer starts with it. */
export const textMark = "2";

const digits = 16;
const offset = 2 ** 53;

/** The key of an id. */
export function keyOf(kind: IdKind, id: string): string {
  if (kind !== "integer") return id;
  const integer = integerOf(kind, id);
  return integer === undefined ? textMark + id : integerKey(integer);
}

/** The key of an integer in a collection with integer ids. */
export function integerKey(integer: number): string {
  return integer < 0
    ? negativeMark + String(integer + offset).padStart(digits, "0")
    : positiveMark + String(integer).padStart(digits, "0");
}

/** The id of a key. */
export function idOf(kind: IdKind, key: string): string {
  if (kind !== "integer") return key;
  const rest = key.slice(1);
  if (key.startsWith(textMark)) return rest;
  return String(key.startsWith(positiveMark) ? Number(rest) : Number(rest) - offset);
}

/** Whether the database can store the text. It cannot contain a null character or half of a surrogate pair. */
export function isKeepable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
