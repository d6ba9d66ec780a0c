/** `holdfast import`: imports a file into one collection, of the store or of a running service. */
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { mirroredIn, openWriteHooks } from "../capabilities/all.ts";
import { type Collection, collectionName, openCollection } from "../collection/collection.ts";
import { isKnownExpiry } from "../collection/expiry.ts";
import { suggest } from "../collection/messages.ts";
import type { HooksOfRequest } from "../collection/write-hooks.ts";
import type { Config } from "../config.ts";
import { StartError } from "../errors.ts";
import { Expiry } from "../expiry/expired.ts";
import { requireFit, requireNoneExpired } from "../fit.ts";
import { anonymous } from "../http/caller/admit.ts";
import { hooksForMany } from "../http/writes/hooks.ts";
import type { ColumnSummary } from "../import/cells.ts";
import { type CollectionInput, type ItemOptions, importCollection } from "../import/collection-import.ts";
import { type InputFormat, readInput } from "../import/input.ts";
import type { ImportResult } from "../import/item-reader.ts";
import type { ImportOptions as NamedOptions } from "../import/options.ts";
import { sameTypesIn } from "../import/stored-types.ts";
import { mayExist } from "../store/open.ts";
import { logStart } from "../store/port/log-place.ts";
import { type CollectionRecord, recordOf, withoutInternal } from "../store/port/record.ts";
import type { Load, Store } from "../store/port/store.ts";
import { bytesOnDisk, requireNoStoreFile, withStore } from "./command-store.ts";
import { configOf, type Environment, type Flags } from "./flags.ts";
import { optionAdvice, optionsOf, splitFlags } from "./import/import-flags.ts";
import { type Effort, reportImport } from "./import/import-report.ts";
import { importRemotely, type Remote } from "./import/remote.ts";
import { finishImport } from "./import/remote-task.ts";
import { startProgress, type Work } from "./progress-display.ts";
import { readBase, tokenOf } from "./running-service.ts";
import { interruptible, say, shell } from "./shell.ts";
import { timeSince } from "./wording.ts";

/** Imports a file into one collection. Throws StartError if nothing was imported. */
export async function runImport(
  { name, file }: { name: string; file: string },
  { to, ...given }: Flags,
  env: Environment,
): Promise<void> {
  if (typeof to === "string") return importTo(to, { name, file }, given, env);
  const {
    given: texts,
    flags: { format: formatName, ...flags },
  } = localFlags(given);
  const config = await configOf(flags, env);
  const collection = collectionOf(config, name);
  if (typeof collection === "string") throw new StartError(collection);
  const isCsv = isCsvFile(file, formatName);
  const options = optionsOf(texts, { collection, isCsv });
  const { dryRun: isDryRun = false, skipInvalid = false, skipHooks = false } = options;
  const { on, id, ids, types, convert, timezone } = options;
  const format = formatOf(file, { ...options, isCsv });
  requireNoStoreFile(file, config.store);
  await importFrom(file, async ({ stream, size }, signal) => {
    const start = performance.now();
    let columns: readonly ColumnSummary[] | undefined;
    const input: CollectionInput = {
      collection,
      items: (store) =>
        readInput(stream, format, {
          collection,
          maxBytes: config.http.limits.bodyBytes,
          id,
          types,
          convert,
          timezone,
          advice: optionAdvice,
          requireSameTypes: sameTypesIn(store, name),
          onColumns(found) {
            columns = found;
          },
        }),
      columns: () => columns,
    };
    const how = { skipInvalid, skipHooks, on, id, ids, isDryRun, signal };
    const work = { what: `importing ${name}`, total: size };
    const [result] = await withTarget(config, isDryRun, (target) =>
      importInto(target, [input], { work, options: how }),
    );
    const effort = isDryRun ? { time: timeSince(start), bytes: undefined } : await effortSince(start, config);
    reportImport(result as ImportResult, { ...effort, isDryRun });
  });
}

/** The flags of an import into a store. Throws StartError if one is only for a running service. */
export function localFlags({ token, ...flags }: Flags): ReturnType<typeof splitFlags> {
  if (token !== undefined) throw new StartError("--token is for a running service: give its URL with --to.");
  return splitFlags(flags);
}

