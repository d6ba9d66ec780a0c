/** Says what was done, with a button that undoes it, and brings back what was deleted. */
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { messageOf } from "../service/errors.ts";
import { collectionClient } from "../service/session.ts";
import { listTexts, texts } from "../texts.ts";

/** Shows a message for a while. The button is missing without `undo`. An error of `undo` is shown too. */
export function offerUndo(message: string, undo: (() => Promise<void>) | undefined): void {
  const press = async () => {
    notifications.hide(note);
    try {
      await undo?.();
    } catch (error) {
      notifications.show({ color: "red", message: messageOf(error) });
    }
  };
  const note = notifications.show({
    autoClose: 12_000,
    message: (
      <span className="undo">
        <span>{message}</span>
        {undo !== undefined && (
          <Button size="compact-xs" variant="default" onClick={() => void press()}>
            {texts.resource.undo}
          </Button>
        )}
      </span>
    ),
  });
}

/**
 * Brings a resource back as it was before its delete. Throws an Error if it is no longer deleted, because an older version would
 * replace what others have written since. Throws NotFoundError if the service keeps no history of it.
 */
export async function restoreDeleted(collection: string, id: string): Promise<void> {
  const resources = collectionClient(collection);
  const [last] = (await resources.history(id, { limit: 1 }).page()).items;
  if (last?.kind !== "deleted") throw new Error(listTexts.isRestored);
  await resources.restore(id, last.version - 1);
}

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
