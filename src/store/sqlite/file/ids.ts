/** Ids as SQLite keeps them: integers before texts, and texts by code point, which is the order of lists. */
import type { IdKind } from "../../../collection/ids.ts";
import { integerOf } from "../../integer-ids.ts";

/** The value that stands for an id in a table of resources. */
export function toSqliteId(kind: IdKind, id: string): string | bigint {
  const integer = integerOf(kind, id);
  return integer === undefined ? id : BigInt(integer);
}
