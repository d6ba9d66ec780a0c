/** `holdfast export`: writes one collection to standard output or to a file. */

import { createWriteStream, statSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { typesIn } from "../collection/attributes.ts";
import type { Config } from "../config.ts";
import { StartError } from "../errors.ts";
import { liveReader } from "../expiry/live-store.ts";
import { Columns, csvHeader, csvPieces, parseResource, type TableOptions } from "../http/lists/csv.ts";
import { delimiterNames } from "../query/table-form.ts";
import { openReader, type StoreReader } from "../store/open.ts";
import { withoutInternal } from "../store/port/record.ts";
import type { Stored } from "../store/port/stored.ts";
import { requireNoStoreFile, withOpen } from "./command-store.ts";
import { configOf, type Environment, type Flags } from "./flags.ts";
import { startProgress } from "./progress-display.ts";
import { cannotWrite, isOutputError, isSystemError, say, shell } from "./shell.ts";
import { counted, sized, timeSince, unknownCollection } from "./wording.ts";

/** Exports a collection. Throws StartError if the collection does not exist or the file cannot be written. */
export async function runExport(
  collection: string,
  { output, format, bom, delimiter, ...flags }: Flags,
  env: Environment,
): Promise<void> {
  const asked = { format: formatOf(output, format), ...tableOf(bom, delimiter) };
  requireTable(asked);
  const config = await configOf(flags, env);
  await withOpen(openReader(config.store), async (opened) => {
    const reader = liveReader(opened, { collections: () => config.collections, now: Date.now });
    requireKnown(collection, reader, config);
    const declared = config.collections.get(collection);
    const request = {
      collection,
      ...asked,
      ...(declared !== undefined && { typeAt: typesIn(declared) }),
    };
    if (typeof output !== "string") return exportToStdout(reader, request);
    requireNoStoreFile(output, config.store);
    requireReplaceable(output);
    await exportToFile(reader, request, output);
  });
}

type ExportRequest = Omit<ExportOptions, "onProgress">;

function formatOf(output: unknown, format: unknown): ExportFormat {
  const isCsv = format === undefined ? /\.csv$/i.test(String(output)) : format === "csv";
  return isCsv ? "csv" : "ndjson";
}

/** Reads the options of CSV. Throws StartError. */
function tableOf(bom: unknown, delimiter: unknown): Pick<ExportOptions, "bom" | "delimiter"> {
  const name = delimiterNames.find((each) => each === delimiter);
  if (delimiter !== undefined && name === undefined)
    throw new StartError(`--delimiter must be ",", ";", "|" or tab, not ${JSON.stringify(delimiter)}.`);
  return { ...(bom === true && { bom }), ...(name !== undefined && { delimiter: name }) };
}

/** Throws StartError for options of CSV if the format is another one. */
function requireTable({ format, bom, delimiter }: Pick<ExportOptions, "format" | "bom" | "delimiter">): void {
  const option = bom === true ? "--bom" : delimiter === undefined ? undefined : "--delimiter";
  if (format === "csv" || option === undefined) return;
  throw new StartError(`${option} is for CSV: add --format csv, or write to a file whose name ends in .csv.`);
}

/** Throws StartError for a device or a pipe, because the export would replace it with a file. */
function requireReplaceable(file: string): void {
  const found = statSync(resolve(shell().cwd(), file), { throwIfNoEntry: false });
  if (found === undefined || found.isFile() || found.isDirectory()) return;
  throw new StartError(
    `${file} is not a regular file. Without --output, the export goes to standard output.`,
  );
}

function requireKnown(name: string, reader: StoreReader, { collections }: Config): void {
  const known = new Set([...withoutInternal(reader.collections().keys()), ...collections.keys()]);
  if (!known.has(name)) throw unknownCollection(name, [...known]);
}

async function exportToStdout(reader: StoreReader, request: ExportRequest): Promise<void> {
  try {
    await write(reader, request, shell().stdout);
  } catch (error) {
    if (!isOutputError(error)) throw error; // `watchOutput` reports these for every command
  }
}

/** Writes under another name until the export is complete, so that an incomplete file never looks complete. */
async function exportToFile(reader: StoreReader, request: ExportRequest, file: string): Promise<void> {
  const path = resolve(shell().cwd(), file);
  const unfinished = `${path}.${process.pid}.unfinished`;
  const start = performance.now();
  try {
    const target = createWriteStream(unfinished, { flags: "wx", flush: true });
    target.on("error", () => {}); // `pipeline` gets the error too, but it starts later
    const resources = await write(reader, request, target);
    await rename(unfinished, path);
    const size = sized(target.bytesWritten);
    say(
      `${counted(resources, "resource")} of ${request.collection} exported to ${file} in ${timeSince(start)} (${size})`,
    );
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {}); // the first error is the one to report
    throw isSystemError(error) && error.syscall !== undefined ? cannotWrite(file, error) : error;
  }
}

/** Writes every resource, and returns the number of them. */
async function write(reader: StoreReader, request: ExportRequest, target: Writable): Promise<number> {
  const total = reader.count(request.collection);
  const progress = await startProgress({ what: `exporting ${request.collection}`, total });
  let resources = 0;
  const onProgress = (written: number) => {
    resources = written;
    progress.update(written, written);
  };
  try {
    const text = Readable.from(exportText(reader, { ...request, onProgress }));
    await pipeline(text, target, { end: target !== shell().stdout });
    return resources;
  } finally {
    progress.stop();
  }
}

/** A format of an export. */
export type ExportFormat = "ndjson" | "csv";

/** What an export contains. */
export interface ExportOptions extends TableOptions {
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
  { collection, onProgress, ...options }: ExportOptions,
): AsyncGenerator<string> {
  const exported = batches(reader.scan(collection));
  try {
    let next = await exported.next(); // starts the snapshot of the export
    const columns = await columnsOf(reader.scan(collection));
    yield csvHeader(columns, options);
    for (let resources = 0; next.done !== true; next = await exported.next()) {
      requireColumns(columns, next.value);
      resources += next.value.length;
      onProgress(resources);
      yield* csvPieces(columns, next.value, options);
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
