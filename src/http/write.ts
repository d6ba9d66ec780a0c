/** Carries writes out: judges preconditions, reads the content, decides, commits. */

import type { Principal } from "../access/principal.ts";
import { denied } from "../access/refusals.ts";
import type { Collection } from "../collection/collection.ts";
import { visibilityWithoutRead } from "../collection/visibility.ts";
import { Problem } from "../errors.ts";
import type { Change } from "../store/commit.ts";
import { recordOf } from "../store/record.ts";
import type { Stored } from "../store/stored.ts";
import { guardOf } from "./caller/permission.ts";
import { withoutUnseen } from "./caller/unseen-references.ts";
import { commit, commitNothing, inTime, type Made, timeOfChange } from "./commit.ts";
import { requirePreconditions } from "./conditional.ts";
import { readContent } from "./content.ts";
import {
  decideCreate,
  decidePatch,
  decideReplace,
  type Moment,
  namedIn,
  namesHidden,
  type Patch,
  parsePatch,
  parseResource,
  patchProblem,
  readsAnything,
} from "./decide.ts";
import { targetValidators } from "./lists/lists.ts";
import type { HttpRequest } from "./message.ts";
import type { OperationOf } from "./operation.ts";
import { type Result, written } from "./result.ts";
import type { Service } from "./service.ts";
import type { Limits } from "./settings.ts";
import { pauseAfter } from "./wire/turns.ts";

/** An operation on one existing resource that changes it. */
type Write = OperationOf<"replace" | "patch" | "delete">;

/** How often a write is decided anew when another instance was faster. */
const maxTries = 5;

/** Creates a resource. Throws the problems of preconditions and content, and the store's. */
export async function create(
  service: Service,
  operation: OperationOf<"create">,
  request: HttpRequest,
): Promise<Result> {
  const { collection } = operation;
  await requireCollectionPreconditions(service, collection, request);
  const content = await readResource(request, service.settings.limits);
  const at = service.now();
  const textFor = decideCreate(collection, content, { at, subject: request.principal?.subject });
  await requireCollection(service, collection);
  const id = await newId(service, collection);
  const key = { collection: collection.name, id };
  const text = textFor(id);
  const guard = guardOf(service, collection, request);
  guard.require("create", text);
  const seen = withoutUnseen(service, request, { collection, next: text, before: undefined });
  const next = typeof seen === "string" ? seen : await seen;
  const { path } = operation;
  return commit(service, request, {
    change: { key, expect: "absent", next },
    at,
    resultOf: (made) => written("created", { stored: { id, text, ...made }, path }, guard),
  });
}

/** RFC 9110 §13.1.1: the preconditions of a POST are judged against its target, the collection. */
async function requireCollectionPreconditions(
  service: Service,
  collection: Collection,
  request: HttpRequest,
): Promise<void> {
  const { headers } = request;
  if (headers["if-match"] === undefined && headers["if-none-match"] === undefined) return;
  requirePreconditions(headers, await targetValidators(service, collection, request));
}

/** In open mode a collection springs into being with its first create. Throws TOO_MANY_COLLECTIONS. */
export async function requireCollection(service: Service, collection: Collection): Promise<void> {
  if (service.store.collections().has(collection.name)) return;
  // One after the other, so that a crowd of first creates keeps to the limit. No resource has this key.
  await service.writes.run("collections", () => makeCollection(service, collection));
}

async function makeCollection(service: Service, collection: Collection): Promise<void> {
  const collections = service.store.collections();
  if (collections.has(collection.name)) return;
  const limit = service.settings.limits.collections;
  if (collections.size >= limit) {
    throw new Problem(
      "TOO_MANY_COLLECTIONS",
      `A new collection would exceed the limit of ${limit} collections.`,
    );
  }
  await inTime(service, service.store.migrate([recordOf(collection)]));
}

async function newId(service: Service, { name, idKind }: Collection): Promise<string> {
  return idKind === "uuid"
    ? service.newUuid()
    : String(await inTime(service, service.store.reserveIds(name, 1)));
}

/**
 * A change of an existing resource: decide on what is there, then compare and swap. Target and preconditions
 * are looked at first, so that their faults answer before the content is read; and again in turn with the
 * other writes to the resource, which a slow client must not hold up.
 */
export async function write(service: Service, operation: Write, request: HttpRequest): Promise<Result> {
  const key = keyOf(operation);
  const current = await service.store.read(key);
  if (current === undefined || !isOpen(service, operation, { request, current })) return { kind: "absent" };
  const required = operation.collection.requirePreconditions;
  const guard = guardOf(service, operation.collection, request);
  requirePreconditions(request.headers, guard.validators(current), { required });
  const decide = await prepare(service, operation, request);
  return service.writes.run(`${key.collection}/${key.id}`, async () => {
    for (let tries = 0; tries < maxTries; tries++) {
      const result = await swap(service, operation, request, decide);
      if (result !== undefined) return result;
    }
    throw new Problem("UNAVAILABLE", "Other writes came first every time. Try again.");
  });
}

/** What a write makes of a resource. */
interface Decided {
  /** Gives the next text; `undefined` deletes the resource. */
  next(moment: Moment): Promise<string | undefined>;
  /** Whether it is a change also where it changes nothing. */
  isBlind: boolean;
}

