/** Writes an earlier version of a resource anew: a change like any other, and the way back for a deleted resource. */

import type { Collection } from "../../collection/collection.ts";
import { visibleViolations } from "../../collection/hidden-attributes.ts";
import { pickFrom } from "../../collection/resource.ts";
import { shown } from "../../collection/shown.ts";
import { Problem } from "../../errors.ts";
import { Faults, inBody } from "../../query/faults.ts";
import type { ResourceChange } from "../../store/change-log.ts";
import type { Change } from "../../store/commit.ts";
import type { Key, Stored } from "../../store/stored.ts";
import { guardOf } from "../caller/permission.ts";
import { withoutUnseen } from "../caller/unseen-references.ts";
import { commit, commitNothing, type Made, timeOfChange } from "../commit.ts";
import { requirePreconditions } from "../conditional.ts";
import { readContent } from "../content.ts";
import { decideReplace, type Moment, parseResource } from "../decide.ts";
import type { HttpRequest } from "../message.ts";
import type { OperationOf } from "../operation.ts";
import { type Result, written } from "../result.ts";
import type { Service } from "../service.ts";

type Restore = OperationOf<"restore">;

const absent: Result = { kind: "absent" };

/** How often a restore is decided anew when another instance was faster. */
const maxTries = 5;

/** A resource as it is: there, or deleted by this change, with what is known of its last state. */
type State = { current: Stored } | { deleted: ResourceChange; last: Stored | undefined };

/** Restores a resource to a version. Throws the problems of content and preconditions, of a replace, and the store's. */
export async function restore(service: Service, operation: Restore, request: HttpRequest): Promise<Result> {
  const key = { collection: operation.collection.name, id: operation.id };
  const state = await stateOf(service, key);
  if (state === undefined || !mayRestore(service, operation, { request, state })) return absent;
  requireState(service, operation, { request, state });
  const { limits } = service.settings;
  const version = versionIn(parseResource(await readContent(request, limits.bodyBytes), limits));
  return service.writes.run(`${key.collection}/${key.id}`, async () => {
    for (let tries = 0; tries < maxTries; tries++) {
      const result = await swap(service, operation, request, { key, version }).catch(unfit(version));
      if (result !== undefined) return result;
    }
    throw new Problem("UNAVAILABLE", "Other writes came first every time. Try again.");
  });
}

/** The violations are of the version, which the client did not send: the detail says so. */
function unfit(version: number): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Problem) || error.violations.length === 0) throw error;
    const { code, message, violations } = error;
    throw new Problem(code, `Version ${version} cannot be restored. ${message}`, { violations });
  };
}

/** `undefined` where nothing is known of the resource. */
async function stateOf({ store }: Service, key: Key): Promise<State | undefined> {
  const current = await store.read(key);
  if (current !== undefined) return { current };
  const [change] = await store.changesOf(key, { before: Number.MAX_SAFE_INTEGER, limit: 1 });
  if (change?.kind !== "deleted") return undefined;
  return { deleted: change, last: await store.version(key, change.version - 1) };
}

/** What is deleted has no state that a write could lose, and no entity tag that If-Match could name (RFC 9110 §13.1.1). */
function requireState(
  service: Service,
  { collection }: Restore,
  { request, state }: { request: HttpRequest; state: State },
): void {
  const { headers } = request;
  if ("current" in state) {
    const required = collection.requirePreconditions;
    const current = guardOf(service, collection, request).validators(state.current);
    requirePreconditions(headers, current, { required });
  } else if (headers["if-match"] !== undefined) {
    throw new Problem(
      "PRECONDITION_FAILED",
      "A precondition is not met: the resource is deleted, so it has no ETag that If-Match can match.",
    );
  }
}

/** Whether the resource is there for the caller. Throws UNAUTHENTICATED or INSUFFICIENT_SCOPE where it is not the caller's to change. */
function mayRestore(
  service: Service,
  { collection }: Restore,
  { request, state }: { request: HttpRequest; state: State },
): boolean {
  const guard = guardOf(service, collection, request);
  const last = "current" in state ? state.current : state.last;
  if (last === undefined || !guard.sees(last.text)) return false;
  // Restoring a deleted resource undoes the delete, so it needs the same right.
  guard.require("current" in state ? "update" : "delete", last.text);
  return true;
}

