/**
 * Whether what the store holds fits what is declared: the start asks before it takes a changed schema over, and
 * `holdfast check` asks to tell.
 */

import { isDeepStrictEqual } from "node:util";
import type { Collection } from "./collection/collection.ts";
import { formatPath } from "./collection/paths.ts";
import { type Reference, type Target, targetsOf } from "./collection/refers.ts";
import { withoutId } from "./collection/resource.ts";
import type { Config } from "./config.ts";
import { StartError, type Violation } from "./errors.ts";
import { KnownIds } from "./fit/known-ids.ts";
import { SeenValues } from "./fit/seen-values.ts";
import { toFragment } from "./json/pointer.ts";
import { recordOf } from "./store/record.ts";
import type { CollectionRecord, Store } from "./store/store.ts";

/** A resource that does not fit. */
export interface Misfit {
  id: string;
  violations: readonly Violation[];
}

/** What of a collection does not fit its declaration. */
export interface Misfits {
  /** How many resources were looked at. */
  checked: number;
  /** How many of them do not fit. */
  count: number;
  /** The first of those, in id order. */
  first: readonly Misfit[];
}

/** Where the resources are read from. */
export type Scannable = Pick<Store, "scan">;

/** Checks every resource of a collection against its declaration. */
export async function findMisfits(
  store: Scannable,
  collection: Collection,
  { shown }: { shown: number },
): Promise<Misfits> {
  const first: Misfit[] = [];
  let checked = 0;
  let count = 0;
  for await (const { id, text } of store.scan(collection.name)) {
    checked++;
    const violations = collection.validate(withoutId(JSON.parse(text) as Record<string, unknown>));
    if (violations.length === 0) continue;
    count++;
    if (first.length < shown) first.push({ id, violations });
  }
  return { checked, count, first };
}

/** Finds resources that have the value of one before them, in id order, in a unique attribute. */
export async function findCollisions(
  store: Scannable,
  { name, unique }: Collection,
  { shown }: { shown: number },
): Promise<Misfits> {
  const first: Misfit[] = [];
  let checked = 0;
  let count = 0;
  const seen = new SeenValues();
  try {
    for await (const { id, text } of unique.length === 0 ? [] : store.scan(name)) {
      checked++;
      const attributes = JSON.parse(text) as Record<string, unknown>;
      const violations = unique.flatMap((each, n) => seen.collision(n, each, { id, attributes }));
      if (violations.length === 0) continue;
      count++;
      if (first.length < shown) first.push({ id, violations });
    }
  } finally {
    seen.close();
  }
  return { checked, count, first };
}

/** Finds resources that refer to others which are not there. */
export async function findLost(
  store: Scannable,
  { name, references }: Collection,
  { shown }: { shown: number },
): Promise<Misfits> {
  const first: Misfit[] = [];
  let checked = 0;
  let count = 0;
  const known = new KnownIds();
  try {
    for (const collection of new Set(references.map((reference) => reference.collection)))
      for await (const { id } of store.scan(collection)) known.add(collection, id);
    for await (const { id, text } of references.length === 0 ? [] : store.scan(name)) {
      checked++;
      const attributes = JSON.parse(text) as Record<string, unknown>;
      const lost = targetsOf(attributes, references).filter(
        (target) => !known.has(target.reference.collection, target.id),
      );
      if (lost.length === 0) continue;
      count++;
      if (first.length < shown) first.push({ id, violations: lost.map(lostViolation) });
    }
  } finally {
    known.close();
  }
  return { checked, count, first };
}

function lostViolation({ at, reference }: Target): Violation {
  const detail = `is not the id of a resource of ${reference.collection}`;
  return { in: "body", pointer: toFragment(at), code: "reference", detail };
}

/**
 * What the store's catalogue should become on start. Where a declared schema is not the one that the resources
 * are known to fit, they are checked first. Throws StartError when some do not fit, unless `config.accept`.
 */