/** Reads the content; what comes back makes the next text of the current one, as often as need be. */
async function prepare(service: Service, operation: Write, request: HttpRequest): Promise<Decided> {
  if (operation.kind === "delete") return { next: async () => undefined, isBlind: false };
  const { collection } = operation;
  const { limits } = service.settings;
  const { isBlind } = guardOf(service, collection, request);
  const target = isBlind ? blindTarget(operation) : operation;
  // RFC 9110 §14.5: a part of a representation must not be taken for the whole.
  if (operation.kind === "replace" && request.headers["content-range"] !== undefined) throw partialReplace();
  if (operation.kind === "replace") {
    const content = await readResource(request, limits);
    const next: Decided["next"] = async (moment) => decideReplace(target, content, moment);
    return { next, isBlind: isBlind || namesHidden(collection, content) };
  }
  const patch = await readPatch(operation, request, limits);
  if (isBlind && readsAnything(patch, limits)) throw deniedPatch(request.principal, collection.name);
  const named = isBlind ? { named: namedIn(patch) } : {};
  const next: Decided["next"] = async (moment) => {
    const { text } = moment.before;
    const value: unknown = JSON.parse(text);
    await pauseAfter(text.length);
    return decidePatch(target, patch, { ...moment, ...named, value, limits });
  };
  return { next, isBlind: isBlind || namesHidden(collection, patch.value) };
}

/** The target of a write as a sender who may not read knows it. */
function blindTarget({ collection, id }: Write): Pick<Write, "collection" | "id"> {
  return { collection: { ...collection, visibility: visibilityWithoutRead(collection.visibility) }, id };
}

function deniedPatch(principal: Principal | undefined, collection: string): Problem {
  const advice =
    'Without this permission, a JSON Patch can only "add" whole attributes, such as {"op":"add","path":"/title","value":"A"}. Any other operation would reveal what the resource contains.';
  return denied(principal, { collection, action: "read" }, advice);
}

async function readResource(request: HttpRequest, limits: Limits): Promise<Record<string, unknown>> {
  const bytes = await readContent(request, limits.bodyBytes);
  const content = parseResource(bytes, limits);
  await pauseAfter(bytes.length);
  return content;
}

async function readPatch(
  { format }: OperationOf<"patch">,
  request: HttpRequest,
  limits: Limits,
): Promise<Patch> {
  try {
    const bytes = await readContent(request, limits.bodyBytes);
    const patch = parsePatch(bytes, format, limits);
    await pauseAfter(bytes.length);
    return patch;
  } catch (error) {
    throw patchProblem(error);
  }
}

function partialReplace(): Problem {
  return new Problem(
    "INVALID_PARAMETER",
    "PUT replaces the whole resource and does not accept Content-Range. To change a part, use PATCH.",
    {
      violations: [{ in: "header", name: "Content-Range", code: "contentRange", detail: "leave it out" }],
    },
  );
}

/** One try; `undefined` when the resource changed between reading and writing. */
async function swap(
  service: Service,
  operation: Write,
  request: HttpRequest,
  { next: decide, isBlind }: Decided,
): Promise<Result | undefined> {
  const key = keyOf(operation);
  const current = await service.store.read(key);
  if (current === undefined || !isOpen(service, operation, { request, current })) return { kind: "absent" };
  const { collection, path } = operation;
  const guard = guardOf(service, collection, request);
  requirePreconditions(request.headers, guard.validators(current));
  const at = timeOfChange(service, collection, current);
  const next = await decide({ at, before: current, isBlind });
  const isAsSent = operation.kind !== "replace" || isKeptAsSent(collection);
  const updated = (stored: Stored) => written("updated", { stored, path, isAsSent }, guard);
  if (next === current.text && !isBlind) return commitNothing(service, request, updated(current));
  if (next !== undefined) guard.require("update", next);
  const text = next && (await withoutUnseen(service, request, { collection, next, before: current.text }));
  const resultOf = (made: Made): Result =>
    next === undefined ? { kind: "deleted" } : updated({ id: key.id, text: next, ...made });
  const change = { key, expect: current.version, next: text };
  return commit(service, request, { change, at, resultOf }).catch(undefinedIfOvertaken);
}

function undefinedIfOvertaken(error: unknown): undefined {
  if (error instanceof Problem && error.code === "PRECONDITION_FAILED") return undefined;
  throw error;
}

/** Whether a replacement leaves nothing behind but what was sent. */
function isKeptAsSent({ timestamps, visibility }: Collection): boolean {
  return !timestamps && visibility === undefined;
}

/** Whether the resource is there for the caller. Throws UNAUTHENTICATED or INSUFFICIENT_SCOPE where it is not the caller's to change. */
function isOpen(
  service: Service,
  { kind, collection }: Write,
  { request, current }: { request: HttpRequest; current: Stored },
): boolean {
  const guard = guardOf(service, collection, request);
  if (!guard.sees(current.text)) return false;
  guard.require(kind === "delete" ? "delete" : "update", current.text);
  return true;
}

function keyOf({ collection, id }: Write): Change["key"] {
  return { collection: collection.name, id };
}
