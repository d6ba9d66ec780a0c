/** What can be done with a whole resource: copy its id, duplicate it, delete it. */
import { ActionIcon, Button, CopyButton, Menu, Tooltip } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconCheck, IconCopy, IconCopyPlus, IconDots, IconLink, IconTrash } from "@tabler/icons-react";
import type { AccessAnswer } from "holdfast-client";
import { useState } from "react";
import { shortId } from "../parts/value.tsx";
import type { Resource } from "../service/session.ts";
import { texts } from "../texts.ts";
import { DeleteDialog } from "./delete-dialog.tsx";
import { copyOf, openNew } from "./new-resource.ts";
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
      <Menu position="bottom-end" shadow="md">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={texts.resource.more}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown maw={320}>
          <Menu.Item leftSection={<IconLink size={15} />} onClick={copyLink}>
            {texts.resource.copyLink}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconCopyPlus size={15} />}
            disabled={current === undefined || canCreate?.allowed === false}
            onClick={() =>
              current && openNew(collection, query, copyOf(current, canCreate?.attributes.readOnly ?? []))
            }
          >
            {texts.resource.duplicate}
            <Why rights={canCreate} />
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            color="red"
            leftSection={<IconTrash size={15} />}
            disabled={current === undefined || canDelete?.allowed === false}
            onClick={() => setDeleting(true)}
          >
            {texts.remove}
            <Why rights={canDelete} />
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
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
