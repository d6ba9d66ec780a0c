/** The text of an export: all resources of a collection, from one snapshot, as NDJSON or CSV. */
import { StartError } from "../../errors.ts";
import { Columns, csvHeader, csvPieces, parseResource } from "../../http/lists/csv.ts";
import type { StoreReader } from "../../store/open.ts";
import type { Stored } from "../../store/port/stored.ts";

/** A format of an export. */
export type ExportFormat = "ndjson" | "csv";

/** What an export contains. */
export interface ExportOptions {
  collection: string;
  format: ExportFormat;
  /** Receives the number of resources so far. */
  onProgress(resources: number): void;
}

/** The text comes in pieces of about this many characters, so memory stays flat. */
const pieceLength = 65_536;

/** The text of an export, in pieces. */
export function exportText(reader: StoreReader, options: ExportOptions): AsyncGenerator<string> {
  return options.format === "csv" ? csvText(reader, options) : ndjsonText(reader, options);
}

async function* ndjsonText(
  reader: StoreReader,
  { collection, onProgress }: ExportOptions,
): AsyncGenerator<string> {
  let resources = 0;
  for await (const texts of batches(reader.scan(collection))) {
    resources += texts.length;
    onProgress(resources);
    yield texts.map((text) => `${text}\n`).join("");
  }
}

/** The header names every attribute, so this reads all resources once before it writes the first. */
async function* csvText(
  reader: StoreReader,
  { collection, onProgress }: ExportOptions,
): AsyncGenerator<string> {
  const exported = batches(reader.scan(collection));
  try {
    let next = await exported.next(); // starts the snapshot of the export
    const columns = await columnsOf(reader.scan(collection));
    yield csvHeader(columns);
    for (let resources = 0; next.done !== true; next = await exported.next()) {
      requireColumns(columns, next.value);
      resources += next.value.length;
      onProgress(resources);
      yield* csvPieces(columns, next.value);
    }
  } finally {
    await exported.return(undefined);
  }
}

async function columnsOf(scan: AsyncIterable<Stored>): Promise<readonly string[]> {
  const columns = new Columns();
  for await (const { text } of scan) columns.add(parseResource(text));
  return columns.names;
}

/** The columns come from a later snapshot. Between the two, all resources can lose an attribute. */
function requireColumns(columns: readonly string[], texts: readonly string[]): void {
  const known = new Set(columns);
  const name = texts.flatMap((text) => Object.keys(parseResource(text))).find((each) => !known.has(each));
  if (name === undefined) return;
  throw new StartError(
    `The attribute "${name}" disappeared from the collection during the export. Run the export again.`,
  );
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
