/** Creates resources, and in open mode their collections. */
import type { Collection } from "../../collection/collection.ts";
import { expiryPrincipal } from "../../collection/expiry.ts";
import { fitId, reservedIdViolations } from "../../collection/ids.ts";
import { shortJson } from "../../collection/messages.ts";
import { resourceText, withoutId } from "../../collection/resource.ts";
import { Problem } from "../../errors.ts";
import type { InsteadOfArray } from "../../json/parse.ts";
import { isInternal, recordOf, withoutInternal } from "../../store/port/record.ts";
import type { Counting } from "../admission/exact-counts.ts";
import { currentOf } from "../caller/judged.ts";
import { targetValidators } from "../lists/validators.ts";
import { withReference } from "../operations/nested.ts";
import { type Create, type CreateWithId, keyOf } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import { idTaken, requirePreconditions } from "../protocol/conditional.ts";
import { readObject, requireWhole } from "../protocol/content.ts";
import { lastState, mayLast, seesLast } from "../reads/history.ts";
import type { Clock, Data, Surface } from "../service.ts";
import { type CollectionWrite, type CommitPlan, inTime, type Write } from "./commit.ts";
import { decide, proposeNew, requireId } from "./decide.ts";
import { completed } from "./hooks.ts";
import { planFor } from "./plan.ts";
import { nameOf, runWrite, type WriteSteps } from "./write.ts";

/** Creates a resource. Throws the problems of preconditions and content, and the store's. */
export function create(write: Write<Create>): Promise<Result> {
  return runWrite(steps, write);
}

const steps: WriteSteps<Create, true, Record<string, unknown>> = {
  find: requireCollectionPreconditions,
  read: async ({ service, request, operation: { collection, parent } }) => {
    const asBatch = batchOf(collection, service.settings);
    const content = await readObject(request, service.settings.limits, asBatch);
    return parent === undefined ? content : withReference(content, parent);
  },
  resources: () => [],
  decide: (write, _, content) => decideNew(write, content),
};

/** The plan for a resource with a new id. With `isPut`, the response has an ETag only if the service stores what was sent. */
export async function decideNew(
  write: Write<CollectionWrite>,
  content: Record<string, unknown>,
  { isPut = false } = {},
): Promise<CommitPlan> {
  const { service, operation } = write;
  const { collection, caller } = operation;
  const at = service.now();
  const proposed = proposeNew(collection, content, { at, subject: caller.principal?.subject });
  const change = { operation: "create", id: undefined, previous: undefined, now: at } as const;
  const textFor = decide(await completed(write, proposed, change));
  await requireCollection(service, collection);
  const id = await newId(service, collection);
  const next = textFor(id);
  const isAsSent = !isPut || next === resourceText(collection.idKind, id, withoutId(content));
  return planFor(write, { key: { collection: collection.name, id }, current: undefined, next, at, isAsSent });
}

/**
 * Creates a resource with the id in the path. Throws the problems of a create, and PRECONDITION_FAILED if the id is taken, also by a
 * resource that the caller cannot see.
 */
export function createWithId(write: Write<CreateWithId>): Promise<Result> {
  return runWrite(stepsWithId, write);
}

const stepsWithId: WriteSteps<CreateWithId, true, Record<string, unknown>> = {
  find: async ({ service, operation }) => {
    const { collection, guard } = operation;
    const current = await currentOf(service, guard, keyOf(operation));
    if (current !== undefined && guard.sees(current))
      throw idTaken(guard.may("read", current) ? guard.validators(current) : undefined);
    if (!guard.can("create")) throw guard.denied("create");
    requireChoosable(collection, operation.id);
    if (current !== undefined) throw idTaken(undefined);
    return true;
  },
  read: ({ service, request }) => {
    requireWhole(request);
    return readObject(request, service.settings.limits);
  },
  resources: ({ operation }) => [nameOf(keyOf(operation))],
  decide: async (write, _, content) => {
    const { service, operation } = write;
    const { collection, id, caller } = operation;
    const at = service.now();
    requireId(content, id);
    const proposed = proposeNew(collection, content, { at, subject: caller.principal?.subject });
    const change = { operation: "create", id, previous: undefined, now: at } as const;
    const next = decide(await completed(write, proposed, change))(id);
    await requireCollection(service, collection);
    const key = keyOf(operation);
    const isAsSent = next === resourceText(collection.idKind, id, withoutId(content));
    // What has expired leaves its version.
    if (collection.expires !== undefined) await service.expired.release(key);
    const lastVersion = await service.store.lastVersion(key);
    if (lastVersion > 0) await requireFree(write);
    return planFor(write, { key, current: undefined, next, at, lastVersion, isAsSent });
  },
};

