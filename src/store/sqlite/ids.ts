/** Ids as SQLite keeps them: integers before texts, and texts by code point, which is the order of lists. */
import type { IdKind } from "../../collection/ids.ts";

const integerText = /^(?:0|-?[1-9][0-9]{0,15})$/;

/** The value that stands for an id in a table of resources. */
export function toSqliteId(kind: IdKind, id: string): string | bigint {
  return kind === "integer" && isSafeIntegerText(id) ? BigInt(id) : id;
}

/** The integer that an id of the collection is, if it is one. */
export function integerOf(kind: IdKind, id: string): number | undefined {
  return kind === "integer" && isSafeIntegerText(id) ? Number(id) : undefined;
}

function isSafeIntegerText(id: string): boolean {
  return integerText.test(id) && Number.isSafeInteger(Number(id));
}
