/** The resources of a page as they go out: cut down, without what the caller does not see, in the format that is asked for. */
import { hidesAny, toldText } from "../../collection/sight.ts";
import { pickFields } from "../../query/fields.ts";
import type { Page } from "../../store/page.ts";
import { createPauses } from "../wire/turns.ts";
import { listPieces } from "./formats.ts";
import type { Listing } from "./listing.ts";

/** Whether the resources of a list go out as they are kept. */
export function isWhole({ asked, collection }: Listing): boolean {
  return asked.fields === undefined && !hidesAny(collection.sight);
}

/** The texts of a page's resources. */
export async function textsOf(page: Page, listing: Listing): Promise<readonly string[]> {
  if (isWhole(listing)) return page.items.map(({ text }) => text);
  const { fields } = listing.asked; // none of them is hidden
  const { sight } = listing.collection;
  const pause = createPauses();
  const cut: string[] = [];
  for (const { text } of page.items) {
    cut.push(fields === undefined ? toldText(text, sight) : pickFields(text, fields));
    await pause(text.length);
  }
  return cut;
}

/** A list in the format that it is asked for in; `undefined` where that is JSON. */
export async function formatted(
  { type, asked }: Listing,
  texts: readonly string[],
): Promise<string | undefined> {
  if (type === "application/json") return undefined;
  const pause = createPauses();
  let body = "";
  for (const piece of listPieces(type, texts, asked.fields)) {
    body += piece;
    await pause(piece.length);
  }
  return body;
}
