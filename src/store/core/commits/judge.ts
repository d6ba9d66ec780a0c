/** Decides whether a store accepts a commit. */
import { matches } from "../../../query/filter.ts";
import { nameOfTarget, nextTargets, type Target, targetIn } from "../../../query/targets.ts";
import type { AffectedResource } from "../../port/change-log.ts";
import type { Receipt, Requirement } from "../../port/commit.ts";
import type { Plan } from "../../sql/plans.ts";
import { canBeId } from "../entries.ts";
import { findBrokenConstraints } from "./constraints.ts";
import { findReferrersOfDeleted, propagateDeletes } from "./deletes.ts";
import {
  changedByStep,
  collectionChanged,
  deleteDamaged,
  keyReused,
  maxRefusals,
  type Refusal,
  refuseDamaged,
  requirementNotMet,
  staleVersion,
  tooManyReceipts,
} from "./refusals.ts";
import type { ExpectedSequence, Judging, ResolvedChange, ResolvedCommit } from "./resolved-commit.ts";
import type {
  Origin,
  OriginOf,
  ResourceState,
  StagedChange,
  StagedChanges,
  StagedResource,
} from "./staged-changes.ts";

/** An accepted commit. */
export interface Accepted {
  /** The changes of the commit, then those that follow from its deletes, then those of its earlier steps. None for a dry run. */
  changes: readonly StagedChange[];
  /** How many of the changes are in the commit itself. */
  own: number;
}

/** The decision about a commit. */
export type Verdict = Accepted | { refusal: Refusal };

/**
 * Decides about a commit. If it accepts the commit, it stages its changes and what follows from its deletes. If it
 * refuses the commit, or if it is a dry run, it stages nothing.
 */
export function* judge(judging: Judging, commit: ResolvedCommit): Plan<Verdict> {
  const { staged } = judging;
  const { changes, receipt, at, principal } = commit;
  if (receipt !== undefined) {
    const refusal = yield* refuseReceipt(judging, receipt, at);
    if (refusal !== undefined) return { refusal };
  }
  if (commit.whole !== undefined) {
    const refusal = refuseChanged(judging, commit.whole);
    if (refusal !== undefined) return { refusal };
  }
  // Before anything is staged: a requirement is about the related resources as they are before the commit.
  const unmet = commit.requires && (yield* refuseUnmet(judging, commit.requires));
  const before = staged.size;
  const originOf = originsOf(principal);
  let first = before;
  let earlier = 0;
  for (const step of stepsOf(commit)) {
    first = staged.size;
    const refusal = yield* stageStep(judging, step, { originOf, from: before });
    if (refusal !== undefined) {
      staged.takeBack(before);
      const { change } = refusal;
      return { refusal: change === undefined ? refusal : { ...refusal, change: earlier + change } };
    }
    earlier += step.changes.length;
  }
  // A reference that leads nowhere is the reason to name, so this comes last.
  if (unmet !== undefined) {
    staged.takeBack(before);
    return { refusal: unmet };
  }
  if (commit.isDryRun) {
    staged.takeBack(before);
    return { changes: [], own: 0 };
  }
  if (receipt !== undefined)
    staged.receipts.set(receipt.key, { ...receipt, at, replaces: judging.lookups.hasReceipt(receipt.key) });
  const all = staged.after(before);
  if (all.length > 1) {
    const group = judging.nextGroup();
    for (const { origin } of all) origin.group = group;
  }
  if (first === before) return { changes: all, own: changes.length };
  return { changes: [...all.slice(first - before), ...all.slice(0, first - before)], own: changes.length };
}

