import { Problem, StartError } from "../../errors.ts";
import type { Erased } from "../../store/change-log.ts";
import { onStoreOf, openStore, requireStore } from "../../store/open.ts";
import type { Store } from "../../store/store.ts";
import type { Key } from "../../store/stored.ts";
import { configOf, type Environment } from "../options.ts";
import { counted, suggest } from "../words.ts";

/** Erases a resource. Throws StartError when nothing is kept of it, or a service has the store open. */
export async function runErase(key: Key, flags: Record<string, unknown>, env: Environment): Promise<void> {
  const config = await configOf(flags, env);
  requireStore(config.store);
  const store = await openStore(config.store, { onFailure: () => {}, history: config.history });
  try {
    for (const line of await onStoreOf(config.store, erase(store, key))) process.stderr.write(`${line}\n`);
  } finally {
    await store.close();
  }
}

/** Gives what was done, in lines. */
async function erase(store: Store, key: Key): Promise<string[]> {
  const { collection, id } = key;
  const known = store.collections();
  if (!known.has(collection))
    throw new StartError(
      `The collection "${collection}" does not exist. ${suggest(collection, [...known.keys()])}`,
    );
  const { resource, changes, followed } = await store.erase(key).catch(refused);
  if (!resource && changes === 0)
    throw new StartError(`The store has no resource and no history for the id "${id}" in ${collection}.`);
  const what = resource ? "resource" : "deleted resource";
  return [
    `erased the ${what} "${id}" of ${collection} and ${counted(changes, "change")} of its history`,
    ...followedLines(followed),
  ];
}

function refused(error: unknown): never {
  if (!(error instanceof Problem) || error.code !== "REFERENCED") throw error;
  throw new StartError(`Nothing was erased. ${error.message}`);
}

function followedLines(followed: Erased["followed"]): string[] {
  // One that was changed first may have been deleted then.
  const isDeleted = new Map(
    followed.map(({ collection, id, isDeleted }) => [`${collection} ${id}`, isDeleted]),
  );
  const deleted = [...isDeleted.keys()].filter((key) => isDeleted.get(key));
  const changed = isDeleted.size - deleted.length;
  const lines = changed === 0 ? [] : [`removed references to it from ${counted(changed, "resource")}`];
  if (deleted.length === 0) return lines;
  return [
    ...lines,
    `deleted ${counted(deleted.length, "resource")} because of references to it. The store keeps their history; to erase it too, run:`,
    ...deleted.map((key) => `  npx holdfast erase ${key}`),
  ];
}
