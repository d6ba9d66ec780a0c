/** `holdfast export`: writes one collection to standard output or to a file. */
import { createWriteStream, statSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Config } from "../config.ts";
import { StartError } from "../errors.ts";
import { openReader, type StoreReader } from "../store/open.ts";
import { withoutInternal } from "../store/port/record.ts";
import { type ExportFormat, type ExportOptions, exportText } from "./export/text.ts";
import { configOf, type Environment, type Flags } from "./options.ts";
import { cannotWrite, isOutputError, isSystemError } from "./output.ts";
import { startProgress } from "./progress.ts";
import { shell } from "./shell.ts";
import { requireNoStoreFile, withOpen } from "./store.ts";
import { counted, sized, timeSince, unknownCollection } from "./words.ts";

/** Exports a collection. Throws StartError if the collection does not exist or the file cannot be written. */
export async function runExport(
  collection: string,
  { output, format, ...flags }: Flags,
  env: Environment,
): Promise<void> {
  const config = await configOf(flags, env);
  await withOpen(openReader(config.store), async (reader) => {
    requireKnown(collection, reader, config);
    const request = { collection, format: formatOf(output, format) };
    if (typeof output !== "string") return exportToStdout(reader, request);
    requireNoStoreFile(output, config.store);
    requireReplaceable(output);
    await exportToFile(reader, request, output);
  });
}

type ExportRequest = Pick<ExportOptions, "collection" | "format">;

function formatOf(output: unknown, format: unknown): ExportFormat {
  const isCsv = format === undefined ? /\.csv$/i.test(String(output)) : format === "csv";
  return isCsv ? "csv" : "ndjson";
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
    shell().stderr.write(
      `${counted(resources, "resource")} of ${request.collection} exported to ${file} in ${timeSince(start)} ` +
        `(${sized(target.bytesWritten)})\n`,
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
