import type { Config } from "../../config.ts";
import { shownAddress } from "../../store/address.ts";
import { mayExist, openReader } from "../../store/open.ts";
import { configOf, type Environment } from "../options.ts";
import { NotEmpty } from "./import.ts";
import { importDatabase } from "./run-database.ts";

/**
 * Imports a json-server database as `runDatabaseImport` does, unless something has been written to the store before. Throws
 * StartError as `runImport` does.
 */
export async function runSeed(
  file: string,
  { skipInvalid, ...flags }: Record<string, unknown>,
  env: Environment,
): Promise<void> {
  const config = await configOf(flags, env);
  try {
    await requireNoResources(config);
    await importDatabase(file, config, { skipInvalid: skipInvalid === true, onlyIfEmpty: true });
  } catch (error) {
    if (!(error instanceof NotEmpty)) throw error;
    const { collections } = error;
    process.stdout.write(
      `Nothing was imported: ${shownAddress(config.store)} is not empty (${collections.join(", ")}).\n`,
    );
  }
}

/** Throws NotEmpty if the store has resources. This look works while a service has the store open, so that scripts can seed again. */
async function requireNoResources({ store }: Config): Promise<void> {
  if (!mayExist(store)) return;
  const reader = await openReader(store);
  try {
    const filled = [...reader.collections().keys()].filter((name) => reader.count(name) > 0);
    if (filled.length > 0) throw new NotEmpty(filled);
  } finally {
    await reader.close();
  }
}
