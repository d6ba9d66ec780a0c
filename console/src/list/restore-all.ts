/** Brings back what a bulk delete has deleted: the service restores one resource at a time. */
import { notifications } from "@mantine/notifications";
import { offerUndo } from "../parts/undo.tsx";
import { restoreDeleted } from "../service/deleted.ts";
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
  const left = [...ids];
  const errors: unknown[] = [];
  const restoreNext = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      try {
        await restoreDeleted(collection, id);
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