function versionIn(content: Record<string, unknown>): number {
  const faults = new Faults();
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
        : `must be a whole number of at least 1, not ${shown(version)}`;
    faults.add(inBody("version"), "version", detail);
  }
  faults.throwIfAny();
  return version as number;
}

/** One try; `undefined` when the resource changed between reading and writing. */
async function swap(
  service: Service,
  operation: Restore,
  request: HttpRequest,
  { key, version }: { key: Key; version: number },
): Promise<Result | undefined> {
  const state = await stateOf(service, key);
  if (state === undefined || !mayRestore(service, operation, { request, state })) return absent;
  requireState(service, operation, { request, state });
  const old = await service.store.version(key, version);
  if (old === undefined || !guardOf(service, operation.collection, request).sees(old.text)) return absent;
  return putBack(service, operation, request, { state, old });
}

async function putBack(
  service: Service,
  operation: Restore,
  request: HttpRequest,
  { state, old }: { state: State; old: Stored },
): Promise<Result | undefined> {
  const { collection, id, path } = operation;
  const key = { collection: collection.name, id };
  const guard = guardOf(service, collection, request);
  const current = "current" in state ? state.current : undefined;
  // What is not the caller's to set stays as it was last, whichever version the caller chooses.
  const before = ("current" in state ? current : state.last) ?? old;
  const last = "current" in state ? state.current.updatedAt : state.deleted.at;
  const at = timeOfChange(service, collection, { updatedAt: last });
  const { isBlind } = guard;
  const moment = { at, before, isDeleted: current === undefined, isBlind };
  const next = decideAgain(operation, contentOf(old, collection), moment);
  const kind = current === undefined ? "created" : "updated";
  const resultFor = (stored: Stored) => written(kind, { stored, path }, guard);
  if (next === current?.text && !isBlind) return commitNothing(service, request, resultFor(current));
  guard.require(current === undefined ? "create" : "update", next);
  const text = await withoutUnseen(service, request, { collection, next, before: current?.text });
  const resultOf = (made: Made) => resultFor({ id, text: next, ...made });
  try {
    return await commit(service, request, { change: changeOf(key, state, text), at, resultOf });
  } catch (error) {
    if (error instanceof Problem && error.code === "PRECONDITION_FAILED") return undefined;
    throw isBlind ? unknownReason(error) : toldProblem(error, collection);
  }
}

/** Like `decideReplace`, but does not tell a caller who may not read why an earlier version does not fit. */
function decideAgain(operation: Restore, content: Record<string, unknown>, moment: Moment): string {
  try {
    return decideReplace(operation, content, moment);
  } catch (error) {
    throw moment.isBlind === true ? unknownReason(error) : error;
  }
}

/** What is not the caller's to set stays as it is: as if the caller sent the rest of the earlier version. */
function contentOf({ text }: Stored, { visibility }: Collection): Record<string, unknown> {
  const resource = JSON.parse(text) as Record<string, unknown>;
  if (visibility === undefined) return resource;
  return pickFrom(resource, (name) => !visibility.hidden.has(name) && !visibility.readOnly.has(name));
}

/** What an earlier version had in attributes that the caller does not see may not go together with what there is now. */
function toldProblem(error: unknown, { visibility }: Collection): unknown {
  if (!(error instanceof Problem) || visibility === undefined) return error;
  const { violations } = error;
  const isTold = visibleViolations(violations, visibility, { sent: {}, isNew: false }) === violations;
  return isTold ? error : unknownReason(error);
}

/** The same problem without its violations, which name content. */
function unknownReason(error: unknown): unknown {
  if (!(error instanceof Problem) || error.violations.length === 0) return error;
  return new Problem(
    error.code,
    "This version cannot be restored because of attributes that you cannot see.",
  );
}

function changeOf(key: Key, state: State, next: string): Change {
  if ("current" in state) return { key, expect: state.current.version, next };
  return { key, expect: "absent", next, after: state.deleted.version };
}
