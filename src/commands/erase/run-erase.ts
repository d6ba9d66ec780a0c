import { StartError } from "../../errors.ts";
import { openStore } from "../../store/open.ts";
import { requireFile } from "../../store/sqlite/open-file.ts";
import type { Key, Store } from "../../store/store.ts";
import { configOf, type Environment } from "../options.ts";
import { counted, suggest } from "../words.ts";

/** Erases a resource. Throws StartError when nothing is kept of it, or a service has the store open. */
export async function runErase(key: Key, flags: Record<string, unknown>, env: Environment): Promise<void> {
  const config = await configOf(flags, env);
  requireFile(config.store.path);
  const store = await openStore(config.store, { onFailure: () => {}, history: config.history });
  try {
    process.stderr.write(`${await erase(store, key)}\n`);
  } finally {
    await store.close();
  }
}

/** Gives what was done, in a sentence. */
async function erase(store: Store, key: Key): Promise<string> {
  const { collection, id } = key;
  const known = store.collections();
  if (!known.has(collection))
    throw new StartError(`There is no collection "${collection}". ${suggest(collection, [...known.keys()])}`);
  const { resource, changes } = await store.erase(key);
  if (!resource && changes === 0) throw new StartError(`Nothing is kept of "${id}" in ${collection}.`);
  const what = resource ? "the resource" : "what was left of the deleted resource";
  return `${what} "${id}" of ${collection} is erased, with ${counted(changes, "change")} of its history`;
}
