/**
 * Decides whether the resources in the store fit the declared collections. The start needs this before it applies a changed
 * declaration, and an import before it adds resources. `holdfast check` uses `fit/misfits.ts`.
 */
import { isDeepStrictEqual } from "node:util";
import type { Collection } from "./collection/collection.ts";
import { describeViolations } from "./collection/messages.ts";
import { formatPath } from "./collection/paths.ts";
import type { Reference } from "./collection/references.ts";
import type { Config } from "./config.ts";
import { StartError } from "./errors.ts";
import { type CheckName, checkNames, findMisfits, type Misfits } from "./fit/misfits.ts";
import { type CollectionRecord, isDeclared, isInternal, recordOf } from "./store/port/record.ts";
import type { Store } from "./store/port/store.ts";

/**
 * The records of the collections that the store must have after the start. Throws StartError if stored resources do not fit
 * a changed declaration, unless `config.accept`.
 */
export async function planStart(store: Store, config: Config): Promise<readonly CollectionRecord[]> {
  const plan: CollectionRecord[] = [];
  for (const collection of config.collections.values()) {
    if (!config.accept) await requireFit(store, collection, checkNames);
    plan.push(recordOf(collection));
  }
  return [...plan, ...releasedRecords(store.collections(), config)];
}

/** Throws StartError if a collection of the store differs from the plan. A collection that the store does not have is empty. */
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

const startAdvice = ", or start the service anyway with --accept.";

/**
 * Runs the checks whose part of the declaration has changed since the resources were last checked. Throws StartError if
 * resources do not fit. The message ends with `advice`.
 */
export async function requireFit(
  store: Pick<Store, "scan" | "collections">,
  collection: Collection,
  checks: readonly CheckName[],
  advice = startAdvice,
): Promise<void> {
  const before = store.collections().get(collection.name);
  if (before === undefined) return;
  const names = checks.filter((name) => hasChanged[name](before, collection));
  for (const [name, misfits] of await findMisfits(store, collection, { names, maxListed: 1 })) {
    const [misfit] = misfits.first;
    if (misfit === undefined) continue;
    throw new StartError(
      `${complaints[name](collection.name, misfits)} ` +
        `(first ${JSON.stringify(misfit.id)}: ${describeViolations(misfit.violations)}). ` +
        `List them with "npx holdfast check"${advice}`,
    );
  }
}

/** Whether a part of the declaration has changed since the resources were last checked. */
const hasChanged: Record<CheckName, (before: CollectionRecord, now: Collection) => boolean> = {
  // With `timestamps`, the schema does not describe two attributes of the stored resources.
  schema: (before, now) =>
    now.timestamps === (before.timestamps ?? false)
      ? now.schema !== undefined && before.schema !== now.schema
      : now.timestamps || now.schema !== undefined,
  unique: (before, now) => !isDeepStrictEqual(before.unique ?? [], now.unique),
  references: (before, now) => !isDeepStrictEqual(targetsOf(before.references), targetsOf(now.references)),
};

function targetsOf(references: readonly Reference[] = []): [string, string][] {
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

/** Collections that are no longer declared, but stay open. Their records lose everything that resources had to fit. */
function releasedRecords(
  known: ReadonlyMap<string, CollectionRecord>,
  { collections, openCollections }: Config,
): readonly CollectionRecord[] {
  if (!openCollections) return [];
  return [...known.values()]
    .filter(
      ({ name, schema, unique = [], references = [], timestamps = false }) =>
        (timestamps || (schema ?? unique[0] ?? references[0]) !== undefined) &&
        !collections.has(name) &&
        !isInternal(name),
    )
    .map((record) => ({ ...record, schema: undefined, unique: [], references: [], timestamps: false }));
}
