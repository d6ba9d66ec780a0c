/** What can be done with a list, in its head, and with the selected resources, in a bar. */
import { Button, Tooltip } from "@mantine/core";
import {
  IconCode,
  IconDownload,
  IconPencil,
  IconPlus,
  IconTrash,
  IconUpload,
  IconX,
} from "@tabler/icons-react";
import type { CollectionDetails } from "holdfast-client";
import type { ReactElement } from "react";
import { Head } from "../parts/head.tsx";
import { useReason } from "../resource/use-resource.ts";
import { useIsLive } from "../service/live.ts";
import { listTexts, texts } from "../texts.ts";
import { mostBulk } from "./bulk.ts";

/** The dialogs of a list. */
export type Open = "api" | "import" | "export" | "export-selected" | "change" | "delete" | "deleted";

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
    <Head
      title={collection}
      count={total}
      all={count}
      beside={
        <span className={isLive ? "live" : "live off"}>
          <i />
          {isLive ? texts.live : texts.notLive}
        </span>
      }
    >
      <HeadButton label={texts.api} Icon={IconCode} onClick={() => onOpen("api")} />
      {canImport && (
        <HeadButton label={texts.importFile} Icon={IconUpload} onClick={() => onOpen("import")} />
      )}
      <HeadButton label={texts.exportList} Icon={IconDownload} onClick={() => onOpen("export")} />
      <HeadButton label={listTexts.deletedOnes} Icon={IconTrash} onClick={() => onOpen("deleted")} />
      <Explained reason={reason}>
        <Button
          className="short"
          aria-label={texts.newResource}
          leftSection={<IconPlus size={15} />}
          {...(reason !== undefined && { "data-disabled": true, "aria-disabled": true })}
          onClick={() => reason === undefined && onNew()}
        >
          {texts.newResource}
        </Button>
      </Explained>
    </Head>
  );
}

interface HeadButtonProps {
  label: string;
  Icon: typeof IconCode;
  onClick(): void;
}

function HeadButton({ label, Icon, onClick }: HeadButtonProps) {
  return (
    <Button
      className="short"
      aria-label={label}
      variant="default"
      leftSection={<Icon size={15} />}
      onClick={onClick}
    >
      {label}
    </Button>
  );
}

interface SelectionBarProps {
  info: CollectionDetails | undefined;
  count: number;
  /** The number of resources that the filters match; `undefined` if it is not known. */
  total: number | undefined;
  /** Whether everything that the filters match is selected. */
  isEverything: boolean;
  canSelectMore: boolean;
  /** Whether more can be selected than one change can have. */
  canSelectAll: boolean;
  onSelectMatching(): void;
  onChange(): void;
  onExport(): void;
  onDelete(): void;
  onClear(): void;
}

export function SelectionBar({ info, count, total, isEverything, canSelectAll, ...on }: SelectionBarProps) {
  const tooMany = count > mostBulk && !isEverything ? listTexts.firstOnly : undefined;
  const isFirst = !canSelectAll && (total === undefined || total > mostBulk);
  const noUpdate = useReason(info, "update") ?? tooMany;
  const noDelete = useReason(info, "delete") ?? tooMany;
  return (
    <div className="bar" role="toolbar" aria-label={texts.selected(count)}>
      <b style={{ fontWeight: 550 }}>{texts.selected(count)}</b>
      {on.canSelectMore && (
        <button type="button" onClick={on.onSelectMatching} title={isFirst ? listTexts.firstOnly : undefined}>
          {isFirst && total !== undefined ? listTexts.selectFirst : listTexts.selectMatching(total)}
        </button>
      )}
      <span style={{ width: 8 }} />
      <BarButton label={texts.changeAttribute} Icon={IconPencil} reason={noUpdate} onClick={on.onChange} />
      <BarButton label={texts.exportList} Icon={IconDownload} onClick={on.onExport} />
      <BarButton isDangerous label={texts.remove} Icon={IconTrash} reason={noDelete} onClick={on.onDelete} />
      <button type="button" aria-label={texts.clearSelection} onClick={on.onClear}>
        <IconX size={15} />
      </button>
    </div>
  );
}

interface BarButtonProps extends HeadButtonProps {
  /** Why the button cannot be used; `undefined` if it can. */
  reason?: string | undefined;
  isDangerous?: boolean;
}

function BarButton({ label, Icon, reason, isDangerous = false, onClick }: BarButtonProps) {
  return (
    <Explained reason={reason}>
      <button
        type="button"
        className={isDangerous ? "danger" : undefined}
        aria-disabled={reason !== undefined}
        aria-label={label}
        onClick={() => reason === undefined && onClick()}
      >
        <Icon size={15} />
        <span>{label}</span>
      </button>
    </Explained>
  );
}

interface ExplainedProps {
  /** Why it cannot be used; `undefined` if it can. */
  reason: string | undefined;
  children: ReactElement;
}

/** Shows the reason beside what it is about. The element must stay focusable: use `aria-disabled` or `data-disabled`. */
function Explained({ reason, children }: ExplainedProps) {
  return (
    <Tooltip
      label={reason}
      disabled={reason === undefined}
      multiline
      maw={340}
      zIndex={400}
      events={{ hover: true, focus: true, touch: true }}
    >
      {children}
    </Tooltip>
  );
}
