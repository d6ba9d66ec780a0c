/** Reads the history of resources: earlier states, and the list of changes with its response. */
import type { Judged } from "../../access/access.ts";
import type { Action } from "../../access/access-declaration.ts";
import { formatCursor } from "../../query/cursor.ts";
import { authorOf, type ResourceChange } from "../../store/port/change-log.ts";
import type { Key, Stored } from "../../store/port/stored.ts";
import { currentOf, judged } from "../caller/judged.ts";
import type { Guard } from "../caller/permission.ts";
import { beforeNone, nameOfChanges } from "../operations/history-parameters.ts";
import { type ChangesRead, type EarlierRead, keyOf } from "../operations/operation.ts";
import { notFound, type Result } from "../operations/result.ts";
import { type HttpRequest, type HttpResponse, jsonType, revalidate, withBody } from "../protocol/message.ts";
import { resourcePath } from "../route.ts";
import type { Callers, Clock, Data, Surface } from "../service.ts";
import { foundResult } from "./read.ts";

/** Reads an earlier state of a resource. It is not found if the resource did not exist then, or if the store does not keep it. */
export async function readEarlierState(
  service: Data & Clock,
  operation: EarlierRead,
  request: HttpRequest,
): Promise<Result> {
  const { pointInTime, guard, collection } = operation;
  const { store } = service;
  const key = keyOf(operation);
  const stored =
    "version" in pointInTime
      ? await store.version(key, pointInTime.version)
      : await store.versionAt(key, pointInTime.at);
  if (stored === undefined) return notFound;
  const isForAll = guard.visible === "everything" && collection.expires === undefined;
  const state = isForAll ? stored : await judged(service, guard, stored);
  const isVisible = isForAll || (await seesVersion(service, { guard, key }, state));
  return isVisible ? foundResult(service, operation, request, state) : notFound;
}

/**
 * Whether a version exists for the caller. A caller who cannot see the last state of a resource cannot see its history either. A version
 * of an earlier life also needs the last state of that life, and the version itself.
 */
export async function seesVersion(
  service: Data,
  { guard, key }: { guard: Guard; key: Key },
  stored: Stored & Judged,
): Promise<boolean> {
  const present = await lastState(service, guard, key);
  const life = await lifeOf(service, guard, key, { version: stored.version, present });
  if (!seesLast(guard, present)) return false;
  return life === present || (seesLast(guard, life) && guard.sees(stored));
}

/** Reads a page of changes, and makes the response. It is not found if the store keeps no change of the resource. */
export async function readChanges(
  service: Data & Callers & Surface,
  operation: ChangesRead,
  request: HttpRequest,
): Promise<Result> {
  const { guard } = operation;
  const { limit, before } = operation.asked;
  const key = keyOf(operation);
  const state = await lastState(service, guard, key);
  if (!seesLast(guard, state)) return notFound;
  const found = await service.store.changesOf(key, { before, limit: limit + 1 });
  if (found.length === 0 && before === beforeNone) return notFound;
  const changes: ShownChange[] = [];
  let life: LastState | undefined;
  for (const change of found.slice(0, limit)) {
    // The newest change comes first, so a delete is the end of an earlier life.
    if (life === undefined || change.kind === "deleted")
      life = await lifeOf(service, guard, key, { version: change.version - 1, present: state });
    if (!seesLast(guard, life)) continue;
    const showsPrincipal = service.settings.showPrincipal || mayLast(guard, "update", life);
    changes.push({
      ...change,
      ...(showsPrincipal ? authorOf(change.principal) : noAuthor),
      group: change.group === undefined ? undefined : service.tags.group(change.group),
    });
  }
  const last = found.length > limit ? found[limit - 1]?.version : undefined;
  return { kind: "response", response: changesResponse({ operation, changes, last }, request) };
}

const noAuthor = { principal: undefined, task: undefined };

/** A change as the caller sees it: `principal` may be left out, and `group` is a name that hides the number. */
type ShownChange = Omit<ResourceChange, "principal" | "group"> & {
  principal: string | undefined;
  group: string | undefined;
  /** The task that made the change. */
  task: string | undefined;
};

