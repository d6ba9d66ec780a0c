/** `holdfast erase`: removes one resource and its history from the store. */
import { inStores } from "../capabilities/all.ts";
import { Problem, StartError } from "../errors.ts";
import { requireStore } from "../store/open.ts";
import type { Erased } from "../store/port/change-log.ts";
import { isInternal, withoutInternal } from "../store/port/record.ts";
import type { Store } from "../store/port/store.ts";
import type { Key } from "../store/port/stored.ts";
import { withStore } from "./command-store.ts";
import { configOf, type Environment, type Flags } from "./flags.ts";
import { say } from "./shell.ts";
import { counted, unknownCollection, withCommand } from "./wording.ts";

/** Erases a resource. Throws StartError if the store knows nothing of it, or if a service has the store open. */
export async function runErase(key: Key, flags: Flags, env: Environment): Promise<void> {
  const config = await configOf(flags, env);
  requireStore(config.store);
  const { lines, unfinished } = await withStore(config, (store) => erase(store, key));
  say(lines);
  if (unfinished !== undefined)
    throw new StartError(
      `Its old text is still in unused parts of the files, because ${unfinished}, and run the same command again.`,
    );
}

/** Returns lines that say what was erased, and why the files still have the text, if they do. */
async function erase(store: Store, key: Key): Promise<{ lines: string[]; unfinished: Erased["unfinished"] }> {
  const { collection, id } = key;
  const known = withoutInternal(store.collections().keys());
  if (!known.includes(collection)) throw unknownCollection(collection, known);
  const elsewhere = await eraseElsewhere(store, id);
  const { isKnown, resource, changes, affected, isResumed, unfinished } = await store
    .erase(key)
    .catch((error: unknown) => {
      if (!(error instanceof Problem) || error.code !== "REFERENCED") throw error;
      throw new StartError(`Nothing was erased. ${error.message}`);
    });
  if (!isKnown && !isResumed && elsewhere.length === 0)
    throw new StartError(`The store has no resource and no history for the id "${id}" in ${collection}.`);
  const what = resource ? "resource" : "deleted resource";
  const erased = `erased the ${what} "${id}" of ${collection} and ${counted(changes, "change")} of its history`;
  const cleaned = `removed what an interrupted erase of the resource "${id}" of ${collection} had left in the files of the store`;
  return {
    lines: [
      ...(isKnown ? [erased] : []),
      ...elsewhere,
      ...(isResumed && unfinished === undefined ? [cleaned] : []),
      ...affectedLines(affected),
    ],
    unfinished,
  };
}

/** Removes what capabilities know about the resource. It comes first, because the erasure then rewrites the files. */
async function eraseElsewhere(store: Store, id: string): Promise<string[]> {
  const done: string[] = [];
  for (const { erase } of await inStores()) {
    const line = await erase?.(store, id, Date.now());
    if (line !== undefined) done.push(line);
  }
  return done;
}

/** Records of the service itself, such as an account, are left out: they have no history. */
function affectedLines(affected: Erased["affected"]): string[] {
  const others = affected.filter(({ collection }) => !isInternal(collection));
  // A resource can be in the list twice: first changed, then deleted.
  const isDeleted = new Map(
    others.map(({ collection, id, isDeleted }) => [`${collection} ${id}`, isDeleted]),
  );
  const deleted = [...isDeleted.keys()].filter((key) => isDeleted.get(key));
  const changed = isDeleted.size - deleted.length;
  const lines = changed === 0 ? [] : [`removed references to it from ${counted(changed, "resource")}`];
  if (deleted.length === 0) return lines;
  return [
    ...lines,
    `deleted ${counted(deleted.length, "resource")} because of references to it. The store keeps their history; to erase it too, run:`,
    ...deleted.map((key) => withCommand(`  npx holdfast erase ${key}`)),
  ];
}
