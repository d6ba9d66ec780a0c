/** Exports what the filters show, or the selected resources, as a file of the pages that the service writes. */
import { Button, Checkbox, SegmentedControl, Select } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { CollectionDetails } from "holdfast-client";
import { useEffect, useState } from "react";
import { Bad, Busy, Dialog } from "../parts/dialog.tsx";
import { messageOf } from "../service/errors.ts";
import { useAction } from "../service/queries.ts";
import { authorization, baseUrl } from "../service/session.ts";
import { listTexts, texts } from "../texts.ts";

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
  const [delimiter, setDelimiter] = useState(",");
  const [hasMark, setMark] = useState(false);
  const [progress, setProgress] = useState({ resources: 0, bytes: 0 });
  const [stop] = useState(() => new AbortController());
  useEffect(() => () => stop.abort(), [stop]);
  const {
    mutate,
    isPending: isBusy,
    error,
  } = useAction({
    mutationFn: async () => {
      setProgress({ resources: 0, bytes: 0 });
      const request = {
        ...{ collection, query, ids, signal: stop.signal },
        onProgress: (resources: number, bytes: number) => setProgress({ resources, bytes }),
      };
      const own = shown.filter((name) => name !== "id");
      const all = () => closedNames(info) ?? namesOf(request);
      const fields = isShownOnly ? own : format === "csv" ? await all() : undefined;
      const table = format === "csv" ? { delimiter, hasMark } : {};
      save(await exportList({ ...request, ...table, format, fields }), `${collection}.${format}`);
      onClose();
    },
  });
  return (
    <Dialog
      width={520}
      title={listTexts.exportTitle(collection)}
      about={ids === undefined ? listTexts.exportHint : listTexts.exportSelected(ids.length)}
      onClose={onClose}
      closing={texts.cancel}
      isApart
      actions={
        <Button size="sm" loading={isBusy} onClick={() => mutate()}>
          {listTexts.exportStart}
        </Button>
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
        {format === "csv" && (
          <>
            <Select
              size="xs"
              disabled={isBusy}
              label={listTexts.delimiter}
              data={listTexts.delimiters}
              allowDeselect={false}
              value={delimiter}
              onChange={(next) => next !== null && setDelimiter(next)}
            />
            <Checkbox
              size="xs"
              disabled={isBusy}
              label={listTexts.forExcel}
              checked={hasMark}
              onChange={(event) => setMark(event.currentTarget.checked)}
            />
            <span className="soft">{listTexts.csvCells}</span>
          </>
        )}
        <span className="soft">{listTexts.exportLimit}</span>
        {isBusy && (
          <Busy>
            {listTexts.exported(progress.resources)}, {(progress.bytes / 1e6).toFixed(1)} MB
          </Busy>
        )}
        {error !== null && <Bad text={messageOf(error)} />}
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

type Format = "csv" | "ndjson" | "json";

const mediaTypes: Record<Format, string> = {
  csv: "text/csv",
  ndjson: "application/x-ndjson",
  json: "application/json",
};

/** The largest file, in bytes: the browser keeps it in memory. */
const largestExport = 256 * 1024 * 1024;

interface ExportRequest {
  collection: string;
  /** The query string of the list. */
  query: string;
  /** Only these resources. */
  ids?: readonly string[] | undefined;
  format: Format;
  /** The columns of CSV. */
  fields?: readonly string[] | undefined;
  /** The character between the cells of CSV. @default "," */
  delimiter?: string | undefined;
  /** Whether CSV begins with a byte order mark. @default false */
  hasMark?: boolean | undefined;
  signal: AbortSignal;
  onProgress(resources: number, bytes: number): void;
}

/** The part of a page that goes into the file. `isFirst` pages keep the header of CSV. */
function partOf(text: string, format: Format, isFirst: boolean, header: string): string {
  if (format === "json") return text.trim().slice(1, -1).trim();
  if (format === "csv" && !isFirst && text.startsWith(header)) return text.slice(header.length);
  return text;
}

/** The first line of CSV, with its line end. A line end in quotes does not end it. */
function headerOf(text: string): string {
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') isQuoted = !isQuoted;
    else if (text[at] === "\n" && !isQuoted) return text.slice(0, at + 1);
  }
  return text;
}

/** Reads all pages. Throws the reason of the signal, and an error with the message of the service. */
export async function exportList(request: ExportRequest): Promise<Blob> {
  const { format, onProgress } = request;
  const parts: string[] = [];
  let [resources, bytes, header] = [0, 0, ""];
  for await (const { text, count } of pagesOf(request)) {
    if (header === "" && format === "csv") header = headerOf(text);
    const part = partOf(text, format, parts.length === 0, header);
    if (part === "") continue;
    if (format === "json") parts.push(parts.length === 0 ? "[" : ",\n");
    parts.push(part);
    bytes += new Blob([part]).size;
    resources += count;
    if (bytes > largestExport) throw new Error(listTexts.exportTooLarge);
    onProgress(resources, bytes);
  }
  if (format === "json") parts.push(parts.length === 0 ? "[]\n" : "]\n");
  // The texts of responses are without a byte order mark, so the service is not asked for one.
  return new Blob(request.hasMark ? ["\uFEFF", ...parts] : parts, { type: mediaTypes[format] });
}

/** The names of all attributes of a list, for the columns of CSV where the schema does not name them all. */
async function namesOf(request: Omit<ExportRequest, "format" | "delimiter">): Promise<string[]> {
  const names = new Set<string>();
  for await (const { text } of pagesOf({ ...request, format: "json" }))
    for (const each of JSON.parse(text) as object[]) for (const name of Object.keys(each)) names.add(name);
  names.delete("id");
  return [...names];
}

async function* pagesOf({ collection, query, ids, format, fields, delimiter, signal }: ExportRequest) {
  const path = `${baseUrl}/${encodeURIComponent(collection)}`;
  const parameters = new URLSearchParams(query);
  parameters.set("limit", "max");
  if (fields !== undefined) parameters.set("fields", fields.join(","));
  if (delimiter !== undefined) parameters.set("delimiter", delimiter);
  const headers = { ...authorization(), Accept: mediaTypes[format] };
  const body = { filter: { id: ids }, limit: "max", fields, delimiter };
  let url: string | undefined = ids === undefined ? `${path}?${parameters}` : path;
  while (url !== undefined) {
    const response: Response = await (ids === undefined
      ? fetch(url, { headers, signal })
      : fetch(url, {
          method: "QUERY",
          headers: { ...headers, "Content-Type": "application/json" },
          body: JSON.stringify(body),
          signal,
        }));
    const text = await response.text();
    if (!response.ok) throw new Error(messageIn(text) ?? `The service responded with ${response.status}.`);
    yield { text, count: countOf(text, format) };
    const [, next] = /<[^>?]*\?([^>]*)>\s*;\s*rel="next"/.exec(response.headers.get("link") ?? "") ?? [];
    url = next === undefined || ids !== undefined ? undefined : `${path}?${next}`;
  }
}

function messageIn(text: string): string | undefined {
  try {
    return String(JSON.parse(text).detail);
  } catch {
    return undefined;
  }
}

/** How many resources a page has, for the progress. */
function countOf(text: string, format: Format): number {
  if (format === "json") return (JSON.parse(text) as unknown[]).length;
  const lines = text.split("\n").length - 1;
  return format === "csv" ? Math.max(0, lines - 1) : lines;
}
