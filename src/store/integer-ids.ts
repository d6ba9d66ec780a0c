/** Ids of collections that count: which of them are integers. */
import type { IdKind } from "../collection/ids.ts";

const integerText = /^(?:0|-?[1-9][0-9]{0,15})$/;

/** The integer that an id of the collection is, if it is one. */
export function integerOf(kind: IdKind, id: string): number | undefined {
  return kind === "integer" && integerText.test(id) && Number.isSafeInteger(Number(id))
    ? Number(id)
    : undefined;
}
