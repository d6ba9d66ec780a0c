/** The head of a list: its name and number, and what can be done with it. */
import { Button } from "@mantine/core";
import { IconCode, IconDownload, IconPlus, IconUpload } from "@tabler/icons-react";
import { Explained } from "../parts/explained.tsx";
import { HeadSignIn } from "../parts/sign-in-button.tsx";
import { useReason } from "../resource/use-resource.ts";
import type { CollectionDetails } from "../service/collections.ts";
import { useIsLive } from "../service/live.ts";
import { MenuButton } from "../shell/drawer.tsx";
import { listTexts, texts } from "../texts.ts";
import type { Open } from "./list-dialogs.tsx";

interface ListHeadProps {
  collection: string;
  info: CollectionDetails | undefined;
  /** The number of resources that the filters match. */
  total: number | undefined;
  /** The number of all resources, if there are filters. */
  count: number | undefined;
  canImport: boolean;
  onOpen(dialog: Open): void;
  onNew(): void;
}

export function ListHead({ collection, info, total, count, canImport, onOpen, onNew }: ListHeadProps) {
  const isLive = useIsLive();
  const reason = useReason(info, "create");
  return (
    <header className="head">
      <MenuButton />
      <h1 title={collection}>{collection}</h1>
      {total !== undefined && (
        <span className="n">
          {total.toLocaleString("en")}
          {count !== undefined && ` ${listTexts.ofAll(count)}`}
        </span>
      )}
      <span className={isLive ? "live" : "live off"}>
        <i />
        {isLive ? texts.live : texts.notLive}
      </span>
      <span className="grow" />
      <Button
        className="short"
        aria-label={texts.api}
        variant="default"
        size="xs"
        leftSection={<IconCode size={15} />}
        onClick={() => onOpen("api")}
      >
        {texts.api}
      </Button>
      {canImport && (
        <Button
          className="short"
          aria-label={texts.importFile}
          variant="default"
          size="xs"
          leftSection={<IconUpload size={15} />}
          onClick={() => onOpen("import")}
        >
          {texts.importFile}
        </Button>
      )}
      <Button
        className="short"
        aria-label={texts.exportList}
        variant="default"
        size="xs"
        leftSection={<IconDownload size={15} />}
        onClick={() => onOpen("export")}
      >
        {texts.exportList}
      </Button>
      <Explained reason={reason}>
        <Button
          className="short"
          aria-label={texts.newResource}
          size="xs"
          leftSection={<IconPlus size={15} />}
          {...(reason !== undefined && { "data-disabled": true, "aria-disabled": true })}
          onClick={() => reason === undefined && onNew()}
        >
          {texts.newResource}
        </Button>
      </Explained>
      <HeadSignIn />
    </header>
  );
}