/** Refuses a commit if a related resource is not as a change requires it. Nothing of the commit is staged yet. */
function* refuseUnmet(
  judging: Judging,
  requires: readonly (Requirement & { change: number })[],
): Plan<Refusal | undefined> {
  const present = new Map<string, Record<string, unknown> | undefined>();
  for (const { filter, resource, targets, change } of requires) {
    const known = new Map<string, Record<string, unknown> | undefined>();
    for (const target of targets) {
      const name = nameOfTarget(target);
      if (target.text !== undefined) {
        known.set(name, target.text === null ? undefined : JSON.parse(target.text));
        continue;
      }
      if (!present.has(name)) {
        const state = yield* stateOf(judging, target);
        const refusal = refuseDamaged(target.collection, target.id, state);
        if (refusal !== undefined) return { ...refusal, change };
        present.set(name, state && JSON.parse(state.text));
      }
      known.set(name, present.get(name));
    }
    // Another target, to which a reference leads by now, is not among them.
    const isComplete = nextTargets(filter, resource, known).length === 0;
    if (!isComplete || !matches(filter, resource, targetIn(known))) return requirementNotMet(change);
  }
  return undefined;
}

/** The state of a resource after the staged changes. */
function* stateOf(
  { catalogue, staged, lookups }: Judging,
  { collection: name, id }: Target,
): Plan<ResourceState | undefined> {
  const collection = catalogue().byName.get(name);
  if (collection === undefined || !canBeId(id)) return undefined;
  const resource = staged.isEmpty ? undefined : staged.find(collection, id);
  return resource === undefined ? (yield* lookups.states(collection, [id])).get(id) : resource.now;
}

/** The steps of a commit, each as a commit. Most commits have one, which is the commit itself. */
function stepsOf(commit: ResolvedCommit): readonly ResolvedCommit[] {
  return [...(commit.steps ?? []).map((changes) => ({ ...commit, changes })), commit];
}

/** Stages the changes of one step, and what follows from its deletes. `from`: the number of staged changes before the commit. */
function* stageStep(
  judging: Judging,
  commit: ResolvedCommit,
  { originOf, from }: { originOf: OriginOf; from: number },
): Plan<Refusal | undefined> {
  const { staged, lookups } = judging;
  const { changes, at } = commit;
  const resources = new Array<StagedResource>(changes.length);
  const { isEmpty } = staged; // no step changes a resource twice
  for (let index = 0; index < changes.length; index++) {
    const change = changes[index] as ResolvedChange;
    const { collection, id, expect, expectText } = change;
    let resource = isEmpty ? undefined : staged.find(collection, id);
    if (resource === undefined) {
      const before = (yield lookups.resource(collection, id)) as ResourceState | undefined;
      resource = staged.noteNew(collection, id, before);
    }
    if (resource.now === resource.before && commit.mayBeDamaged !== true) {
      const refusal = refuseDamaged(collection.name, id, resource.before);
      if (refusal !== undefined) return refusal;
    }
    resources[index] = resource;
    const isOther = expectText !== undefined && resource.now?.text !== expectText;
    const isStale = isOther || (resource.now?.version ?? "absent") !== expect;
    if (isStale)
      return isChangedAfter(staged, from, change)
        ? changedByStep(id, index)
        : staleVersion(id, expect, resource.now);
    const refusal =
      change.after !== undefined
        ? yield* refuseRestore(judging, change)
        : change.last !== undefined
          ? yield* refuseChosen(judging, change)
          : undefined;
    if (refusal !== undefined) return refusal;
  }
  const toCheck = stageAll(judging, { changes, resources, at }, originOf);
  if (toCheck === undefined) return undefined;
  return yield* refuseStaged(judging, { commit, resources: toCheck, originOf });
}

function isChangedAfter(staged: StagedChanges, first: number, { collection, id }: ResolvedChange): boolean {
  return staged.after(first).some((each) => each.id === id && each.collection.number === collection.number);
}

/** The origins of the changes of a commit: one, and another one for each other principal of a delete. */
function originsOf(principal: string | null): OriginOf {
  const origin: Origin = { principal, group: null };
  let others: Map<string, Origin> | undefined;
  return ({ principal: own }) => {
    if (own === undefined || own === principal) return origin;
    others ??= new Map();
    const other = others.get(own) ?? { principal: own, group: null };
    others.set(own, other);
    return other;
  };
}

/** The resources that changed because the commit deleted others. */
export function affectedBy({ changes, own }: Accepted): readonly AffectedResource[] {
  return changes
    .slice(own)
    .map(({ collection, id, next }) => ({ collection: collection.name, id, isDeleted: next === undefined }));
}

