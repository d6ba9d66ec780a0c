/** Asks before a delete, deletes, and offers to undo it. */
import { Alert, Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ConflictError, NotFoundError } from "holdfast-client";
import { useState } from "react";
import { Dialog, DialogButtons } from "../parts/dialog.tsx";
import { messageOf } from "../parts/problem.tsx";
import { offerUndo } from "../parts/undo.tsx";
import { go, setGuard } from "../route.ts";
import { restoreDeleted } from "../service/deleted.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { texts } from "../texts.ts";
import { titleOf } from "./fields.ts";
import { tagOf } from "./tags.ts";
import { useBusy } from "./use-save.ts";

interface DeleteDialogProps {
  collection: string;
  /** The version that is deleted. */
  resource: Resource;
  onDeleted(): void;
  onClose(): void;
}

export function DeleteDialog({ collection, resource, onDeleted, onClose }: DeleteDialogProps) {
  const { isBusy, run } = useBusy();
  const [problem, setProblem] = useState<string>();
  // The dialog is about the version that was shown when it opened.
  const [shown] = useState(resource);
  const id = String(shown.id);
  const name = titleOf(shown) ?? id;
  const { error } = useQuery({
    queryKey: ["history", collection, id, "exists"],
    queryFn: async ({ signal }) =>
      (await collectionClient(collection).history(id, { limit: 1, signal }).page()).items,
  });
  const isForever = error instanceof NotFoundError;
  const confirm = () =>
    run(async () => {
      try {
        await collectionClient(collection).delete(shown.id as string, { ifMatch: tagOf(shown) });
      } catch (failure) {
        if (failure instanceof NotFoundError) return onClose();
        return setProblem(
          failure instanceof ConflictError ? texts.resource.changedMeanwhile : messageOf(failure),
        );
      }
      onClose();
      setGuard(undefined);
      onDeleted();
      const undo = async () => {
        await restoreDeleted(collection, id);
        go({ kind: "resource", collection, query: "", id, tab: "fields" });
      };
      offerUndo(texts.resource.deleted(name), isForever ? undefined : undo);
    });
  return (
    <Dialog
      width={520}
      title={texts.resource.deleteTitle(name)}
      about={
        isForever ? texts.resource.deleteForever(collection, id) : texts.resource.deleteAbout(collection, id)
      }
      onClose={onClose}
      footer={
        <DialogButtons closing={texts.resource.cancel} hasFocus onClose={onClose}>
          <Button size="sm" color="red" loading={isBusy} onClick={() => void confirm()}>
            {texts.remove}
          </Button>
        </DialogButtons>
      }
    >
      {problem !== undefined && (
        <Alert color="red" className="notice" role="alert">
          {problem}
        </Alert>
      )}
    </Dialog>
  );
}