/**
 * Throws PRECONDITION_FAILED if the id belonged to a resource that the caller may not read and delete, and whose delete is in the history:
 * its owner can still restore it. The id of an expired resource is free. One that a participant keeps is not. The commit fails if
 * the resource comes back meanwhile (`Change.last`).
 */
async function requireFree({ service, operation }: Write<CreateWithId>): Promise<void> {
  const { collection, id, guard } = operation;
  if (await service.participants.get(collection.name)?.isTaken?.(id)) throw idTaken(undefined);
  if (guard.visible === "everything" && guard.canWithAll("delete")) return;
  const state = await lastState(service, guard, keyOf(operation));
  if (state?.deleted === undefined || state.isOlder) return;
  if (collection.expires !== undefined && state.deleted.principal === expiryPrincipal) return;
  if (!seesLast(guard, state) || !mayLast(guard, "delete", state)) throw idTaken(undefined);
}

/** Throws INVALID_PARAMETER if clients cannot choose this id. */
function requireChoosable({ name, idKind }: Collection, id: string): void {
  const refuse = (code: string, detail: string): never => {
    const message = `The id ${shortJson(id)} ${detail}.`;
    throw new Problem("INVALID_PARAMETER", message, { violations: [{ in: "path", code, detail }] });
  };
  if (idKind === "integer")
    refuse(
      "assignedId",
      `cannot be chosen: the service counts the ids of ${shortJson(name)}. Send a POST instead`,
    );
  const [reserved] = reservedIdViolations(id);
  if (reserved !== undefined) refuse(reserved.code, reserved.detail);
  if (fitId(idKind, id) === undefined)
    refuse("id", "must be 1 to 128 of these characters: letters, digits, and . _ ~ -, and not . or ..");
}

/** The longest request that a message writes out. */
const maxWritten = 500;

/** Says how to create all resources of an array in one request, which is written out if it is short. */
function batchOf({ name }: Collection, { prefix }: Surface["settings"]): InsteadOfArray {
  const one = "send one resource per request";
  if (isInternal(name)) return one;
  return (items) => {
    const operations = items.slice(0, maxWritten).map((body) => ({ method: "POST", path: `/${name}`, body }));
    const all = JSON.stringify({ operations });
    const written =
      operations.length > 0 && all.length <= maxWritten
        ? all
        : `{"operations":[{"method":"POST","path":"/${name}","body":{…}}]}`;
    return `${one}, or all of them in one batch: POST ${prefix}/_batch ${written}`;
  };
}

/** RFC 9110 §13.1.1: the preconditions of a POST are about its target, the collection. */
async function requireCollectionPreconditions({ service, operation, request }: Write<Create>): Promise<true> {
  const { headers } = request;
  if (headers["if-match"] !== undefined || headers["if-none-match"] !== undefined)
    requirePreconditions(headers, await targetValidators(service, operation));
  return true;
}

/** Creates the collection if it does not exist yet, as in open mode. Throws TOO_MANY_COLLECTIONS. */
export async function requireCollection(
  service: Counting & Data & Surface,
  collection: Collection,
): Promise<void> {
  if (service.store.collections().has(collection.name)) return;
  // One at a time, so that simultaneous creates keep to the limit. No resource has this name.
  await service.writes.run("collections", async () => {
    const release = await service.exact.creation();
    await makeCollection(service, collection).finally(release);
  });
}

/** Whether a collection does not exist yet. Throws TOO_MANY_COLLECTIONS if it does not and the service can have no more. */
export function requireFewCollections(service: Data & Surface, { name }: Pick<Collection, "name">): boolean {
  const collections = service.store.collections();
  if (collections.has(name)) return false;
  requireRoom(service, name, collections.keys());
  return true;
}

function requireRoom({ settings }: Surface, name: string, names: Iterable<string>): void {
  const limit = settings.limits.collections;
  if (isInternal(name) || withoutInternal(names).length < limit) return;
  throw new Problem(
    "TOO_MANY_COLLECTIONS",
    `A new collection would exceed the limit of ${limit} collections.`,
  );
}

async function makeCollection(service: Data & Surface, collection: Collection): Promise<void> {
  if (!requireFewCollections(service, collection)) return;
  const names = await service.store.collectionNames(); // with those that another thread or instance has just created
  if (!names.includes(collection.name)) requireRoom(service, collection.name, names);
  if (isInternal(collection.name)) return service.participants.get(collection.name)?.createCollection?.();
  await inTime(service, service.store.migrate([recordOf(collection)]));
}

async function newId(service: Data & Surface & Clock, { name, idKind }: Collection): Promise<string> {
  return idKind === "uuid"
    ? service.newUuid()
    : String(await inTime(service, service.store.reserveIds(name, 1)));
}
