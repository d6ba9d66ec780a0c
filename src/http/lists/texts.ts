/** The resources of a page as they are sent: only the attributes that the caller requests and may see. */
import { hidesAny, visibleText } from "../../collection/visibility.ts";
import { pickFields } from "../../query/fields.ts";
import type { Page } from "../../store/page.ts";
import { createPauses } from "../wire/turns.ts";
import type { Listing } from "./listing.ts";

/** Whether the resources of a list are sent as the store keeps them. */
export function isWhole({ asked, collection }: Listing): boolean {
  return asked.fields === undefined && !hidesAny(collection.visibility);
}

/** The texts of a page's resources. */
export async function textsOf(page: Page, listing: Listing): Promise<readonly string[]> {
  if (isWhole(listing)) return page.items.map(({ text }) => text);
  const fields = listing.asked.fields && new Set(listing.asked.fields); // none of them is hidden
  const { visibility } = listing.collection;
  const pause = createPauses();
  const cut: string[] = [];
  for (const { text } of page.items) {
    cut.push(fields === undefined ? visibleText(text, visibility) : pickFields(text, fields));
    await pause(text.length);
  }
  return cut;
}
