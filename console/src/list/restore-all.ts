/** Brings back what a bulk delete has deleted: the service restores one resource at a time. */
import { notifications } from "@mantine/notifications";
import { offerUndo } from "../parts/undo.tsx";
import { collectionClient } from "../service/session.ts";
import { listTexts } from "../texts.ts";

/** How many requests of `restoreAll` run at the same time. */
const mostAtOnce = 6;

/** Offers to bring deleted resources back, if the service has their history. */
export async function offerRestore(collection: string, ids: readonly string[]): Promise<void> {
  const [first = ""] = ids;
  const hasHistory = await collectionClient(collection)
    .history(first, { limit: 1 })
    .page()
    .then(
      () => true,
      () => false,
    );
  offerUndo(listTexts.deleted(ids.length), hasHistory ? () => restoreAll(collection, ids) : undefined);
}

/** Brings the resources that are still deleted back as they were, and says how many. Throws the first error, after all others have been tried. */
async function restoreAll(collection: string, ids: readonly string[]): Promise<void> {
  const resources = collectionClient(collection);
  const left = [...ids];
  const errors: unknown[] = [];
  const restoreNext = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      try {
        const [last] = (await resources.history(id, { limit: 1 }).page()).items;
        // An older version would replace what others have written since.
        if (last?.kind !== "deleted") throw new Error(listTexts.restoredByOthers);
        await resources.restore(id, last.version - 1);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: mostAtOnce }, restoreNext));
  notifications.show({
    message: listTexts.restored(ids.length - errors.length, ids.length),
    color: "holdfast",
  });
  if (errors.length > 0) throw errors[0];
}
