/** `holdfast import` and `holdfast seed`: import a file into one collection, or a json-server database into several. */
import { type Collection, collectionName, openCollection } from "../collection/collection.ts";
import { suggest } from "../collection/messages.ts";
import type { Config } from "../config.ts";
import { StartError } from "../errors.ts";
import type { CollectionInput } from "../import/collection-import.ts";
import type { ImportResult } from "../import/item-reader.ts";
import type { Items } from "../import/items.ts";
import { readCsv } from "../import/read-csv.ts";
import { readJson } from "../import/read-json.ts";
import { shownAddress } from "../store/address.ts";
import { mayExist, openReader } from "../store/open.ts";
import { withoutInternal } from "../store/port/record.ts";
import { type Member, readDatabase } from "./import/database.ts";
import { type ImportOptions, importAll, NotEmpty } from "./import/import-all.ts";
import { importRemotely, type Remote } from "./import/remote.ts";
import { type Effort, refuseObjects, reportDatabase, reportImport } from "./import/report.ts";
import { formatOf, importFrom, type Source, UnreadableSource } from "./import/source.ts";
import { configOf, type Environment, type Flags, tokenVariable } from "./options.ts";
import { startProgress, type Work } from "./progress.ts";
import { readBase } from "./service-address.ts";
import { shell } from "./shell.ts";
import { bytesOnDisk, requireNoStoreFile, withOpen, withStore } from "./store.ts";
import { timeSince } from "./words.ts";

/** Imports a file into one collection. Throws StartError if nothing was imported. */
export async function runImport(
  { name, file }: { name: string; file: string },
  { to, ...given }: Flags,
  env: Environment,
): Promise<void> {
  if (typeof to === "string") return importTo(to, { name, file }, given, env);
  const { skipInvalid, format: formatName, delimiter, ...flags } = localFlags(given);
  const config = await configOf(flags, env);
  const collection = collectionOf(config, name);
  if (typeof collection === "string") throw new StartError(collection);
  const format = formatOf(file, { format: formatName, delimiter });
  requireNoStoreFile(file, config.store);
  await importFrom(file, async ({ stream, size }, signal) => {
    const start = performance.now();
    const maxBytes = config.http.limits.bodyBytes;
    const items =
      format.kind === "json"
        ? readJson(stream, maxBytes)
        : readCsv(stream, {
            collection,
            delimiter: format.delimiter,
            maxBytes,
            advice: (delimiter) =>
              `add --delimiter ${delimiter === "tab" ? delimiter : JSON.stringify(delimiter)}`,
          });
    const options = { skipInvalid: skipInvalid === true, signal };
    const work = { what: `importing ${name}`, total: size };
    const [result] = await importInto(config, [{ collection, items }], { work, options });
    reportImport(result as ImportResult, await effortSince(start, config));
  });
}

/** The options of an import into a store. Throws StartError if an option is only for a running service. */
function localFlags({ token, dryRun, ...flags }: Flags): Flags {
  const [given] = Object.entries({ "--token": token, "--dry-run": dryRun }).filter(([, value]) => value);
  if (given !== undefined)
    throw new StartError(`${given[0]} is for a running service: give its URL with --to.`);
  return flags;
}

/** Imports a file into one collection of a running service. */
async function importTo(
  address: string,
  { name: collection, file }: { name: string; file: string },
  { skipInvalid, dryRun, token, format: formatName, delimiter, config, store }: Flags,
  env: Environment,
): Promise<void> {
  if (config !== undefined || store !== undefined)
    throw new StartError("Give either the URL of a service with --to, or --config and --store.");
  const isDryRun = dryRun === true;
  const remote: Remote = {
    base: readBase(address),
    token: typeof token === "string" ? token : env[tokenVariable],
    dryRun: isDryRun,
    skipInvalid: skipInvalid === true,
  };
  const format = formatOf(file, { format: formatName, delimiter });
  const work = async ({ stream, size }: Source, signal: AbortSignal) => {
    const start = performance.now();
    const progress = await startProgress({ what: `importing ${collection}`, total: size, inBytes: true });
    const onProgress = (bytes: number) => progress.update(bytes, 0);
    const input = { collection, format, stream, size, signal, onProgress };
    const result = await importRemotely(remote, input).finally(() => progress.stop());
    reportImport(result, { time: timeSince(start), bytes: undefined, isDryRun });
  };
  await importFrom(file, work, "interrupted; nothing was imported, unless the service had read everything");
}

/** Imports every list of a json-server database into the collection with its name. Throws StartError if nothing was imported. */
export async function runDatabaseImport(
  file: string,
  { to, ...given }: Flags,
  env: Environment,
): Promise<void> {
  if (to !== undefined)
    throw new StartError(`With --to, name a collection: npx holdfast import <collection> ${file} --to <url>`);
  const { skipInvalid, format, delimiter, ...flags } = localFlags(given);
  const config = await configOf(flags, env);
  if (format === "csv" || delimiter !== undefined) throw new StartError(needsCollection(file));
  await importDatabase(file, config, { skipInvalid: skipInvalid === true }).catch((error: unknown) => {
    throw error instanceof UnreadableSource
      ? new StartError(`${error.message} ${needsCollection(file)}`)
      : error;
  });
}

