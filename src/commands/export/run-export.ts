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
import { type Progress, startProgress } from "../progress.ts";
import { counted, suggest } from "../words.ts";

/** Text is written in pieces of about this many characters. */
const pieceLength = 65_536;

/** Exports a collection. Throws StartError when there is none of that name, or the file cannot be written. */
export async function runExport(
  collection: string,
  { output, ...flags }: Record<string, unknown>,
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
    if (typeof output === "string") await exportToFile(reader, collection, output);
    else await exportToStdout(reader, collection);
  } finally {
    await reader.close();
  }
}

/** A device or a pipe would be replaced by a file of its name. */
function requireReplaceable(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || found.isFile() || found.isDirectory()) return;
  throw new StartError(
    `${file} is no file that can be replaced. Without --output, the export goes to standard output.`,
  );
}

function requireKnown(name: string, reader: StoreReader, { collections }: Config): void {
  const known = new Set([...reader.collections().keys(), ...collections.keys()]);
  if (!known.has(name))
    throw new StartError(`There is no collection "${name}". ${suggest(name, [...known])}`);
}

async function exportToStdout(reader: StoreReader, collection: string): Promise<void> {
  try {
    await write(reader, collection, process.stdout);
  } catch (error) {
    if (!isOutputError(error)) throw error; // what goes wrong there is told for every command
  }
}

/** Under another name until it is whole, so that nobody takes a half for the whole. */
async function exportToFile(reader: StoreReader, collection: string, file: string): Promise<void> {
  const unfinished = `${file}.${process.pid}.unfinished`;
  const begin = performance.now();
  try {
    const target = createWriteStream(unfinished, { flags: "wx", flush: true });
    const resources = await write(reader, collection, target);
    await rename(unfinished, file);
    const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
    process.stderr.write(
      `${counted(resources, "resource")} of ${collection} exported to ${file} in ${seconds} s; ` +
        `${(target.bytesWritten / 1e6).toFixed(1)} MB\n`,
    );
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {}); // what went wrong first is told
    if (!isSystemError(error) || error.syscall === undefined) throw error;
    throw new StartError(`${file} cannot be written: ${describeWriteError(error)}.`);
  }
}

/** Writes a line for each resource and gives their number. */
async function write(reader: StoreReader, collection: string, target: Writable): Promise<number> {
  const total = reader.count(collection);
  const progress = await startProgress({ what: `exporting ${collection}`, total });
  try {
    const lines = new Lines(reader, collection, progress);
    await pipeline(Readable.from(lines.pieces()), target, { end: target !== process.stdout });
    return lines.resources;
  } finally {
    progress.stop();
  }
}

class Lines {
  readonly #reader: StoreReader;
  readonly #collection: string;
  readonly #progress: Progress;
  resources = 0;

  constructor(reader: StoreReader, collection: string, progress: Progress) {
    this.#reader = reader;
    this.#collection = collection;
    this.#progress = progress;
  }

  async *pieces(): AsyncGenerator<string> {
    let piece = "";
    for await (const { text } of this.#reader.scan(this.#collection)) {
      piece += `${text}\n`;
      this.resources++;
      if (piece.length < pieceLength) continue;
      yield piece;
      piece = "";
      this.#progress.update(this.resources, this.resources);
    }
    if (piece !== "") yield piece;
  }
}
