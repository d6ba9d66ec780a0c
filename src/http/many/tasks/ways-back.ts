/** How tasks bring resources back to an earlier state. */
import { type Proposal, textOf } from "../../../collection/proposal.ts";
import { pickMembers, resourceText } from "../../../collection/resource.ts";
import { clientAttributes, withTimestamps } from "../../../collection/timestamps.ts";
import { withKept } from "../../../collection/visibility.ts";
import { completeProposal, hookedViolations, hookRefusals } from "../../../collection/write-hooks.ts";
import { Problem } from "../../../errors.ts";
import type { Requirement } from "../../../store/port/commit.ts";
import type { Stored } from "../../../store/port/stored.ts";
import type { TaskItem, TaskSlice } from "../../../tasks/task.ts";
import { judged, requirementsFor } from "../../caller/judged.ts";
import { type Bulk, keyOf } from "../../operations/operation.ts";
import { timeOfChange } from "../../writes/commit.ts";
import { hooksForMany } from "../../writes/hooks.ts";
import { requireNext } from "../../writes/next-state.ts";
import {
  changedMeanwhile,
  type Decision,
  type Decisions,
  decideEach,
  type ItemsOfPart,
  untilLong,
} from "./task-kind.ts";
import { operationIn, type TaskWork } from "./task-work.ts";

/** The last state of a resource, and when its change is made. */
export interface Last {
  item: TaskItem;
  before: Stored;
  /** Unix time in milliseconds. */
  at: number;
}

/** Decides about resources that go back to an earlier state. `decide` gets those whose last change is the one of the plan. */
export async function decideWaysBack(
  work: TaskWork,
  { collection: name, items }: ItemsOfPart,
  decide: (operation: Bulk, last: Last) => Promise<Decision>,
): Promise<Decisions> {
  const { service } = work;
  const operation = operationIn(work, name);
  const last = await untilLong(items, async (item) => {
    const found = await lastOf(work, name, item);
    return [found, found instanceof Problem ? 0 : found.text.length];
  });
  const at = last.reduce(
    (latest, each) =>
      each instanceof Problem ? latest : Math.max(latest, timeOfChange(service, operation.collection, each)),
    service.now(),
  );
  const decisions = await decideEach(items.slice(0, last.length), async (item, index) => {
    const before = last[index];
    return before === undefined || before instanceof Problem
      ? before
      : decide(operation, { item, before, at });
  });
  return { decisions, at };
}

/** The last state of a resource, if its last change is the one of the plan. */
async function lastOf(
  { service: { store } }: TaskWork,
  collection: string,
  item: TaskItem,
): Promise<Stored | Problem> {
  const { id = "", version = 0, exists } = item;
  const key = { collection, id };
  const current = await store.read(key);
  const isSame = exists
    ? current?.version === version
    : current === undefined && (await store.lastVersion(key)) === version;
  if (!isSame) return changedMeanwhile("It has changed in the meantime.");
  return current ?? (await store.version(key, version - 1)) ?? notKept();
}

/** The change that goes back to the version of the plan, or `undefined` if nothing differs. `isRuled`: whether the access rules apply. */
export async function wayBack(
  { service, caller, task }: TaskWork,
  operation: Bulk,
  { item: { id = "", version = 0, exists = false, to }, before, at }: Last,
  { isRuled }: { isRuled: boolean },
): Promise<Decision> {
  const { collection, guard } = operation;
  const key = keyOf({ collection, id });
  const hooks = hooksForMany(service, collection, { id: task.value.id, caller, now: at });
  const restored = { operation: "restore", id, previous: exists ? before.text : undefined } as const;
  const requires: Requirement[] = [];
  const requireRight = async (action: "create" | "update" | "delete", stored: Stored) => {
    if (!isRuled) return;
    const state = await judged(service, guard, stored);
    guard.require(action, state);
    requires.push(...requirementsFor(service, guard, { allowed: guard.allowed(action), state, at }));
  };
  if (to === null || to === undefined) {
    await requireRight("delete", before);
    const removed = { operation: "delete", id, previous: before.text } as const;
    const refused = await hookRefusals(before.text, removed, hooks);
    if (refused.length > 0)
      return new Problem("VALIDATION_FAILED", "A hook refuses the delete.", { violations: refused });
    return { key, expect: version, next: undefined, replaced: before.text.length, requires };
  }
  const then = await service.store.version(key, to);
  if (then === undefined) return notKept();
  if (exists) await requireRight("update", before);
  const earlier = clientAttributes(collection, JSON.parse(then.text) as Record<string, unknown>);
  // As in a restore, attributes that the caller cannot see keep their present values.
  const hidden = isRuled ? collection.visibility?.hidden : undefined;
  const attributes =
    hidden === undefined
      ? earlier
      : withKept(
          pickMembers(earlier, (name) => !hidden.has(name)),
          clientAttributes(collection, JSON.parse(before.text) as Record<string, unknown>),
          (name) => hidden.has(name),
        );
  const proposed: Proposal = {
    collection,
    attributes,
    textWith: (all) => {
      if (collection.timestamps) return resourceText(collection.idKind, id, withTimestamps(all, at, before));
      return all === earlier ? then.text : resourceText(collection.idKind, id, all);
    },
  };
  const proposal = await completeProposal(proposed, restored, hooks);
  const violations = await hookedViolations(proposal, restored, hooks);
  if (violations.length > 0)
    return new Problem("VALIDATION_FAILED", "It does not fit the current schema.", { violations });
  const next = textOf(proposal, id);
  const current = exists ? before : undefined;
  const allowed = isRuled
    ? await requireNext(service, operation, { key, current, next, at })
    : { text: next, requires: [] };
  requires.push(...allowed.requires);
  return exists
    ? { key, expect: version, next: allowed.text, replaced: before.text.length, requires }
    : { key, expect: "absent", next: allowed.text, after: version, requires };
}

function notKept(): Problem {
  return new Problem("PRECONDITION_FAILED", "The history no longer has the version to go back to.");
}

/** The changes that a slice made, as items that undo them, the last one first. */
export function wayBackOf({ made }: TaskSlice): TaskItem[] {
  return made.toReversed().map(([id, version, kind]) => {
    return { id, version, exists: kind !== "deleted", to: kind === "created" ? null : version - 1 };
  });
}
