/** Restores: write an earlier version of a resource as its next one. This also brings back a deleted resource. */
import type { Judged } from "../../access/access.ts";
import type { Collection } from "../../collection/collection.ts";
import { shortJson } from "../../collection/messages.ts";
import { pickMembers } from "../../collection/resource.ts";
import { hiddenConflict, visibleViolations } from "../../collection/visibility.ts";
import { Problem } from "../../errors.ts";
import { subjectAt, toFragment } from "../../json/pointer.ts";
import { inBody, Violations } from "../../query/violations.ts";
import type { ResourceChange } from "../../store/port/change-log.ts";
import type { Stored } from "../../store/port/stored.ts";
import { judged } from "../caller/judged.ts";
import { keyOf, type Restore } from "../operations/operation.ts";
import { notFound, type Result } from "../operations/result.ts";
import { requirePreconditions } from "../protocol/conditional.ts";
import { readObject } from "../protocol/content.ts";
import { type LastState, lastState, mayLast, seesLast, seesVersion } from "../reads/history.ts";
import { type CommitPlan, timeOfChange, type Write, type WriteAttempt } from "./commit.ts";
import { decide as decideText, proposeReplace } from "./decide.ts";
import { completed } from "./hooks.ts";
import { planFor } from "./plan.ts";
import { hold, nameOf, runWrite, type WriteSteps } from "./write.ts";

/** Restores a resource to a version. Throws the problems of content and preconditions, of a replace, and the store's. */
export function restore(write: Write<Restore>): Promise<Result> {
  return runWrite(steps, write);
}

const steps: WriteSteps<Restore, LastState, number> = {
  find: async (write) => {
    const { service, operation } = write;
    const { guard } = operation;
    const state = await lastState(service, guard, keyOf(operation));
    if (!seesLast(guard, state)) return undefined;
    hold(write, state.last);
    // Restoring a deleted resource undoes the delete, so it needs the same right.
    const needed = state.deleted === undefined ? "update" : "delete";
    if (state.isOlder && guard.can(needed) && !mayLast(guard, needed, state)) return undefined;
    guard.require(needed, state.last);
    requireState(write, state);
    return state;
  },
  read: async ({ service, request }) => versionIn(await readObject(request, service.settings.limits)),
  resources: ({ operation }) => [nameOf(keyOf(operation))],
  decide,
};

/** A deleted resource has no state that a write could lose, and no ETag for If-Match (RFC 9110 §13.1.1). */
function requireState(
  { operation, request: { headers } }: Write<Restore>,
  { last, deleted }: LastState,
): void {
  if (deleted === undefined) {
    const required = operation.collection.requirePreconditions;
    requirePreconditions(headers, operation.guard.validators(last), { required });
  } else if (headers["if-match"] !== undefined) {
    throw new Problem(
      "PRECONDITION_FAILED",
      "A precondition is not met: the resource is deleted, so it has no ETag that If-Match can match.",
    );
  }
}

function versionIn(content: Record<string, unknown>): number {
  const faults = new Violations();
  for (const name of Object.keys(content)) {
    if (name !== "version")
      faults.add(inBody(name), "unknownMember", 'is not understood. The only member is "version"');
  }
  const { version } = content;
  const isVersion = typeof version === "number" && Number.isSafeInteger(version) && version >= 1;
  if (!isVersion) {
    const detail =
      version === undefined
        ? "is required: send a whole number of at least 1"
        : `must be a whole number of at least 1, not ${shortJson(version)}`;
    faults.add(inBody("version"), "version", detail);
  }
  faults.throwIfAny();
  return version as number;
}

async function decide(
  write: Write<Restore>,
  state: LastState,
  version: number,
): Promise<CommitPlan | WriteAttempt> {
  const { service, operation } = write;
  const { guard } = operation;
  const key = keyOf(operation);
  const found = await service.store.version(key, version);
  const old = found && (await judged(service, guard, found));
  if (old === undefined || !guard.sees(old)) return notFound;
  if (guard.visible !== "everything" && !(await seesVersion(service, { guard, key }, old))) return notFound;
  hold(write, state.last, old);
  return planRestore(write, state, old);
}

/** The plan that makes a resource as it was at an earlier version. Throws the problems of a replace. */
export async function planRestore(
  write: Write<Restore>,
  { last, deleted }: RestoredState,
  old: Stored,
): Promise<CommitPlan> {
  const { service, operation } = write;
  const { collection, guard } = operation;
  const key = keyOf(operation);
  const { version } = old;
  const at = timeOfChange(service, collection, { updatedAt: deleted?.at ?? last.updatedAt });
  const isNewVersion = !guard.canRead;
  const explain = (error: unknown) => explained(error, operation, version);
  try {
    // The last state keeps the attributes that the caller cannot set, whichever version the caller chooses.
    const proposed = proposeReplace(operation, settablePart(old, collection), {
      at,
      before: deleted === undefined ? last : revived(write, last),
      isDeleted: deleted !== undefined,
      isNewVersion,
    });
    const previous = deleted === undefined ? last.text : undefined;
    const change = { operation: "restore", id: key.id, previous, now: at } as const;
    const next = decideText(await completed(write, proposed, change))(key.id);
    if (service.expired.isOver(key.collection, next)) throw expired(collection);
    const plan = await planFor(write, {
      key,
      current: deleted === undefined ? last : undefined,
      next,
      at,
      isNewVersion,
      isRestore: true,
      ...(deleted && { undone: { state: last, version: deleted.version } }),
    });
    return { ...plan, explain };
  } catch (error) {
    throw explain(error);
  }
}

/** The problem of a resource that would not exist after its restore. */
function expired({ expires }: Collection): Problem {
  const pointer = toFragment(expires?.path ?? []);
  const detail = "is in the past, and a restore sets no new date";
  const violations = [{ in: "body", pointer, code: "expired", detail }] as const;
  return new Problem("VALIDATION_FAILED", `${subjectAt(pointer, "The resource")} ${detail}.`, { violations });
}

/** What a restore needs to know of the present state. */
interface RestoredState {
  last: Stored & Judged;
  deleted: Pick<ResourceChange, "version" | "at"> | undefined;
}

/** The last version of a deleted resource, as it comes back. */
function revived({ service, operation }: Write<Restore>, last: Stored): Stored {
  const text = service.participants.get(operation.collection.name)?.revive?.(last.text);
  return text === undefined ? last : { ...last, text };
}

/** An earlier version without the attributes that the caller cannot see or set. */
function settablePart({ text }: Stored, { visibility }: Collection): Record<string, unknown> {
  const resource = JSON.parse(text) as Record<string, unknown>;
  if (visibility === undefined) return resource;
  return pickMembers(resource, (name) => !visibility.hidden.has(name) && !visibility.readOnly.has(name));
}

/** The violations are about a version that the client did not send, and can be about attributes that the caller cannot see. */
function explained(error: unknown, { collection, guard }: Restore, version: number): unknown {
  if (!(error instanceof Problem) || error.violations.length === 0) return error;
  const { code, message, violations, holder } = error;
  const isHidden = code !== "VALIDATION_FAILED" && violations.includes(hiddenConflict);
  const isVisible = guard.canRead && areVisible(violations, collection) && !isHidden;
  if (isVisible)
    return new Problem(code, `Version ${version} cannot be restored. ${message}`, { violations, holder });
  return new Problem(code, "This version cannot be restored because of attributes that you cannot see.");
}

function areVisible(violations: Problem["violations"], { visibility }: Collection): boolean {
  if (visibility === undefined) return true;
  return visibleViolations(violations, visibility, { sent: {}, isNew: false }) === violations;
}
