/** What a delete does to the resources that refer to the deleted one (`onDelete`). */
import { clearReference } from "../../../collection/references.ts";
import { resourceText } from "../../../collection/resource.ts";
import { clientAttributes, withTimestamps } from "../../../collection/timestamps.ts";
import { isInternal } from "../../port/record.ts";
import type { Plan } from "../../sql/plans.ts";
import type { Referrer } from "../catalogue.ts";
import { findTaken } from "./constraints.ts";
import type { ReadLimit } from "./lookups.ts";
import {
  cascadeTooLarge,
  type Refusal,
  refersToDeleted,
  refuseDamaged,
  stillReferenced,
  valueTakenByClearing,
} from "./refusals.ts";
import type { Judging, ResolvedChange, ResolvedCommit } from "./resolved-commit.ts";
import type { OriginOf, ResourceState, StagedResource } from "./staged-changes.ts";

/** With this many changes, other writers wait for a second or less. */
const maxResources = 10_000;

/** This much text fits into memory and is written within seconds. In bytes, before the changes. */
export const maxCascadeText = 16 * 1024 * 1024;

type Deleting = Pick<ResolvedCommit, "changes" | "at" | "maxCascadeText">;

/** One resource is enough to break a restricted reference. */
const oneResource: ReadLimit = { resources: 1, text: 0 };

/** A deleted resource, with the index of the change that deletes it or that it follows from. */
interface Deleted {
  name: string;
  id: string;
  change: number;
}

/** Stages the changes that follow from the deletes of a commit. The commit's own changes must be staged already. */
export function propagateDeletes(
  judging: Judging,
  commit: Deleting,
  originOf: OriginOf,
): Plan<Refusal | undefined> {
  return new DeletePropagation(judging, commit, originOf).run();
}

/**
 * Finds the first `most` resources that still refer to deleted ones after all changes, whatever their `onDelete` is. Leaves out
 * internal collections. The changes must be staged already.
 */
export function* findReferrersOfDeleted(
  judging: Judging,
  changes: readonly ResolvedChange[],
  most: number,
): Plan<Refusal[]> {
  const found: Refusal[] = [];
  const deleted = changes.flatMap(({ collection: { name }, id, next }, change): Deleted[] =>
    next === undefined ? [{ name, id, change }] : [],
  );
  for (const [name, own] of Map.groupBy(deleted, (each) => each.name)) {
    const byId = new Map(own.map((each) => [each.id, each]));
    for (const referrer of judging.catalogue().referrersTo(name)) {
      if (isInternal(referrer.from.name)) continue;
      const limit = { resources: most - found.length, text: maxCascadeText };
      if (limit.resources <= 0) return found;
      const referrers = yield* referrersOf(judging, referrer, { ids: new Set(byId.keys()), limit });
      for (const [{ id: by }, id] of referrers.slice(0, limit.resources))
        found.push(refersToDeleted(`${referrer.from.name}/${by}`, id, (byId.get(id) as Deleted).change));
    }
  }
  return found;
}

/** The changes that follow from the deletes of one commit. */
class DeletePropagation {
  readonly #judging: Judging;
  readonly #at: number;
  readonly #originOf: OriginOf;
  readonly #changes: readonly ResolvedChange[];
  readonly #restricted: { referrer: Referrer; deleted: readonly Deleted[] }[] = [];
  /** The resources that can have a new unique value without their references. */
  readonly #cleared: { from: Referrer["from"]; resource: StagedResource; deleted: Deleted }[] = [];
  #ownResources: ReadonlySet<string> | undefined;
  readonly #maxText: number;
  #resourceCount = 0;
  #textBytes = 0;

  constructor(judging: Judging, commit: Deleting, originOf: OriginOf) {
    const { changes, at, maxCascadeText: most = maxCascadeText } = commit;
    this.#judging = judging;
    this.#maxText = Math.min(most, maxCascadeText);
    this.#at = at;
    this.#changes = changes;
    this.#originOf = originOf;
  }

  /** Each wave contains the resources that the previous wave deleted. */
  *run(): Plan<Refusal | undefined> {
    let wave = this.#changes.flatMap(({ collection: { name }, id, next }, change): Deleted[] =>
      next === undefined ? [{ name, id, change }] : [],
    );
    while (wave.length > 0) {
      const next: Deleted[] = [];
      for (const [name, deleted] of Map.groupBy(wave, (each) => each.name)) {
        for (const referrer of this.#judging.catalogue().referrersTo(name)) {
          const refusal = yield* this.#follow(referrer, deleted, next);
          if (refusal !== undefined) return refusal;
        }
      }
      wave = next;
    }
    return (yield* this.#findRestricted()) ?? (yield* this.#findTaken());
  }

