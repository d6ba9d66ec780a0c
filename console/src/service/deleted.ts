/** Brings back a deleted resource. */
import { listTexts } from "../texts.ts";
import { collectionClient } from "./session.ts";

/**
 * Brings a resource back as it was before its delete. Throws an Error if it is no longer deleted, because an older version would
 * replace what others have written since. Throws NotFoundError if the service keeps no history of it.
 */
export async function restoreDeleted(collection: string, id: string): Promise<void> {
  const resources = collectionClient(collection);
  const [last] = (await resources.history(id, { limit: 1 }).page()).items;
  if (last?.kind !== "deleted") throw new Error(listTexts.restoredByOthers);
  await resources.restore(id, last.version - 1);
}
