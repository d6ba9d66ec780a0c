/** Adds the resources of an import that can be added, and decides at its end whether all their references lead to resources. */
import { formatPath } from "../../../collection/paths.ts";
import { type Reference, referencedIds } from "../../../collection/references.ts";
import type { Unique } from "../../../collection/unique.ts";
import { toFragment } from "../../../json/pointer.ts";
import { isEqualJson } from "../../port/record.ts";
import type { Added, ImportedResource, Refused } from "../../port/store.ts";
import type { Stored } from "../../port/stored.ts";
import type { Plan } from "../../sql/plans.ts";
import type { NumberedCollection } from "../catalogue.ts";
import { canBeId } from "../entries.ts";
import { exists, findDangling, findTaken, type ParsedResource } from "./constraints.ts";
import { problemOf, type Refusal, refuseDamaged } from "./refusals.ts";
import type { Judging, WriteParts } from "./resolved-commit.ts";
import type { Origin, StagedChanges } from "./staged-changes.ts";

/** An import in progress. */
export interface Importing<C extends NumberedCollection = NumberedCollection> {
  /** The collections so far. */
  collections: readonly C[];
  /** The collection that receives resources now. */
  collection: C;
  /** Unix time in milliseconds. */
  at: number;
  /** References to these collections are checked when the import finishes. */
  among: readonly string[];
  origin: Origin;
}

/** The number of references that the message names at most. */
const maxNamed = 10;

/** The number of ids that one lookup reads. */
const pageSize = 1_000;

/** Adds the resources that can be added. Throws Overtaken. */
export function* addImported<C extends NumberedCollection>(
  parts: Pick<WriteParts<C>, "write">,
  judging: Judging & { staged: StagedChanges<C> },
  importing: Importing<C>,
  imported: readonly ImportedResource[],
): Plan<Added> {
  const added = yield* judgeImported(judging, importing, imported);
  yield* parts.write(judging.staged);
  return added;
}

/**
 * Stages the resources that can be added. A staged resource has version 1, or if its id was used before,
 * the version after the last one.
 */
function* judgeImported(
  judging: Judging,
  importing: Importing,
  imported: readonly ImportedResource[],
): Plan<Added> {
  const { staged, lookups } = judging;
  const { collection, at, origin } = importing;
  const isConstrained = collection.unique.length > 0 || collection.references.length > 0;
  const refused: Refused[] = [];
  const reused: number[] = [];
  const replaced = imported.filter(({ replaces }) => replaces !== undefined).map(({ id }) => id);
  if (replaced.length > 0) yield* lookups.note(collection, replaced, staged);
  const ids = imported.map(({ id }) => id);
  const taken = new Set((yield* lookups.existing(collection, ids)).keys());
  // After the lookup above: a resource that another instance deletes in between has left its version.
  const versions = yield* lookups.lastVersions(collection, ids);
  // Ids in ascending order do not repeat. A set of new strings costs more than the rest of the decision.
  const canRepeat = ids.some((id, index) => index > 0 && id <= (ids[index - 1] as string));
  const ends = endsOf(origin);
  for (const [position, { id, text, replaces, endedBy }] of imported.entries()) {
    if (replaces === undefined && taken.size > 0 && taken.has(id)) {
      refused.push({ position, pointers: [] });
      continue;
    }
    if (canRepeat) taken.add(id);
    const attributes = isConstrained ? JSON.parse(text) : undefined;
    const before = staged.size;
    const after = versions.get(id);
    const resource = isConstrained
      ? staged.note(collection, id, undefined)
      : staged.noteNew(collection, id, undefined);
    if (resource.now?.version !== replaces) throw new Error(`An import replaces another version of ${id}.`);
    staged.stage(collection, resource, { next: text, at, after, attributes }, origin);
    const isReused = after !== undefined && after > 0 && replaces === undefined;
    if (endedBy !== undefined) {
      if (replaces !== undefined) throw new Error("An import ends a resource that it replaces.");
      staged.stage(collection, resource, { next: undefined, at }, ends(endedBy));
      if (isReused) reused.push(position);
      continue;
    }
    const refusal = isConstrained ? yield* refuseImported(judging, importing, { id, attributes }) : undefined;
    if (refusal === undefined) {
      if (isReused) reused.push(position);
      continue;
    }
    staged.takeBack(before);
    if (replaces === undefined) taken.delete(id);
    refused.push({ position, ...refusal });
  }
  return { refused, reused };
}