  *#follow(referrer: Referrer, deleted: readonly Deleted[], next: Deleted[]): Plan<Refusal | undefined> {
    if (referrer.reference.onDelete === "restrict") {
      this.#restricted.push({ referrer, deleted });
      return undefined;
    }
    const byId = new Map(deleted.map((each) => [each.id, each]));
    const limit = {
      resources: maxResources - this.#resourceCount + 1,
      text: this.#maxText - this.#textBytes,
    };
    for (const [resource, id] of yield* referrersOf(this.#judging, referrer, {
      ids: new Set(byId.keys()),
      limit,
    })) {
      const refusal = this.#followOne(referrer, resource, byId.get(id) as Deleted, next);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  #followOne(
    { from, reference }: Referrer,
    resource: StagedResource,
    deleted: Deleted,
    next: Deleted[],
  ): Refusal | undefined {
    const { now } = resource;
    const { id, change } = deleted;
    if (now === undefined) return undefined; // another reference has deleted it
    this.#ownResources ??= new Set(this.#changes.map((each) => `${each.collection.name}/${each.id}`));
    if (this.#ownResources.has(`${from.name}/${resource.id}`)) return stillReferenced(id, change);
    const damaged = refuseDamaged(from.name, resource.id, resource.before);
    if (damaged !== undefined) return damaged;
    const limit = this.#countChange(now);
    if (limit !== undefined) return cascadeTooLarge(id, change, limit);
    // The clock may have been set back, but the time in a resource must not go back.
    const at = from.timestamps ? Math.max(this.#at, now.updatedAt) : this.#at;
    const text =
      reference.onDelete === "cascade"
        ? undefined
        : textWithoutReference({ from, reference }, now, { id, ownId: resource.id, at });
    const origin = this.#originOf(this.#changes[change] as ResolvedChange);
    this.#judging.staged.stage(from, resource, { next: text, at }, origin);
    if (text === undefined) next.push({ name: from.name, id: resource.id, change });
    // A missing attribute never conflicts, but the filter of a unique attribute can match without it.
    else if (from.unique.some(({ where }) => where !== undefined))
      this.#cleared.push({ from, resource, deleted });
    return undefined;
  }

  /** Counts one more changed resource. Returns the limit that it exceeds. */
  #countChange({ text }: ResourceState): string | undefined {
    this.#resourceCount++;
    this.#textBytes += Buffer.byteLength(text);
    if (this.#resourceCount > maxResources) return `${maxResources.toLocaleString("en")} resources`;
    if (this.#textBytes <= this.#maxText) return undefined;
    return this.#maxText === maxCascadeText
      ? `${maxCascadeText / 1024 / 1024} MiB of resources`
      : `${this.#maxText.toLocaleString("en")} bytes of other resources`;
  }

  /** Finds a resource with a unique value that another one has, now that its reference is cleared. */
  *#findTaken(): Plan<Refusal | undefined> {
    for (const { from, resource, deleted } of this.#cleared) {
      if (resource.now === undefined) continue; // another reference has deleted it
      const attributes = JSON.parse(resource.now.text) as Record<string, unknown>;
      const taken = yield* findTaken(this.#judging, from, { id: resource.id, attributes });
      if (taken !== undefined) return valueTakenByClearing(deleted.id, deleted.change);
    }
    return undefined;
  }

  /** Finds a resource that still refers to a deleted one. This is known only after all other changes are staged. */
  *#findRestricted(): Plan<Refusal | undefined> {
    for (const { referrer, deleted } of this.#restricted) {
      const ids = new Set(deleted.map(({ id }) => id));
      const [found] = yield* referrersOf(this.#judging, referrer, { ids, limit: oneResource });
      if (found === undefined) continue;
      const { id, change } = deleted.find((each) => each.id === found[1]) as Deleted;
      return stillReferenced(id, change);
    }
    return undefined;
  }
}

/**
 * The resources that refer to one of the ids, in the order of their own ids, each with the id that it refers to. The
 * limit is for resources that are not staged yet.
 */
function* referrersOf(
  { staged, lookups }: Judging,
  referrer: Referrer,
  { ids, limit }: { ids: ReadonlySet<string>; limit: ReadLimit },
): Plan<readonly [StagedResource, string][]> {
  const { from, reference } = referrer;
  const collection = staged.of(from);
  const targetsIn = (state: ResourceState | undefined) =>
    state === undefined ? [] : staged.targetsOf(state, reference).filter((id) => ids.has(id));
  const known = new Set<string>();
  for (const { id, before } of collection.resources) if (targetsIn(before).length > 0) known.add(id);
  const found = yield* lookups.referrers(referrer, { ids: [...ids], known, limit });
  for (const { id, state } of found) staged.note(from, id, state);
  return [...collection.resources]
    .flatMap((resource) => targetsIn(resource.now).map((id): [StagedResource, string] => [resource, id]))
    .sort(([a], [b]) => (a.id < b.id ? -1 : Number(a.id > b.id)));
}

/** The text of a resource without its reference to an id. */
function textWithoutReference(
  { from: { idKind, timestamps }, reference }: Referrer,
  resource: ResourceState,
  { id, ownId, at }: { id: string; ownId: string; at: number },
): string {
  const attributes = clientAttributes({ timestamps }, JSON.parse(resource.text));
  clearReference(attributes, reference, id);
  return resourceText(idKind, ownId, timestamps ? withTimestamps(attributes, at, resource) : attributes);
}