/** Imports a json-server database into an empty store. Does nothing if the store is not empty. */
export async function runSeed(
  file: string,
  { skipInvalid, ...flags }: Flags,
  env: Environment,
): Promise<void> {
  const config = await configOf(flags, env);
  try {
    await requireNoResources(config);
    await importDatabase(file, config, { skipInvalid: skipInvalid === true, onlyIfEmpty: true });
  } catch (error) {
    if (!(error instanceof NotEmpty)) throw error;
    const names = error.collections.join(", ");
    shell().stdout.write(`Nothing was imported: ${shownAddress(config.store)} is not empty (${names}).\n`);
  }
}

/** Throws NotEmpty if the store has resources. This also works while a service runs, so a script can seed on every start. */
async function requireNoResources({ store }: Config): Promise<void> {
  if (!mayExist(store)) return;
  await withOpen(openReader(store), async (reader) => {
    const filled = withoutInternal(reader.collections().keys()).filter((name) => reader.count(name) > 0);
    if (filled.length > 0) throw new NotEmpty(filled);
  });
}

type DatabaseOptions = Pick<ImportOptions, "skipInvalid" | "onlyIfEmpty">;

async function importDatabase(file: string, config: Config, given: DatabaseOptions): Promise<void> {
  requireNoStoreFile(file, config.store);
  await importFrom(file, async ({ stream }, signal) => {
    const start = performance.now();
    const { lists, ...skipped } = sortMembers(
      readDatabase(Buffer.concat(await stream.toArray()), file),
      config,
    );
    const { invalid, objects } = skipped;
    if (objects.length > 0 && invalid.length === 0 && lists.length === 0) refuseObjects(objects, file);
    const isDryRun = invalid.length > 0 && !given.skipInvalid;
    const total = lists.reduce((sum, { text }) => sum + text.length, 0);
    const inputs = lists.map(({ collection, ...list }) => ({
      collection,
      items: itemsOf(list, config.http.limits.bodyBytes),
    }));
    const options = { ...given, isDryRun, signal };
    const results = await importInto(config, inputs, { work: { what: "importing", total }, options });
    reportDatabase(results, skipped, { ...(await effortSince(start, config)), isDryRun });
  });
}

function needsCollection(file: string): string {
  return (
    `With a single argument, import reads a json-server database: npx holdfast import <db.json>. ` +
    `For any other file, name a collection: npx holdfast import <collection> ${file}`
  );
}

/** The lists with their collections, and the members that are not imported. */
function sortMembers(members: readonly Member[], config: Config) {
  const lists: { collection: Collection; line: number; text: Buffer }[] = [];
  const invalid: { line: number; name: string; reason: string }[] = [];
  const objects: { line: number; name: string }[] = [];
  for (const { name, line, kind, text } of members) {
    const collection = collectionOf(config, name);
    if (kind === "object") objects.push({ line, name });
    else if (kind === "other")
      invalid.push({ line, name, reason: "is not a list of resources (--skip-invalid skips it)" });
    else if (typeof collection === "string") invalid.push({ line, name, reason: collection });
    else lists.push({ collection, line, text });
  }
  return { lists, invalid, objects };
}

const chunkBytes = 262_144;

/** The items of a list that starts in a line of the input. */
async function* itemsOf(
  { line, text }: { line: number; text: Buffer },
  maxBytes: number,
): AsyncGenerator<Items> {
  async function* chunks() {
    for (let start = 0; start < text.length; start += chunkBytes)
      yield text.subarray(start, start + chunkBytes);
  }
  for await (const { items, bytesRead } of readJson(chunks(), maxBytes)) {
    const moved = items.map((item) => ({
      ...item,
      location: { ...item.location, line: item.location.line + line - 1 },
    }));
    yield { items: moved, bytesRead };
  }
}

/** The collection with a name, declared or undeclared, or the reason why it cannot exist. */
function collectionOf({ collections, openCollections }: Config, name: string): Collection | string {
  const declared = collections.get(name);
  if (declared !== undefined) return declared;
  if (!openCollections)
    return `No collection "${name}" is declared. ${suggest(name, [...collections.keys()])}`;
  if (collectionName.test(name)) return openCollection(name);
  return `"${name}" cannot be the name of a collection. A name is a letter followed by up to 62 letters, digits, "_" or "-".`;
}

interface Run {
  work: Work;
  options: Omit<ImportOptions, "limits" | "onProgress">;
}

/** Imports into the configured store, and shows the progress. */
async function importInto(
  config: Config,
  inputs: readonly CollectionInput[],
  { work, options }: Run,
): Promise<ImportResult[]> {
  const { jsonDepth, jsonMembers } = config.http.limits;
  return withStore(config, async (store) => {
    const progress = await startProgress(work);
    try {
      return await importAll(store, inputs, {
        ...options,
        limits: { depth: jsonDepth, members: jsonMembers },
        onProgress: (bytes, resources) => progress.update(bytes, resources),
      });
    } finally {
      progress.stop();
    }
  });
}

async function effortSince(start: number, { store }: Config): Promise<Effort> {
  return { time: timeSince(start), bytes: await bytesOnDisk(store) };
}
