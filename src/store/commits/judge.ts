/** Decides whether a store accepts a commit. */
import type { Followed } from "../change-log.ts";
import type { Receipt } from "../commit.ts";
import { lookUp } from "../decision.ts";
import { findBrokenConstraint } from "./constraints.ts";
import { followDeletes } from "./deletes.ts";
import type { WriteDecision } from "./lookups.ts";
import { keyReused, type Refusal, staleVersion, tooManyReceipts } from "./refusals.ts";
import type { Judging, ResolvedChange, ResolvedCommit } from "./resolved-commit.ts";
import type { Origin, ResourceState, StagedChange, StagedChanges, StagedResource } from "./staged-changes.ts";

/** An accepted commit. */
export interface Accepted {
  /** The changes of the commit, then those that follow from its deletes. */
  changes: readonly StagedChange[];
  /** How many of the changes are in the commit itself. */
  own: number;
}

/** The decision about a commit. */
export type Verdict = Accepted | { refusal: Refusal };

/**
 * Decides about a commit. If it accepts the commit, it stages the changes and those that follow from deletes. If it
 * refuses the commit, it stages nothing.
 */
export function* judge(judging: Judging, commit: ResolvedCommit): WriteDecision<Verdict> {
  const { staged } = judging;
  const { changes, receipt, at, principal } = commit;
  if (receipt !== undefined) {
    const refusal = yield* refuseReceipt(judging, receipt, at);
    if (refusal !== undefined) return { refusal };
  }
  const resources = new Array<StagedResource>(changes.length);
  const { isEmpty } = staged; // no commit changes a resource twice
  for (let index = 0; index < changes.length; index++) {
    const change = changes[index] as ResolvedChange;
    const { collection, id, expect } = change;
    let resource = isEmpty ? undefined : staged.find(collection, id);
    if (resource === undefined) {
      const before = yield (store) => store.resource(collection, id);
      resource = staged.noteNew(collection, id, before as ResourceState | undefined);
    }
    resources[index] = resource;
    const isStale = (resource.now?.version ?? "absent") !== expect;
    if (isStale || (change.after !== undefined && (yield* isSuperseded(staged, change))))
      return { refusal: staleVersion(id, expect, resource.now) };
  }
  const mark = staged.mark();
  const origin: Origin = { principal, group: null };
  const toCheck = stageAll(judging, { changes, resources, at }, origin);
  if (toCheck !== undefined) {
    const broken = yield* findBrokenConstraint(judging, changes, toCheck);
    const refusal = broken ?? (yield* followDeletes(judging, { changes, at }, origin));
    if (refusal !== undefined) {
      staged.takeBack(mark);
      return { refusal };
    }
  }
  if (receipt !== undefined) staged.receipts.set(receipt.key, { ...receipt, at });
  const all = staged.since(mark);
  if (all.length > 1) origin.group = judging.nextGroup();
  return { changes: all, own: changes.length };
}

/** The resources that changed because the commit deleted others. */
export function followedBy({ changes, own }: Accepted): readonly Followed[] {
  return changes
    .slice(own)
    .map(({ collection, id, next }) => ({ collection: collection.name, id, isDeleted: next === undefined }));
}

function* refuseReceipt(
  { staged, maxReceipts }: Judging,
  { key }: Receipt,
  at: number,
): WriteDecision<Refusal | undefined> {
  if (staged.receipts.has(key)) return keyReused;
  const expiresAt = yield* lookUp((store) => store.receipt(key));
  if (expiresAt !== undefined && expiresAt > at) return keyReused;
  const count = yield* lookUp((store) => store.receiptCount());
  return count + staged.receipts.size >= maxReceipts ? tooManyReceipts : undefined;
}

/** Whether the last change of a resource is not the delete that a restore expects. */
function* isSuperseded(
  staged: StagedChanges,
  { collection, id, after }: ResolvedChange,
): WriteDecision<boolean> {
  const change = staged.lastChangeOf(collection, id);
  return (change?.version ?? (yield* lookUp((store) => store.lastVersion(collection, id)))) !== after;
}

/** Stages changes of resources. If they can break a constraint, it returns their parsed texts. */
function stageAll(
  { staged, catalogue }: Judging,
  {
    changes,
    resources,
    at,
  }: { changes: readonly ResolvedChange[]; resources: readonly StagedResource[]; at: number },
  origin: Origin,
): readonly unknown[] | undefined {
  let parsed: unknown[] | undefined;
  for (let index = 0; index < changes.length; index++) {
    const { collection, next, after } = changes[index] as ResolvedChange;
    const isConstrained =
      next === undefined
        ? catalogue().referrersTo(collection.name).length > 0
        : collection.unique.length > 0 || collection.references.length > 0;
    const attributes = isConstrained && next !== undefined ? JSON.parse(next) : undefined;
    staged.stage(collection, resources[index] as StagedResource, { next, after, attributes, at }, origin);
    if (!isConstrained) continue;
    parsed ??= [];
    parsed[index] = attributes;
  }
  return parsed;
}
