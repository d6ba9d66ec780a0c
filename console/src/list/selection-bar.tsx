/** What can be done with the selected resources. */
import { IconDownload, IconPencil, IconTrash, IconX } from "@tabler/icons-react";
import { Explained } from "../parts/explained.tsx";
import { useReason } from "../resource/use-resource.ts";
import type { CollectionDetails } from "../service/collections.ts";
import { listTexts, texts } from "../texts.ts";
import { mostBulk } from "./bulk.ts";

interface SelectionBarProps {
  info: CollectionDetails | undefined;
  count: number;
  /** The number of resources that the filters match; `undefined` if it is not known. */
  total: number | undefined;
  canSelectMore: boolean;
  onSelectMatching(): void;
  onChange(): void;
  onExport(): void;
  onDelete(): void;
  onClear(): void;
}

export function SelectionBar({ info, count, total, ...on }: SelectionBarProps) {
  const tooMany = count > mostBulk ? listTexts.firstOnly : undefined;
  const noUpdate = useReason(info, "update") ?? tooMany;
  const noDelete = useReason(info, "delete") ?? tooMany;
  return (
    <div className="bar" role="toolbar" aria-label={texts.selected(count)}>
      <b style={{ fontWeight: 550 }}>{texts.selected(count)}</b>
      {on.canSelectMore && (
        <button type="button" onClick={on.onSelectMatching} title={listTexts.firstOnly}>
          {total !== undefined && total > mostBulk ? listTexts.selectFirst : listTexts.selectMatching(total)}
        </button>
      )}
      <span style={{ width: 8 }} />
      <Explained reason={noUpdate}>
        <button
          type="button"
          aria-disabled={noUpdate !== undefined}
          aria-label={texts.changeAttribute}
          onClick={() => noUpdate === undefined && on.onChange()}
        >
          <IconPencil size={15} />
          <span>{texts.changeAttribute}</span>
        </button>
      </Explained>
      <button type="button" aria-label={texts.exportList} onClick={on.onExport}>
        <IconDownload size={15} />
        <span>{texts.exportList}</span>
      </button>
      <Explained reason={noDelete}>
        <button
          type="button"
          className="danger"
          aria-disabled={noDelete !== undefined}
          aria-label={texts.remove}
          onClick={() => noDelete === undefined && on.onDelete()}
        >
          <IconTrash size={15} />
          <span>{texts.remove}</span>
        </button>
      </Explained>
      <button type="button" aria-label={texts.clearSelection} onClick={on.onClear}>
        <IconX size={15} />
      </button>
    </div>
  );
}
