import type { Collection } from "../../collection/collection.ts";
import type { Config } from "../../config.ts";
import { StartError } from "../../errors.ts";
import { bytesOnDisk, requireNoStoreFile } from "../disk.ts";
import { configOf, type Environment } from "../options.ts";
import { type Member, readDatabase } from "./database.ts";
import { type ImportOptions, type ImportPart, importAll } from "./import.ts";
import { readPieces } from "./input.ts";
import type { Pieces } from "./pieces.ts";
import { type Part, refuseDatabase, refuseObjects, reportDatabase } from "./report.ts";
import { collectionOf } from "./run-import.ts";
import { inStore, interruptible } from "./session.ts";
import { openSource, Unreadable } from "./source.ts";

/**
 * Imports every list of a json-server database into the collection of its name, and leaves out its single objects.
 * Throws StartError as `runImport` does.
 */
export async function runDatabaseImport(
  file: string,
  { skipInvalid, format, delimiter, ...flags }: Record<string, unknown>,
  env: Environment,
): Promise<void> {
  const config = await configOf(flags, env);
  if (format === "csv" || delimiter !== undefined) throw new StartError(needsCollection(file));
  const options = { skipInvalid: skipInvalid === true, onlyIfEmpty: false };
  await importDatabase(file, config, options).catch((error: unknown) => {
    throw error instanceof Unreadable ? new StartError(`${error.message} ${needsCollection(file)}`) : error;
  });
}

/** How a database is imported. */
export interface DatabaseOptions {
  /** Import the valid resources although others are invalid. */
  skipInvalid: boolean;
  /** Import nothing if something has been written to the store before. */
  onlyIfEmpty: boolean;
}

/** Imports a json-server database, and says what it did. Throws StartError as `runImport` does, and NotEmpty. */
export async function importDatabase(
  file: string,
  config: Config,
  { skipInvalid, onlyIfEmpty }: DatabaseOptions,
): Promise<void> {
  requireNoStoreFile(file, config.store);
  const { stream } = await openSource(file);
  const begin = performance.now();
  await interruptible(stream, async (signal) => {
    const members = readDatabase(Buffer.concat(await stream.toArray()), file);
    const plan = new Plan(members, config);
    if (plan.hasObjectsOnly) refuseObjects(plan.objects, file);
    const isAllowed = plan.bad.length === 0 || skipInvalid;
    const parts = await plan.run({ signal, skipInvalid, isAllowed, onlyIfEmpty });
    if (!isAllowed || parts.some(({ result }) => !result.isWritten)) refuseDatabase(parts, plan.bad);
    const seconds = (performance.now() - begin) / 1_000;
    reportDatabase(parts, {
      bad: plan.bad,
      objects: plan.objects,
      seconds,
      bytes: await bytesOnDisk(config.store),
    });
  });
}

function needsCollection(file: string): string {
  return (
    `With a single argument, import reads a json-server database: npx holdfast import <db.json>. ` +
    `For any other file, name a collection: npx holdfast import <collection> ${file}`
  );
}

/** A list and the collection that it goes into. */
interface Step {
  collection: Collection;
  list: Buffer;
  line: number;
}

interface Order extends DatabaseOptions {
  signal: AbortSignal;
  /** Whether anything may be written if all goes well. */
  isAllowed: boolean;
}

/** What is to be done with each member. */
class Plan {
  readonly bad: { line: number; name: string; reason: string }[] = [];
  /** Single objects. They are left out, and are not a mistake. */
  readonly objects: { line: number; name: string }[] = [];
  readonly #steps: Step[] = [];
  readonly #config: Config;

  constructor(members: readonly Member[], config: Config) {
    this.#config = config;
    for (const { name, line, value } of members) {
      const collection = collectionOf(config, name);
      if (value.kind === "object") this.objects.push({ line, name });
      else if (value.kind === "other") this.bad.push({ line, name, reason: notAList });
      else if (typeof collection === "string") this.bad.push({ line, name, reason: collection });
      else this.#steps.push({ collection, list: value.text, line });
    }
  }

  /** Whether the file has single objects and nothing else, so it is probably not a database. */
  get hasObjectsOnly(): boolean {
    return this.objects.length > 0 && this.bad.length === 0 && this.#steps.length === 0;
  }

  /** Where one list would not be imported, nothing is written. */
  async run({ isAllowed, onlyIfEmpty, signal, skipInvalid }: Order): Promise<Part[]> {
    const total = this.#steps.reduce((bytes, { list }) => bytes + list.length, 0);
    return inStore(this.#config, { what: "importing", total }, async (store, onProgress) => {
      const options = { signal, skipInvalid, onProgress };
      const parts = this.#steps.map((step) => this.#partOf(step, options));
      const results = await importAll(store, parts, { isAllowed, onlyIfEmpty });
      return results.map((result, n) => ({ collection: (parts[n] as ImportPart).collection.name, result }));
    });
  }

  #partOf(
    { collection, list, line }: Step,
    options: Pick<ImportOptions, "signal" | "skipInvalid" | "onProgress">,
  ): ImportPart {
    const { bodyBytes, jsonDepth, jsonMembers } = this.#config.http.limits;
    const pieces = fromLine(line, readPieces(chunksOf(list), bodyBytes));
    return {
      collection,
      options: { ...options, pieces, limits: { depth: jsonDepth, members: jsonMembers } },
    };
  }
}

const notAList = "is not a list of resources (--skip-invalid skips it)";

const chunkBytes = 262_144;

async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let begin = 0; begin < bytes.length; begin += chunkBytes)
    yield bytes.subarray(begin, begin + chunkBytes);
}

/** Pieces of a text that begins in a line of the input. */
async function* fromLine(line: number, all: AsyncIterable<Pieces>): AsyncGenerator<Pieces> {
  for await (const { pieces, bytes } of all) {
    yield {
      bytes,
      pieces: pieces.map((piece) => ({
        ...piece,
        place: { ...piece.place, line: piece.place.line + line - 1 },
      })),
    };
  }
}