export async function planStart(store: Store, config: Config): Promise<readonly CollectionRecord[]> {
  const known = store.collections();
  const plan: CollectionRecord[] = [];
  for (const collection of config.collections.values()) {
    const { name, schema } = collection;
    const before = known.get(name);
    const mayMisfit = before !== undefined && schema !== undefined && before.schema !== schema;
    if (mayMisfit && !config.accept) await requireFit(store, collection);
    if (!config.accept) await requireOnce(store, collection);
    if (!config.accept) await requireFound(store, collection);
    plan.push(recordOf(collection));
  }
  return [...plan, ...unbound(known, config)];
}

/** Collections that anything may be written to from now on: nobody knows any more what they fit. */
function unbound(
  known: ReadonlyMap<string, CollectionRecord>,
  { collections, openCollections }: Config,
): readonly CollectionRecord[] {
  if (!openCollections) return [];
  return [...known.values()]
    .filter(
      ({ name, schema, unique = [], references = [] }) =>
        (schema ?? unique[0] ?? references[0]) !== undefined && !collections.has(name),
    )
    .map((record) => ({ ...record, schema: undefined, unique: [], references: [] }));
}

async function requireFit(store: Store, collection: Collection): Promise<void> {
  const { checked, count, first } = await findMisfits(store, collection, { shown: 1 });
  const [misfit] = first;
  if (misfit === undefined) return;
  throw new StartError(
    `The schema of ${collection.name} has changed, and ${count} of its ${checked} resources do not fit it ` +
      `(first ${JSON.stringify(misfit.id)}: ${describeViolations(misfit.violations)}): ` +
      `"holdfast check" lists them, --accept starts nevertheless.`,
  );
}

/** Throws StartError when values are there twice in attributes that were not known to be unique yet. */
export async function requireOnce(
  store: Pick<Store, "scan" | "collections">,
  collection: Collection,
): Promise<void> {
  const before = store.collections().get(collection.name);
  if (before === undefined || isDeepStrictEqual(before.unique ?? [], collection.unique)) return;
  const { count, first } = await findCollisions(store, collection, { shown: 1 });
  const [misfit] = first;
  if (misfit === undefined) return;
  throw new StartError(
    `Of ${collection.name}, ${count === 1 ? "one resource has" : `${count} resources have`} the value of another in ` +
      `an attribute that is now unique (first ${JSON.stringify(misfit.id)}: ${describeViolations(misfit.violations)}): ` +
      `"holdfast check" lists them, --accept starts nevertheless.`,
  );
}

/** Throws StartError when ids lead nowhere in attributes that were not known to be references yet. */
export async function requireFound(
  store: Pick<Store, "scan" | "collections">,
  collection: Collection,
): Promise<void> {
  const before = store.collections().get(collection.name);
  if (before === undefined || isDeepStrictEqual(leads(before.references), leads(collection.references)))
    return;
  const { count, first } = await findLost(store, collection, { shown: 1 });
  const [misfit] = first;
  if (misfit === undefined) return;
  throw new StartError(
    `Of ${collection.name}, ${count === 1 ? "one resource refers" : `${count} resources refer`} to what is not there ` +
      `(first ${JSON.stringify(misfit.id)}: ${describeViolations(misfit.violations)}): ` +
      `"holdfast check" lists them, --accept starts nevertheless.`,
  );
}

function leads(references: readonly Reference[] = []): [string, string][] {
  return references.map(({ path, collection }) => [formatPath(path), collection]);
}

const shownViolations = 3;

/** What is wrong with a resource, in one line. */
export function describeViolations(violations: readonly Violation[]): string {
  const shown = violations
    .slice(0, shownViolations)
    .map(({ pointer, detail }) =>
      pointer === undefined || pointer === "#" ? detail : `${pointer} ${detail}`,
    );
  const more = violations.length - shown.length;
  return more > 0 ? `${shown.join("; ")}; and ${more} more` : shown.join("; ");
}
