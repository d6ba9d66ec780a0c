/** What can be done with a whole resource: copy its id, duplicate it, delete it. */
import { Button, CopyButton, Menu, Tooltip } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconCheck, IconCopy, IconCopyPlus, IconLink, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type AccessAnswer, ConflictError, NotFoundError } from "holdfast-client";
import { useState } from "react";
import { Question } from "../parts/dialog.tsx";
import { shortId } from "../parts/formats.ts";
import { Dots, Item } from "../parts/menu.tsx";
import { offerUndo, restoreDeleted } from "../parts/undo.tsx";
import { go, setGuard } from "../route.ts";
import { titleOf } from "../service/schema.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { texts } from "../texts.ts";
import { copyOf, openNew } from "./drafts.ts";
import { tagOf } from "./edit.ts";
import { useRights } from "./use-resource.ts";

interface PanelMenuProps {
  collection: string;
  id: string;
  query: string;
  /** `undefined` if the resource does not exist. */
  current: Resource | undefined;
  onDeleted(): void;
}

export function PanelMenu({ collection, id, query, current, onDeleted }: PanelMenuProps) {
  const [isDeleting, setDeleting] = useState(false);
  const canCreate = useRights(collection, "create");
  const canDelete = useRights(collection, "delete", id);
  const copyLink = () => {
    void navigator.clipboard?.writeText(location.href);
    notifications.show({ message: texts.copied, autoClose: 1_500 });
  };
  return (
    <>
      <CopyButton value={id}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? texts.copied : texts.copyId}>
            <Button
              variant="default"
              size="compact-xs"
              className="copy-id"
              onClick={copy}
              rightSection={copied ? <IconCheck size={12} /> : <IconCopy size={12} />}
            >
              {shortId(id)}
            </Button>
          </Tooltip>
        )}
      </CopyButton>
      <Dots label={texts.resource.more} size="md">
        <Item text={texts.resource.copyLink} Icon={IconLink} onClick={copyLink} />
        <Item
          text={texts.resource.duplicate}
          Icon={IconCopyPlus}
          isDisabled={current === undefined || canCreate?.allowed === false}
          hint={<Why rights={canCreate} />}
          onClick={() =>
            current && openNew(collection, query, copyOf(current, canCreate?.attributes.readOnly ?? []))
          }
        />
        <Menu.Divider />
        <Item
          text={texts.remove}
          Icon={IconTrash}
          isDangerous
          isDisabled={current === undefined || canDelete?.allowed === false}
          hint={<Why rights={canDelete} />}
          onClick={() => setDeleting(true)}
        />
      </Dots>
      {isDeleting && current !== undefined && (
        <DeleteDialog
          collection={collection}
          resource={current}
          onDeleted={onDeleted}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  );
}

/** Why an item cannot be used. */
function Why({ rights }: { rights: AccessAnswer | undefined }) {
  return rights?.allowed === false ? <div className="item-reason">{rights.reason}</div> : null;
}

interface DeleteDialogProps {
  collection: string;
  /** The version that is deleted. */
  resource: Resource;
  onDeleted(): void;
  onClose(): void;
}

/** Asks before a delete, deletes, and offers to undo it. */
function DeleteDialog({ collection, resource, onDeleted, onClose }: DeleteDialogProps) {
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
  const run = async () => {
    try {
      await collectionClient(collection).delete(shown.id as string, { ifMatch: tagOf(shown) });
    } catch (failure) {
      if (failure instanceof NotFoundError) return;
      throw failure instanceof ConflictError ? new Error(texts.resource.changedMeanwhile) : failure;
    }
    setGuard(undefined);
    onDeleted();
    const undo = async () => {
      await restoreDeleted(collection, id);
      go({ kind: "resource", collection, query: "", id, tab: "fields" });
    };
    offerUndo(texts.resource.deleted(name), isForever ? undefined : undo);
  };
  const about = isForever ? texts.resource.deleteForever : texts.resource.deleteAbout;
  return (
    <Question
      title={texts.resource.deleteTitle(name)}
      about={about(collection, id)}
      action={texts.remove}
      isDangerous
      run={run}
      onClose={onClose}
    />
  );
}
