import { createWriteStream, statSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Config } from "../../config.ts";
import { StartError } from "../../errors.ts";
import { openReader, type StoreReader } from "../../store/open.ts";
import { requireNoStoreFile } from "../disk.ts";
import { configOf, type Environment } from "../options.ts";
import { describeWriteError, isOutputError, isSystemError } from "../output.ts";
import { startProgress } from "../progress.ts";
import { counted, sized, suggest } from "../words.ts";
import { type ExportFormat, type ExportOrder, exportText } from "./lines.ts";

/** Exports a collection. Throws StartError when there is none of that name, or the file cannot be written. */
export async function runExport(
  collection: string,
  { output, format, ...flags }: Record<string, unknown>,
  env: Environment,
): Promise<void> {
  const config = await configOf(flags, env);
  const reader = await openReader(config.store);
  try {
    requireKnown(collection, reader, config);
    if (typeof output === "string") {
      requireNoStoreFile(output, config.store);
      requireReplaceable(output);
    }
    const what = { collection, format: formatOf(output, format) };
    if (typeof output === "string") await exportToFile(reader, what, output);
    else await exportToStdout(reader, what);
  } finally {
    await reader.close();
  }
}

/** What is exported. */
type What = Pick<ExportOrder, "collection" | "format">;

/** The format that is asked for, or that the file's name tells. */
function formatOf(output: unknown, format: unknown): ExportFormat {
  const isCsv = format === undefined ? /\.csv$/i.test(String(output)) : format === "csv";
  return isCsv ? "csv" : "ndjson";
}

/** A device or a pipe would be replaced by a file of its name. */
function requireReplaceable(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || found.isFile() || found.isDirectory()) return;
  throw new StartError(
    `${file} is not a regular file. Without --output, the export goes to standard output.`,
  );
}

function requireKnown(name: string, reader: StoreReader, { collections }: Config): void {
  const known = new Set([...reader.collections().keys(), ...collections.keys()]);
  if (!known.has(name))
    throw new StartError(`The collection "${name}" does not exist. ${suggest(name, [...known])}`);
}

async function exportToStdout(reader: StoreReader, what: What): Promise<void> {
  try {
    await write(reader, what, process.stdout);
  } catch (error) {
    if (!isOutputError(error)) throw error; // what goes wrong there is told for every command
  }
}

/** Under another name until it is whole, so that nobody takes a half for the whole. */
async function exportToFile(reader: StoreReader, what: What, file: string): Promise<void> {
  const unfinished = `${file}.${process.pid}.unfinished`;
  const begin = performance.now();
  try {
    const target = createWriteStream(unfinished, { flags: "wx", flush: true });
    const resources = await write(reader, what, target);
    await rename(unfinished, file);
    const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
    process.stderr.write(
      `${counted(resources, "resource")} of ${what.collection} exported to ${file} in ${seconds} s ` +
        `(${sized(target.bytesWritten)})\n`,
    );
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {}); // what went wrong first is told
    if (!isSystemError(error) || error.syscall === undefined) throw error;
    throw new StartError(`${file} cannot be written: ${describeWriteError(error)}.`);
  }
}

/** Writes every resource and gives their number. */
async function write(reader: StoreReader, what: What, target: Writable): Promise<number> {
  const total = reader.count(what.collection);
  const progress = await startProgress({ what: `exporting ${what.collection}`, total });
  let resources = 0;
  const onProgress = (written: number) => {
    resources = written;
    progress.update(written, written);
  };
  try {
    const text = Readable.from(exportText(reader, { ...what, onProgress }));
    await pipeline(text, target, { end: target !== process.stdout });
    return resources;
  } finally {
    progress.stop();
  }
}