/** Works with the configured store. If it does not exist and nothing is to be written, with an empty one that is removed. */
async function withTarget<T>(
  config: Config,
  isDryRun: boolean,
  work: (target: Config) => Promise<T>,
): Promise<T> {
  if (!isDryRun || mayExist(config.store)) return work(config);
  const folder = await mkdtemp(join(tmpdir(), "holdfast-"));
  try {
    return await work({ ...config, store: { kind: "sqlite", path: join(folder, "dry-run.db") } });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Imports a file into one collection of a running service. */
async function importTo(
  address: string,
  { name: collection, file }: { name: string; file: string },
  all: Flags,
  env: Environment,
): Promise<void> {
  const {
    given,
    flags: { token, format: formatName, config, store },
  } = splitFlags(all);
  if (config !== undefined || store !== undefined)
    throw new StartError("Give either the URL of a service with --to, or --config and --store.");
  const remote: Remote = { base: readBase(address), token: tokenOf(token, env), given };
  const isCsv = isCsvFile(file, formatName);
  const { dryRun: isDryRun = false, ...options } = optionsOf(given, { isCsv });
  const format = formatOf(file, { ...options, isCsv });
  const work = async ({ stream, size }: Source, signal: AbortSignal) => {
    const start = performance.now();
    const progress = await startProgress({ what: `importing ${collection}`, total: size, inBytes: true });
    const onProgress = (bytes: number) => progress.update(bytes, 0);
    const input = { collection, format, stream, size, signal, onProgress };
    const sent = await importRemotely(remote, input).finally(() => progress.stop());
    const { result, fault } =
      "report" in sent
        ? await finishImport(remote, sent, { collection, signal })
        : { result: sent, fault: undefined };
    reportImport(result, { time: timeSince(start), bytes: undefined, isDryRun });
    if (fault !== undefined) throw fault;
  };
  await importFrom(file, work, "interrupted; nothing was imported, unless the service had read everything");
}

/** The collection with a name, declared or undeclared, or the reason why it cannot exist. */
export function collectionOf({ collections, openCollections }: Config, name: string): Collection | string {
  const declared = collections.get(name);
  if (declared !== undefined) return declared;
  if (!openCollections)
    return `No collection "${name}" is declared. ${suggest(name, [...collections.keys()])}`;
  if (collectionName.test(name)) return openCollection(name);
  return `"${name}" cannot be the name of a collection. A name is a letter followed by up to 62 letters, digits, "_" or "-".`;
}

interface Run {
  work: Work;
  options: Omit<ImportOptions, "limits" | "onProgress"> & { skipHooks?: boolean };
}

/** Imports into the configured store, and shows the progress. */
export async function importInto(
  config: Config,
  inputs: readonly CollectionInput[],
  { work, options: { skipHooks = false, ...options } }: Run,
): Promise<ImportResult[]> {
  const { collections, http } = config;
  const { jsonDepth, jsonMembers } = http.limits;
  return withStore(config, async (store) => {
    await sweepFor(store, config, inputs);
    const mirrored = await mirroredIn(config, store, collections);
    const around = { limits: http.limits, collections: () => collections, warn: say };
    const hooked = skipHooks ? undefined : await openWriteHooks(config, around);
    const by = { id: "import", caller: anonymous, now: Date.now() };
    const progress = await startProgress(work);
    try {
      return await importAll(store, inputs, {
        ...options,
        hooksOf: (collection) => hooked && hooksForMany({ hooks: hooked.hooks, store }, collection, by),
        mirroredIn: (name) => mirrored.get(name),
        kindOf: (name) => config.collections.get(name)?.idKind ?? "uuid",
        limits: { depth: jsonDepth, members: jsonMembers },
        onProgress: (bytes, resources) => progress.update(bytes, resources),
      });
    } finally {
      progress.stop();
      await hooked?.stop();
    }
  });
}

/** Deletes what has expired: it would hold unique values, and the import could refer to it. */
async function sweepFor(
  store: Store,
  { collections }: Config,
  inputs: readonly CollectionInput[],
): Promise<void> {
  const names = inputs.flatMap(({ collection: { name, references } }) => [
    name,
    ...references.map(({ collection }) => collection),
  ]);
  const known = names.filter((name) => {
    const expires = collections.get(name)?.expires;
    // Only a start of the service can make a new option delete something.
    return expires && isKnownExpiry(store.collections().get(name)?.indexes ?? [], expires);
  });
  await new Expiry({ store, collections: () => collections, now: Date.now, warn: say }).sweep(known);
}

/** How long an import took, and how large the store is now. */
export async function effortSince(start: number, { store }: Config): Promise<Effort> {
  return { time: timeSince(start), bytes: await bytesOnDisk(store) };
}

/** An open input. */
export interface Source {
  stream: Readable;
  /** The size in bytes; `undefined` for standard input, a pipe or a device. */
  size: number | undefined;
}

/** A file that cannot be read. */
export class UnreadableSource extends StartError {}

/**
 * Opens a file, or standard input for `-`, runs `work`, and closes the input. SIGINT and SIGTERM interrupt the import. Throws
 * UnreadableSource.
 */
export async function importFrom(
  file: string,
  work: (source: Source, signal: AbortSignal) => Promise<void>,
  interrupted = "interrupted; nothing was imported",
): Promise<void> {
  const source = await openSource(file);
  const { stream } = source;
  stream.on("error", () => {}); // the reader of the stream gets the error too
  try {
    await interruptible(interrupted, (signal) => {
      signal.addEventListener("abort", () => stream.destroy(signal.reason));
      return work(source, signal);
    });
  } finally {
    stream.destroy();
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EACCES: "this user has no permission to read it",
};

async function openSource(file: string): Promise<Source> {
  if (file === "-") return { stream: shell().stdin, size: undefined };
  const handle = await open(resolve(shell().cwd(), file)).catch((error: NodeJS.ErrnoException) => {
    throw new UnreadableSource(`${file} cannot be read: ${reasons[error.code ?? ""] ?? error.message}.`);
  });
  const stat = await handle.stat();
  if (stat.isDirectory()) {
    await handle.close();
    throw new UnreadableSource(`${file} cannot be read: it is a folder.`);
  }
  return {
    stream: handle.createReadStream({ highWaterMark: 262_144 }),
    size: stat.isFile() ? stat.size : undefined,
  };
}

/** Whether a file is CSV: by the option `--format`, or else by its name. */
export function isCsvFile(file: string, format?: unknown): boolean {
  return format === undefined ? [".csv", ".tsv"].includes(endingOf(file)) : format === "csv";
}

function endingOf(file: string): string {
  return extname(file).toLowerCase();
}

/** The format of a file. */
export function formatOf(
  file: string,
  { delimiter, at, isCsv }: Pick<NamedOptions, "delimiter" | "at"> & { isCsv: boolean },
): InputFormat {
  if (!isCsv) return { at };
  return { form: "csv", delimiter: delimiter ?? (endingOf(file) === ".tsv" ? "\t" : undefined) };
}

/** How to import several inputs. */
export interface ImportOptions extends ItemOptions {
  /** Check everything, but write nothing. @default false */
  isDryRun?: boolean;
  /** Throw NotEmpty if the store has a history, even if all its resources are deleted. @default false */
  onlyIfEmpty?: boolean;
  /** The hooks of a collection. @default no collection has any */
  hooksOf?: ((collection: Collection) => HooksOfRequest | undefined) | undefined;
}

/** The store must be empty for this import, but these collections contain or contained resources. */
export class NotEmpty extends Error {
  readonly collections: readonly string[];

  constructor(collections: readonly string[]) {
    super(`The store is not empty: ${collections.join(", ")}`);
    this.collections = collections;
  }
}

const toKeep =
  '. To keep them, start the service once with "npx holdfast serve --accept", stop it, and import again.';

/**
 * Imports inputs that can refer to each other, and creates their collections if necessary. Writes nothing if a result is not
 * accepted, or if an input throws. Throws StartError if a reference leads to no resource after the import. Throws NotEmpty
 * with `onlyIfEmpty`.
 */
export async function importAll(
  store: Store,
  inputs: readonly CollectionInput[],
  { isDryRun = false, onlyIfEmpty = false, hooksOf, ...options }: ImportOptions,
): Promise<ImportResult[]> {
  for (const { collection } of inputs) {
    await requireFit(store, collection, ["unique", "references"], toKeep);
    await requireNoneExpired(store, collection, Date.now());
  }
  const names = inputs.map(({ collection }) => collection.name);
  let transaction: Load | undefined;
  try {
    const results: ImportResult[] = [];
    for (const input of inputs) {
      const record = recordFor(input.collection, store.collections());
      if (transaction === undefined) {
        transaction = await store.load(record, { among: names });
        if (onlyIfEmpty) await requireEmpty(store); // the transaction keeps other imports out
      } else await transaction.next(record);
      results.push(
        await importCollection(transaction, input, { ...options, hooks: hooksOf?.(input.collection), store }),
      );
      options.signal.throwIfAborted();
    }
    if (!results.every(({ isAccepted }) => isAccepted)) await transaction?.cancel();
    else if (isDryRun) await transaction?.tryOut();
    else await transaction?.finish();
    return results;
  } catch (error) {
    await transaction?.cancel().catch(() => {}); // the first error is the one to report
    throw error;
  }
}

async function requireEmpty(store: Store): Promise<void> {
  const names = withoutInternal(await store.collectionNames());
  const pages = await Promise.all(names.map((collection) => store.list({ collection, limit: 1 })));
  const written = names.filter((_, n) => pages[n]?.sequence !== logStart);
  if (written.length > 0) throw new NotEmpty(written.toSorted());
}

/**
 * The record of a collection for the import. If the store has another schema than the configuration, the record has no
 * schema. The next start then checks all resources. It also applies the option `timestamps`.
 */
function recordFor(
  collection: Collection,
  catalogue: ReadonlyMap<string, CollectionRecord>,
): CollectionRecord {
  const record = recordOf(collection);
  const known = catalogue.get(record.name);
  if (known === undefined) return record;
  const { schema, timestamps = false } = known;
  return { ...record, timestamps, schema: schema === record.schema ? schema : undefined };
}