/** A page of the changes that the caller sees. `last` is the version after which the next page begins; `undefined` on the last page. */
interface ShownChanges {
  operation: ChangesRead;
  changes: readonly ShownChange[];
  last: number | undefined;
}

/** A page of changes as a response. */
function changesResponse({ operation, changes, last }: ShownChanges, request: HttpRequest): HttpResponse {
  const { asked, collection, path, id } = operation;
  const target = `${resourcePath(path, id)}/_changes`;
  const limit = asked.hasLimit ? [`limit=${asked.limit}`] : [];
  const first = limit.length === 0 ? target : `${target}?${limit.join("&")}`;
  const links = [`<${first}>; rel="first"`];
  if (last !== undefined) {
    const cursor = formatCursor(nameOfChanges({ collection: collection.name, id }), [last]);
    links.unshift(`<${target}?${[...limit, `cursor=${cursor}`].join("&")}>; rel="next"`);
  }
  const headers = {
    "content-type": jsonType,
    "cache-control": revalidate,
    link: links.join(", "),
    "page-limit": String(asked.limit),
  };
  return withBody(request, JSON.stringify(changes.map(toJson)), { status: 200, headers });
}

/** Changes that were made together have the same `group`. */
function toJson({ version, kind, at, principal, group, task }: ShownChange): Record<string, unknown> {
  return { version, kind, at: new Date(at).toISOString(), principal, group, task };
}

/** A resource that exists, or that `deleted` has deleted. */
export interface LastState {
  /** The current state, or the last one before the delete. */
  last: Stored & Judged;
  /** The last delete in the log, with the version of the last delete. */
  deleted: ResourceChange | undefined;
  /** Whether the resource came back and was deleted again without history, so its real last state is not known. */
  isOlder: boolean;
}

/** Whether a resource exists for the caller, by its last state. Without the real last state, only a rule without `where` allows it. */
export function seesLast(guard: Guard, state: LastState | undefined): state is LastState {
  if (state === undefined) return false;
  return state.isOlder ? guard.visible === "everything" : guard.sees(state.last);
}

/** Whether the caller can do this with a resource in its last state. Without the real one, only a rule without `where` allows it. */
export function mayLast(guard: Guard, action: Action, { last, isOlder }: LastState): boolean {
  return isOlder ? guard.canWithAll(action) : guard.may(action, last);
}

/**
 * The last state of the life that a version belongs to: each delete ends a life, and an id that is used again begins another one.
 * `present`: the last state of the resource. `undefined` if the store does not know it.
 */
async function lifeOf(
  service: Data,
  guard: Guard,
  key: Key,
  { version, present }: { version: number; present: LastState | undefined },
): Promise<LastState | undefined> {
  const { store } = service;
  const end = await store.deleteAfter(key, version);
  if (end === undefined || end.version === present?.deleted?.version) return present;
  const last = await store.version(key, end.version - 1);
  return last && { last: await judged(service, guard, last), deleted: end, isOlder: false };
}

/**
 * The last state of a resource; `undefined` if the store does not know it. Deletes and restores by others can happen between
 * the lookups, so this looks again while the resource changes. The guard is the one that judges it.
 */
export async function lastState(
  service: { store: Pick<Data["store"], "read" | "changesOf" | "version" | "lastVersion"> },
  guard: Guard,
  key: Key,
): Promise<LastState | undefined> {
  const { store } = service;
  for (let seen: number | undefined; ; ) {
    const current = await currentOf(service, guard, key);
    if (current !== undefined) return { last: current, deleted: undefined, isOlder: false };
    const [change] = await store.changesOf(key, { before: beforeNone, limit: 1 });
    if (change === undefined) return undefined;
    const isSame = change.version === seen; // so the store had no history later
    const version = Math.max(change.version, await store.lastVersion(key));
    if (change.kind === "deleted" && (isSame || version === change.version)) {
      const last = await store.version(key, change.version - 1);
      return (
        last && {
          last: await judged(service, guard, last),
          deleted: { ...change, version },
          isOlder: version > change.version,
        }
      );
    }
    if (isSame) return undefined;
    seen = change.version;
  }
}
