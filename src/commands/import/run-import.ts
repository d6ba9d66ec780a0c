import { type Collection, collectionName, openCollection } from "../../collection/collection.ts";
import type { Config } from "../../config.ts";
import { StartError } from "../../errors.ts";
import { openStore } from "../../store/open.ts";
import { bytesOnDisk, requireNoStoreFile } from "../disk.ts";
import { configOf, type Environment } from "../options.ts";
import { type Progress, startProgress } from "../progress.ts";
import { suggest } from "../words.ts";
import { type ImportResult, importInto } from "./import.ts";
import { reportImport } from "./report.ts";
import { openSource, type Source } from "./source.ts";

/** The exit code of what was interrupted, as shells expect it: 128 and the number of SIGINT. */
const interruptedExitCode = 130;

class Interrupted extends Error {}

/** Imports a file. Throws StartError when nothing was imported because of what the input or the command says. */
export async function runImport(
  { name, file }: { name: string; file: string },
  { skipInvalid, ...flags }: Record<string, unknown>,
  env: Environment,
): Promise<void> {
  const config = await configOf(flags, env);
  const collection = requireCollection(config, name);
  requireNoStoreFile(file, config.store);
  const source = await openSource(file);
  const begin = performance.now();
  try {
    const result = await importFrom(source, { config, collection, skipInvalid: skipInvalid === true });
    const seconds = (performance.now() - begin) / 1_000;
    reportImport(result, { collection: name, seconds, bytes: await bytesOnDisk(config.store) });
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    process.stderr.write("holdfast: interrupted; nothing was imported\n");
    process.exitCode = interruptedExitCode;
  } finally {
    source.stream.destroy();
  }
}

function requireCollection({ collections, openCollections }: Config, name: string): Collection {
  const declared = collections.get(name);
  if (declared !== undefined) return declared;
  if (!openCollections) {
    throw new StartError(`No collection "${name}" is declared. ${suggest(name, [...collections.keys()])}`);
  }
  if (!collectionName.test(name)) {
    throw new StartError(
      `"${name}" cannot be the name of a collection: a letter, then letters, digits, "_" and "-", 63 at most.`,
    );
  }
  return openCollection(name);
}

interface Order {
  config: Config;
  collection: Collection;
  skipInvalid: boolean;
}

async function importFrom(source: Source, { config, collection, skipInvalid }: Order): Promise<ImportResult> {
  const signal = interruptOnSignals(source);
  const store = await openStore(config.store, { onFailure: () => {} });
  let progress: Progress | undefined;
  try {
    progress = await startProgress({ what: `importing ${collection.name}`, total: source.size });
    const { bodyBytes, jsonDepth, jsonMembers } = config.http.limits;
    return await importInto(store, collection, {
      input: source.stream,
      maxBytes: bodyBytes,
      limits: { depth: jsonDepth, members: jsonMembers },
      skipInvalid,
      signal,
      onProgress: (bytes, resources) => progress?.update(bytes, resources),
    });
  } finally {
    progress?.stop();
    await store.close();
  }
}

function interruptOnSignals({ stream }: Source): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => {
    controller.abort(new Interrupted());
    stream.destroy(new Interrupted());
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt); // a second one kills
  stream.on("error", () => {}); // whoever reads it is told
  return controller.signal;
}