/** Returns the origin of the deletes of resources that have expired. */
function endsOf({ group }: Origin): (principal: string) => Origin {
  let origin: Origin | undefined;
  return (principal) => {
    if (origin?.principal !== principal) origin = { principal, group };
    return origin;
  };
}

/** The resources that have these values in a unique attribute, each at the place of its value. Throws DATA_DAMAGED. */
export function* findHolders(
  { staged, lookups }: Judging,
  { collection }: Importing,
  unique: Unique,
  values: readonly string[],
): Plan<(Stored | undefined)[]> {
  const place = collection.uniqueSlots.find((each) => isEqualJson(each.unique, unique));
  if (place === undefined) throw new Error("The collection does not have this unique attribute.");
  const byValue = yield* lookups.holderOf(collection, place, values);
  yield* lookups.note(collection, [...new Set(byValue.values())], staged);
  return values.map((value) => {
    const id = byValue.get(value);
    const state = id === undefined ? undefined : staged.find(collection, id)?.before;
    if (id === undefined || state === undefined) return undefined;
    const damage = refuseDamaged(collection.name, id, state);
    if (damage !== undefined) throw problemOf(damage);
    const { version, text, updatedAt } = state;
    return { id, version, text, updatedAt };
  });
}

/** The reason why a staged resource cannot be added. */
function* refuseImported(
  judging: Judging,
  { collection, among }: Importing,
  { id, attributes }: ParsedResource,
): Plan<Omit<Refused, "position"> | undefined> {
  const taken = yield* findTaken(judging, collection, { id, attributes });
  if (taken !== undefined) return { pointers: taken.pointers };
  const lost = yield* findLostNow(judging, collection.references, { attributes, among });
  return lost === undefined ? undefined : { pointers: [lost], isLost: true };
}

/** A pointer to the first reference that leads to no resource, even after the rest of the import. */
function* findLostNow(
  judging: Judging,
  references: readonly Reference[],
  { attributes, among }: { attributes: Record<string, unknown>; among: readonly string[] },
): Plan<string | undefined> {
  const later = references.filter(({ collection }) => among.includes(collection));
  const never = referencedIds(attributes, later).find(({ id }) => !canBeId(id));
  if (never !== undefined) return toFragment(never.at);
  const others = references.filter(({ collection }) => !among.includes(collection));
  return yield* findDangling(judging, others, attributes);
}

/** Refuses an import if a resource refers to a resource that does not exist. */
export function* refuseLost(
  judging: Judging,
  { collections, among, at }: Importing,
): Plan<Refusal | undefined> {
  const lost: string[] = [];
  for (const collection of collections) {
    for (const reference of collection.references) {
      if (!among.includes(reference.collection)) continue;
      yield* findLost(judging, { from: collection, reference, at }, lost);
      if (lost.length >= maxNamed) break;
    }
  }
  if (lost.length === 0) return undefined;
  const named = `${lost.slice(0, maxNamed).join(", ")}${lost.length < maxNamed ? "" : ", …"}`;
  const detail = `Some references lead to resources that do not exist: ${named}.`;
  return { code: "REFERENCE_NOT_FOUND", detail };
}

interface ImportedReference {
  from: NumberedCollection;
  reference: Reference;
  at: number;
}

/** Checks all ids that a reference contains, and adds each id without a resource to `lost`. */
function* findLost(judging: Judging, searched: ImportedReference, lost: string[]): Plan<void> {
  const { from: collection, reference } = searched;
  let page: readonly string[] = [""];
  do {
    const from = page.at(-1) as string;
    page = yield* judging.lookups.targets(collection, reference, { from, limit: pageSize });
    for (const id of page) {
      if (id === from || (yield* exists(judging, reference.collection, id))) continue;
      const by = yield* findImported(judging, searched, id);
      if (by !== undefined)
        lost.push(`${collection.name}/${by} (${formatPath(reference.path)}: ${reference.collection}/${id})`);
      if (lost.length >= maxNamed) return;
    }
  } while (page.length === pageSize);
}

/** A resource of the import that refers to an id. Resources from before the import do not count: they have other times. */
function* findImported(
  { lookups }: Judging,
  { from, reference, at }: ImportedReference,
  id: string,
): Plan<string | undefined> {
  const known = new Set<string>();
  const limit = { resources: pageSize, text: 1024 * 1024 };
  for (;;) {
    const found = yield* lookups.referrers({ from, reference }, { ids: [id], known, limit });
    const match = found.find(({ state }) => state.updatedAt === at);
    if (match !== undefined || found.length === 0) return match?.id;
    for (const each of found) known.add(each.id);
  }
}
