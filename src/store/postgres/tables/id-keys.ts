/**
 * Ids as the tables keep them: texts whose order by code point is the order of lists. Where ids are integers, those come
 * first by number and what is no integer after them; everywhere else the key is the id itself.
 */
import type { IdKind } from "../../../collection/ids.ts";
import { integerOf } from "../../integer-ids.ts";

const negative = "0";
const positive = "1";

/** What the keys of texts begin with in a collection of integers, and no key of an integer does. */
export const textMark = "2";

const digits = 16;
const offset = 2 ** 53;

/** The key of an id. */
export function keyOf(kind: IdKind, id: string): string {
  if (kind !== "integer") return id;
  const integer = integerOf(kind, id);
  return integer === undefined ? textMark + id : integerKey(integer);
}

/** The key of an integer in a collection of integers. */
export function integerKey(integer: number): string {
  return integer < 0
    ? negative + String(integer + offset).padStart(digits, "0")
    : positive + String(integer).padStart(digits, "0");
}

/** The id that a key stands for. */
export function idOf(kind: IdKind, key: string): string {
  if (kind !== "integer") return key;
  const rest = key.slice(1);
  if (key.startsWith(textMark)) return rest;
  return String(key.startsWith(positive) ? Number(rest) : Number(rest) - offset);
}

/** Whether the database can hold the text: no null character, no half of a surrogate pair. */
export function isKeepable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
