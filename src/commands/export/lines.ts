/** A collection as the text of an export, in pieces, from one snapshot. */
import { StartError } from "../../errors.ts";
import { Columns, csvHeader, csvPieces, parseResource } from "../../http/lists/csv.ts";
import type { StoreReader } from "../../store/open.ts";
import type { Stored } from "../../store/stored.ts";

/** A format of an export. */
export type ExportFormat = "ndjson" | "csv";

/** What is to be written. */
export interface ExportOrder {
  collection: string;
  format: ExportFormat;
  /** Told how many resources have been written. */
  onProgress(resources: number): void;
}

/** Text is written in pieces of about this many characters. */
const pieceLength = 65_536;

/** The text of an export. */
export function exportText(reader: StoreReader, order: ExportOrder): AsyncGenerator<string> {
  return order.format === "csv" ? csvText(reader, order) : ndjsonText(reader, order);
}

async function* ndjsonText(
  reader: StoreReader,
  { collection, onProgress }: ExportOrder,
): AsyncGenerator<string> {
  let resources = 0;
  for await (const texts of batches(reader.scan(collection))) {
    resources += texts.length;
    onProgress(resources);
    yield texts.map((text) => `${text}\n`).join("");
  }
}

/** The header names every attribute, so all resources are read before the first is written. */
async function* csvText(
  reader: StoreReader,
  { collection, onProgress }: ExportOrder,
): AsyncGenerator<string> {
  const written = batches(reader.scan(collection));
  try {
    let next = await written.next(); // the snapshot begins here
    const columns = await columnsOf(reader.scan(collection));
    yield csvHeader(columns);
    for (let resources = 0; next.done !== true; next = await written.next()) {
      requireColumns(columns, next.value);
      resources += next.value.length;
      onProgress(resources);
      yield* csvPieces(columns, next.value);
    }
  } finally {
    await written.return(undefined);
  }
}

async function columnsOf(scan: AsyncIterable<Stored>): Promise<readonly string[]> {
  const columns = new Columns();
  for await (const { text } of scan) columns.add(parseResource(text));
  return columns.names;
}

/** The columns are those of a moment later; in between, an attribute may have gone from all resources. */
function requireColumns(columns: readonly string[], texts: readonly string[]): void {
  const known = new Set(columns);
  const names = texts.flatMap((text) => Object.keys(parseResource(text)));
  const name = names.find((each) => !known.has(each));
  if (name !== undefined) {
    throw new StartError(
      `The attribute "${name}" disappeared from the collection during the export. Run the export again.`,
    );
  }
}

async function* batches(scan: AsyncIterable<Stored>): AsyncGenerator<readonly string[]> {
  let batch: string[] = [];
  let length = 0;
  for await (const { text } of scan) {
    batch.push(text);
    length += text.length;
    if (length < pieceLength) continue;
    yield batch;
    batch = [];
    length = 0;
  }
  if (batch.length > 0) yield batch;
}
