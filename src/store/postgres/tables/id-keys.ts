/**
 * The keys of ids in the tables: texts whose order by code point is the order of lists. With integer ids, the keys of
 * integers sort by number and come before the keys of other texts. With other kinds of ids, the key is the id.
 */
import { type IdKind, integerOf } from "../../../collection/ids.ts";

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

/** The key of the id in an SQL text. */
export function keySql(kind: IdKind, id: string): string {
  if (kind !== "integer") return id;
  const number = `${id}::bigint`;
  return `(case when ${id} !~ '^(0|-?[1-9][0-9]{0,15})$' then '${textMark}' || ${id}
    when abs(${number}) >= ${offset} then '${textMark}' || ${id}
    when ${number} < 0 then '${negativeMark}' || lpad((${number} + ${offset})::text, ${digits}, '0')
    else '${positiveMark}' || lpad(${id}, ${digits}, '0') end)`;
}

/** The id of the key in an SQL text. */
export function idSql(kind: IdKind, key: string): string {
  if (kind !== "integer") return key;
  const rest = `substr(${key}, 2)`;
  return `(case left(${key}, 1) when '${textMark}' then ${rest} when '${positiveMark}' then ${rest}::bigint::text
    else (${rest}::bigint - ${offset})::text end)`;
}

/** The id of a key. */
export function idOf(kind: IdKind, key: string): string {
  if (kind !== "integer") return key;
  const rest = key.slice(1);
  if (key.startsWith(textMark)) return rest;
  return String(key.startsWith(positiveMark) ? Number(rest) : Number(rest) - offset);
}
