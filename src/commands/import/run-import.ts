import { type Collection, collectionName, openCollection } from "../../collection/collection.ts";
import type { Config } from "../../config.ts";
import { StartError } from "../../errors.ts";
import { bytesOnDisk, requireNoStoreFile } from "../disk.ts";
import { configOf, type Environment } from "../options.ts";
import { suggest } from "../words.ts";
import { formatOf, piecesOf } from "./format.ts";
import { importInto } from "./import.ts";
import { reportImport } from "./report.ts";
import { inStore, interruptible } from "./session.ts";
import { openSource } from "./source.ts";

/** Imports a file into one collection. Throws StartError when nothing was imported because of what the input or the command says. */
export async function runImport(
  { name, file }: { name: string; file: string },
  { skipInvalid, format: formatName, delimiter, ...flags }: Record<string, unknown>,
  env: Environment,
): Promise<void> {
  const config = await configOf(flags, env);
  const collection = collectionOf(config, name);
  if (typeof collection === "string") throw new StartError(collection);
  const format = formatOf(file, { format: formatName, delimiter });
  requireNoStoreFile(file, config.store);
  const { stream, size } = await openSource(file);
  const begin = performance.now();
  await interruptible(stream, async (signal) => {
    const { bodyBytes: maxBytes, jsonDepth, jsonMembers } = config.http.limits;
    const work = { what: `importing ${name}`, total: size };
    const result = await inStore(config, work, (store, onProgress) =>
      importInto(store, collection, {
        pieces: piecesOf(stream, format, { collection, maxBytes }),
        limits: { depth: jsonDepth, members: jsonMembers },
        skipInvalid: skipInvalid === true,
        signal,
        onProgress,
      }),
    );
    const seconds = (performance.now() - begin) / 1_000;
    reportImport(result, { collection: name, seconds, bytes: await bytesOnDisk(config.store) });
  });
}

/** The collection of a name, declared or open, or why there can be none. */
export function collectionOf({ collections, openCollections }: Config, name: string): Collection | string {
  const declared = collections.get(name);
  if (declared !== undefined) return declared;
  if (!openCollections)
    return `No collection "${name}" is declared. ${suggest(name, [...collections.keys()])}`;
  if (collectionName.test(name)) return openCollection(name);
  return `"${name}" cannot be the name of a collection. A name is a letter followed by up to 62 letters, digits, "_" or "-".`;
}
