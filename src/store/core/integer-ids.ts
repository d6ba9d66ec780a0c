/** Integer ids: which ids of a collection a store keeps as integers. */
import type { IdKind } from "../../collection/ids.ts";

const integerText = /^(?:0|-?[1-9][0-9]{0,15})$/;

/** The id as an integer. `undefined` if the collection has other ids, or if the text is not a canonical safe integer. */
export function integerOf(kind: IdKind, id: string): number | undefined {
  return kind === "integer" && integerText.test(id) && Number.isSafeInteger(Number(id))
    ? Number(id)
    : undefined;
}
