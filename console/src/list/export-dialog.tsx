/** Exports what the filters show, or the selected resources, as a file. */
import { Button, Checkbox, Loader, SegmentedControl } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useEffect, useRef, useState } from "react";
import { Dialog, DialogButtons } from "../parts/dialog.tsx";
import { messageOf } from "../parts/problem.tsx";
import type { CollectionDetails } from "../service/collections.ts";
import { listTexts } from "../texts.ts";
import { ExportTooLarge, exportList, type Format, namesOf } from "./export-pages.ts";

interface ExportDialogProps {
  collection: string;
  info: CollectionDetails | undefined;
  query: string;
  ids: readonly string[] | undefined;
  /** The names of the columns on the screen. */
  shown: readonly string[];
  onClose(): void;
}

export function ExportDialog({ collection, info, query, ids, shown, onClose }: ExportDialogProps) {
  const [format, setFormat] = useState<Format>("csv");
  const [isShownOnly, setShownOnly] = useState(false);
  const [progress, setProgress] = useState<{ resources: number; bytes: number }>();
  const [problem, setProblem] = useState<string>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const run = async () => {
    const controller = new AbortController();
    stop.current = controller;
    const { signal } = controller;
    setProblem(undefined);
    setProgress({ resources: 0, bytes: 0 });
    const request = {
      ...{ collection, query, ids, signal },
      onProgress: (resources: number, bytes: number) => setProgress({ resources, bytes }),
    };
    try {
      const own = shown.filter((name) => name !== "id");
      const fields = isShownOnly
        ? own
        : format === "csv"
          ? (closedNames(info) ?? (await namesOf(request)))
          : undefined;
      const file = await exportList({ ...request, format, fields });
      save(file, `${collection}.${format}`);
      onClose();
    } catch (error) {
      if (signal.aborted) return;
      setProgress(undefined);
      setProblem(error instanceof ExportTooLarge ? listTexts.exportTooLarge : messageOf(error));
    }
  };
  const isBusy = progress !== undefined;
  return (
    <Dialog
      width={520}
      title={listTexts.exportTitle(collection)}
      about={ids === undefined ? listTexts.exportHint : listTexts.exportSelected(ids.length)}
      onClose={onClose}
      footer={
        <DialogButtons closing={listTexts.cancel} isApart onClose={onClose}>
          <Button size="sm" loading={isBusy} onClick={() => void run()}>
            {listTexts.exportStart}
          </Button>
        </DialogButtons>
      }
    >
      <div className="sheet">
        <SegmentedControl
          size="xs"
          disabled={isBusy}
          data={[
            { value: "csv", label: "CSV" },
            { value: "ndjson", label: "NDJSON" },
            { value: "json", label: "JSON" },
          ]}
          value={format}
          onChange={(next) => setFormat(next as Format)}
        />
        <Checkbox
          size="xs"
          disabled={isBusy}
          label={listTexts.shownOnly}
          checked={isShownOnly}
          onChange={(event) => setShownOnly(event.currentTarget.checked)}
        />
        {format === "csv" && <span className="soft">{listTexts.csvCells}</span>}
        <span className="soft">{listTexts.exportLimit}</span>
        {isBusy && (
          <span className="figures" role="status">
            <Loader size="xs" /> {listTexts.exported(progress.resources)}, {(progress.bytes / 1e6).toFixed(1)}{" "}
            MB
          </span>
        )}
        {problem !== undefined && (
          <span className="figures" role="alert">
            <span className="bad">{problem}</span>
          </span>
        )}
      </div>
    </Dialog>
  );
}

/** The attributes of a schema that accepts no others. */
function closedNames(info: CollectionDetails | undefined): string[] | undefined {
  const { properties, additionalProperties } = (info?.schema ?? {}) as {
    properties?: object;
    additionalProperties?: unknown;
  };
  if (properties === undefined || additionalProperties !== false) return undefined;
  return [...Object.keys(properties), ...(info?.timestamps ? ["createdAt", "updatedAt"] : [])].filter(
    (name) => name !== "id",
  );
}

function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  notifications.show({ message: name, color: "holdfast" });
}