/** Refuses a commit if a collection has other changes than the ones it expects. */
function refuseChanged(
  { staged, sequenceOf }: Judging,
  whole: readonly ExpectedSequence[],
): Refusal | undefined {
  for (const { collection, sequence } of whole) {
    if (sequenceOf(collection) + staged.countOf(collection) !== sequence)
      return collectionChanged(collection.name);
  }
  return undefined;
}

/** Refuses staged changes that break a constraint. Otherwise stages what follows from their deletes. */
function* refuseStaged(
  judging: Judging,
  {
    commit,
    resources,
    originOf,
  }: { commit: ResolvedCommit; resources: readonly unknown[]; originOf: OriginOf },
): Plan<Refusal | undefined> {
  const { changes, whole } = commit;
  const most = whole === undefined ? 1 : maxRefusals;
  const [first, ...others] = yield* findBrokenConstraints(judging, changes, resources, most);
  if (whole === undefined) return first ?? (yield* propagateDeletes(judging, commit, originOf));
  const all = first === undefined ? [] : [first, ...others];
  all.push(...(yield* findReferrersOfDeleted(judging, changes, maxRefusals - all.length)));
  const [refusal, ...rest] = all;
  if (refusal !== undefined) return { ...refusal, others: rest };
  // Only records of the service itself still refer to what is deleted.
  return yield* propagateDeletes(judging, commit, originOf);
}

function* refuseReceipt(
  { staged, lookups, maxReceipts }: Judging,
  { key }: Receipt,
  at: number,
): Plan<Refusal | undefined> {
  if (staged.receipts.has(key)) return keyReused;
  const expiresAt = yield* lookups.receipt(key);
  if (expiresAt !== undefined && expiresAt > at) return keyReused;
  const count = yield* lookups.receiptCount();
  return count + staged.receipts.size >= maxReceipts ? tooManyReceipts : undefined;
}

/**
 * Refuses a restore if the last change of the resource is not the expected delete. An erased resource has no last change. If the last
 * delete was made without history, the log has an older one.
 */
function* refuseRestore(
  { staged, lookups }: Judging,
  { collection, id, after = 0, expect }: ResolvedChange,
): Plan<Refusal | undefined> {
  const last = staged.lastChangeOf(collection, id);
  const version = last?.version ?? (yield* lookups.deleted(collection, [id])).get(id) ?? 0;
  if (version === after) return undefined;
  const logged = last === undefined ? yield* lookups.lastLogged(collection, id) : undefined;
  if (logged?.version !== after || (version > after && logged.canBeOlder))
    return staleVersion(id, expect, undefined);
  return deleteDamaged(collection.name, id);
}

/** Refuses a create with a chosen id if the id has another last version by now. */
function* refuseChosen(
  { staged, lookups }: Judging,
  { collection, id, last = 0, expect }: ResolvedChange,
): Plan<Refusal | undefined> {
  const change = staged.lastChangeOf(collection, id);
  const version = change?.version ?? (yield* lookups.lastVersions(collection, [id])).get(id) ?? 0;
  return version === last ? undefined : staleVersion(id, expect, undefined);
}

/** Stages changes of resources. If they can break a constraint, it returns their parsed texts. */
function stageAll(
  { staged, catalogue }: Judging,
  {
    changes,
    resources,
    at,
  }: { changes: readonly ResolvedChange[]; resources: readonly StagedResource[]; at: number },
  originOf: OriginOf,
): readonly unknown[] | undefined {
  let parsed: unknown[] | undefined;
  for (let index = 0; index < changes.length; index++) {
    const change = changes[index] as ResolvedChange;
    const { collection, next, last, after = last } = change;
    const isConstrained =
      next === undefined
        ? catalogue().referrersTo(collection.name).length > 0
        : collection.unique.length > 0 || collection.references.length > 0;
    const attributes = isConstrained && next !== undefined ? JSON.parse(next) : undefined;
    const resource = resources[index] as StagedResource;
    staged.stage(collection, resource, { next, after, attributes, at }, originOf(change));
    if (!isConstrained) continue;
    parsed ??= [];
    parsed[index] = attributes;
  }
  return parsed;
}
