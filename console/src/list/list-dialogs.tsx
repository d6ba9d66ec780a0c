/** The dialogs of a list. */
import { lazy, useMemo } from "react";
import { Loaded } from "../parts/failures.tsx";
import type { CollectionDetails } from "../service/collections.ts";
import type { Column } from "./columns.ts";

// Each is loaded when it is opened first.
const ApiDialog = lazy(async () => ({ default: (await import("./api-dialog.tsx")).ApiDialog }));
const BulkDialog = lazy(async () => ({ default: (await import("./bulk-dialog.tsx")).BulkDialog }));
const ExportDialog = lazy(async () => ({ default: (await import("./export-dialog.tsx")).ExportDialog }));
const ImportDialog = lazy(async () => ({ default: (await import("./import-dialog.tsx")).ImportDialog }));

export type Open = "api" | "import" | "export" | "export-selected" | "change" | "delete";

interface ListDialogsProps {
  open: Open | undefined;
  collection: string;
  info: CollectionDetails | undefined;
  columns: readonly Column[];
  shown: readonly Column[];
  query: string;
  id: string | undefined;
  isNew: boolean;
  selected: ReadonlySet<string>;
  file: File | undefined;
  onFile(file: File): void;
  onSelect(selected: ReadonlySet<string>): void;
  onClose(): void;
}

export function ListDialogs(props: ListDialogsProps) {
  return (
    <Loaded>
      <Opened {...props} />
    </Loaded>
  );
}

function Opened(props: ListDialogsProps) {
  const { open, collection, info, columns, query, id, selected, onClose, onSelect } = props;
  const ids = useMemo(() => [...selected], [selected]);
  switch (open) {
    case undefined:
      return null;
    case "api":
      return (
        <ApiDialog
          {...{ collection, query, id, onClose }}
          schema={info?.schema}
          first={props.isNew ? "create" : id === undefined ? "list" : "read"}
        />
      );
    case "import":
      return <ImportDialog {...{ collection, onClose }} file={props.file} onFile={props.onFile} />;
    case "export":
    case "export-selected":
      return (
        <ExportDialog
          {...{ collection, info, query, onClose }}
          ids={open === "export" ? undefined : ids}
          shown={props.shown.map(({ name }) => name)}
        />
      );
    default:
      return (
        <BulkDialog
          {...{ collection, columns, ids, onClose }}
          kind={open}
          onLeaveOut={(left) => onSelect(new Set(ids.filter((each) => each !== left)))}
          onDone={() => {
            onSelect(new Set());
            onClose();
          }}
        />
      );
  }
}
