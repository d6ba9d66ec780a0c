/**
 * Whether what the store holds fits what is declared: the start asks before it takes a changed declaration over, and
 * an import before it adds to what is there. `holdfast check` asks `fit/misfits.ts` to tell.
 */
import { isDeepStrictEqual } from "node:util";
import type { Collection } from "./collection/collection.ts";
import { formatPath } from "./collection/paths.ts";
import type { Reference } from "./collection/refers.ts";
import type { Config } from "./config.ts";
import { StartError } from "./errors.ts";
import { type CheckName, checkNames, describeViolations, findMisfits, type Misfits } from "./fit/misfits.ts";
import type { CollectionRecord } from "./store/record.ts";
import { isDeclared, recordOf } from "./store/record.ts";
import type { Store } from "./store/store.ts";

/**
 * What the store's catalogue should become on start. Where something is declared that the resources are not known to
 * fit, they are checked first. Throws StartError when some do not fit, unless `config.accept`.
 */
export async function planStart(store: Store, config: Config): Promise<readonly CollectionRecord[]> {
  const plan: CollectionRecord[] = [];
  for (const collection of config.collections.values()) {
    if (!config.accept) await requireFit(store, collection, checkNames);
    plan.push(recordOf(collection));
  }
  return [...plan, ...unbound(store.collections(), config)];
}

/** Throws StartError where the store would have to be changed to be as planned; a collection that it does not have is empty. */
export function requireDeclared(store: Pick<Store, "collections">, plan: readonly CollectionRecord[]): void {
  const known = store.collections();
  const changed = plan.find(
    (record) => known.has(record.name) && !isDeclared(known.get(record.name), record),
  );
  if (changed === undefined) return;
  throw new StartError(
    `The declaration of ${changed.name} has changed, and a read-only service cannot apply it to the store. Start the service once without readOnly.`,
  );
}

/** How to start a service although resources do not fit. */
const startAdvice = ", or start the service anyway with --accept.";

/**
 * Throws StartError if resources do not fit the declaration in one of the ways, and they are not known to fit. The message
 * ends with the advice.
 */
export async function requireFit(
  store: Pick<Store, "scan" | "collections">,
  collection: Collection,
  ways: readonly CheckName[],
  advice = startAdvice,
): Promise<void> {
  const before = store.collections().get(collection.name);
  if (before === undefined) return;
  const names = ways.filter((name) => hasChanged[name](before, collection));
  for (const [name, misfits] of await findMisfits(store, collection, { names, shown: 1 })) {
    const [misfit] = misfits.first;
    if (misfit === undefined) continue;
    throw new StartError(
      `${complaints[name](collection.name, misfits)} ` +
        `(first ${JSON.stringify(misfit.id)}: ${describeViolations(misfit.violations)}). ` +
        `List them with "npx holdfast check"${advice}`,
    );
  }
}

/** Whether the resources are not known to fit a part of the declaration yet. */
const hasChanged: Record<CheckName, (before: CollectionRecord, now: Collection) => boolean> = {
  // Of the service's own times, where they are, the schema knows nothing.
  schema: (before, now) =>
    now.timestamps === (before.timestamps ?? false)
      ? now.schema !== undefined && before.schema !== now.schema
      : now.timestamps || now.schema !== undefined,
  unique: (before, now) => !isDeepStrictEqual(before.unique ?? [], now.unique),
  references: (before, now) => !isDeepStrictEqual(leads(before.references), leads(now.references)),
};

function leads(references: readonly Reference[] = []): [string, string][] {
  return references.map(({ path, collection }) => [formatPath(path), collection]);
}

const complaints: Record<CheckName, (collection: string, misfits: Misfits) => string> = {
  schema: (name, { count, checked }) =>
    `The declaration of ${name} has changed, and ${count} of its ${checked} resources ` +
    `${count === 1 ? "does" : "do"} not fit it`,
  unique: (name, { count }) =>
    `In ${name}, ${count === 1 ? "one resource repeats" : `${count} resources repeat`} the value of another in ` +
    "an attribute that is now unique",
  references: (name, { count }) =>
    `In ${name}, ${count === 1 ? "one resource refers" : `${count} resources refer`} to a resource that does not exist`,
};

/** Collections that anything may be written to from now on: nobody knows any more what they fit. */
function unbound(
  known: ReadonlyMap<string, CollectionRecord>,
  { collections, openCollections }: Config,
): readonly CollectionRecord[] {
  if (!openCollections) return [];
  return [...known.values()]
    .filter(
      ({ name, schema, unique = [], references = [], timestamps = false }) =>
        (timestamps || (schema ?? unique[0] ?? references[0]) !== undefined) && !collections.has(name),
    )
    .map((record) => ({ ...record, schema: undefined, unique: [], references: [], timestamps: false }));
}
