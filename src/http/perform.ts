/** Carries an operation out: looks the target up, judges preconditions, reads the content, decides, commits. */
import type { Collection } from "../collection/collection.ts";
import { Problem } from "../errors.ts";
import { pickFields } from "../query/fields.ts";
import { recordOf } from "../store/record.ts";
import type { Change, Stored } from "../store/store.ts";
import { isUnmodified, lastModifiedMs, requirePreconditions, type Validators } from "./conditional.ts";
import { readContent } from "./content.ts";
import {
  decideCreate,
  decidePatch,
  decideReplace,
  type Patch,
  parsePatch,
  parseResource,
  patchProblem,
} from "./decide.ts";
import { readListing } from "./list-by-content.ts";
import { type ListResult, listValidators, performList } from "./lists.ts";
import type { HttpRequest } from "./message.ts";
import type { Operation } from "./operation.ts";
import { type Document, documentOf } from "./routes/documents.ts";
import type { Service } from "./service.ts";
import type { Limits } from "./settings.ts";
import { pauseAfter } from "./turns.ts";

/** What came of an operation. */
export type Result =
  | { kind: "absent" }
  | { kind: "options"; operation: OperationOf<"options"> }
  | { kind: "document"; document: Document }
  | ListResult
  /** `path` is the collection's. */
  | { kind: "found" | "created" | "updated"; stored: Stored; path: string; validators: Validators }
  | { kind: "deleted" };

/** The operations of one kind. */
export type OperationOf<Kind extends Operation["kind"]> = Extract<Operation, { kind: Kind }>;

/** An operation on one existing resource that changes it. */
type Write = OperationOf<"replace" | "patch" | "delete">;

/** How often a write is decided anew when another instance was faster. */
const maxTries = 5;

const absent: Result = { kind: "absent" };

/** Performs the operation. Throws the problems of its content and preconditions, and the store's. */
export function perform(
  service: Service,
  operation: Operation,
  request: HttpRequest,
): Result | Promise<Result> {
  switch (operation.kind) {
    case "nothing":
      return absent;
    case "options":
      return { kind: "options", operation };
    case "document": {
      const document = documentOf(service, operation.name);
      return document === undefined ? absent : { kind: "document", document };
    }
    case "list":
      return performList(service, operation, request);
    case "query":
      return performQuery(service, operation, request);
    case "read":
      return read(service, operation, request);
    case "create":
      return create(service, operation, request);
    default:
      return write(service, operation, request);
  }
}

async function read(service: Service, operation: OperationOf<"read">, request: HttpRequest): Promise<Result> {
  const { collection, id } = operation;
  let stored = await service.store.read({ collection: collection.name, id });
  if (stored === undefined) return absent;
  const validators = validatorsOf(stored);
  if (isUnmodified(request.headers, validators, service.now())) {
    return { kind: "unmodified", validators, location: undefined };
  }
  if (operation.fields !== undefined) stored = cut(stored, operation.fields);
  return { kind: "found", stored, path: operation.path, validators };
}

function cut(stored: Stored, fields: readonly string[]): Stored {
  return { ...stored, text: pickFields(stored.text, fields) };
}

async function performQuery(
  service: Service,
  operation: OperationOf<"query">,
  request: HttpRequest,
): Promise<Result> {
  return performList(service, await readListing(service, operation, request), request);
}

async function create(
  service: Service,
  operation: OperationOf<"create">,
  request: HttpRequest,
): Promise<Result> {
  const { collection } = operation;
  await requireCollectionPreconditions(service, collection, request);
  const content = await readResource(request, service.settings.limits);
  const textFor = decideCreate(collection, content);
  await requireCollection(service, collection);
  const id = await newId(service, collection);
  const key = { collection: collection.name, id };
  const text = textFor(id);
  const committed = await commit(service, { key, expect: "absent", next: text });
  return written("created", operation.path, { id, text, ...committed });
}

/** RFC 9110 §13.1.1: the preconditions of a POST are judged against its target, the collection. */
async function requireCollectionPreconditions(
  service: Service,
  { name }: Collection,
  request: HttpRequest,
): Promise<void> {
  const { headers } = request;
  if (headers["if-match"] === undefined && headers["if-none-match"] === undefined) return;
  requirePreconditions(
    headers,
    listValidators(service, await service.store.list({ collection: name, limit: 1 })),
  );
}

/** In open mode a collection springs into being with its first create. */
async function requireCollection(service: Service, collection: Collection): Promise<void> {
  if (service.store.collections().has(collection.name)) return;
  // One after the other, so that a crowd of first creates keeps to the limit. No resource has this key.
  await service.writes.run("collections", () => makeCollection(service, collection));
}

async function makeCollection(service: Service, collection: Collection): Promise<void> {
  const collections = service.store.collections();
  if (collections.has(collection.name)) return;
  const limit = service.settings.limits.collections;
  if (collections.size >= limit) {
    throw new Problem("TOO_MANY_COLLECTIONS", `The service holds ${limit} collections and takes no more.`);
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
async function write(service: Service, operation: Write, request: HttpRequest): Promise<Result> {
  const key = keyOf(operation);
  const current = await service.store.read(key);
  if (current === undefined) return absent;
  requirePreconditions(request.headers, validatorsOf(current));
  const decide = await prepare(service, operation, request);
  return service.writes.run(`${key.collection}/${key.id}`, async () => {
    for (let tries = 0; tries < maxTries; tries++) {
      const result = await swap(service, operation, request, decide);
      if (result !== undefined) return result;
    }
    throw new Problem("UNAVAILABLE", "Other writers were faster every time. Try again.");
  });
}

/** Reads the content; what comes back makes the next text of the current one, as often as need be. */
async function prepare(
  service: Service,
  operation: Write,
  request: HttpRequest,
): Promise<(current: Stored) => Promise<string | undefined>> {
  if (operation.kind === "delete") return async () => undefined;
  const { limits } = service.settings;
  // RFC 9110 §14.5: a part of a representation must not be taken for the whole.
  if (operation.kind === "replace" && request.headers["content-range"] !== undefined) throw partialReplace();
  if (operation.kind === "replace") {
    const content = await readResource(request, limits);
    return async () => decideReplace(operation, content);
  }
  const patch = await readPatch(operation, request, limits);
  return async ({ text }) => {
    const value: unknown = JSON.parse(text);
    await pauseAfter(text.length);
    return decidePatch(operation, patch, { text, value, limits });
  };
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
    "PUT replaces the whole resource and takes no Content-Range. Use PATCH.",
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
  decide: (current: Stored) => Promise<string | undefined>,
): Promise<Result | undefined> {
  const key = keyOf(operation);
  const current = await service.store.read(key);
  if (current === undefined) return absent;
  requirePreconditions(request.headers, validatorsOf(current));
  const next = await decide(current);
  if (next === current.text) return written("updated", operation.path, current);
  try {
    const committed = await commit(service, { key, expect: current.version, next });
    if (next === undefined) return { kind: "deleted" };
    return written("updated", operation.path, { id: key.id, text: next, ...committed });
  } catch (error) {
    if (error instanceof Problem && error.code === "PRECONDITION_FAILED") return undefined;
    throw error;
  }
}

function keyOf({ collection, id }: Write): Change["key"] {
  return { collection: collection.name, id };
}

function written(kind: "created" | "updated", path: string, stored: Stored): Result {
  return { kind, stored, path, validators: validatorsOf(stored) };
}

/** Commits one change; gives the version that it made, and when. */
async function commit(service: Service, change: Change): Promise<{ version: number; updatedAt: number }> {
  const at = service.now();
  const [committed] = await withinDeadline(
    service,
    service.store.commit({ changes: [change], at }),
    outcomeUnknown,
  );
  if (committed === undefined) throw new Error("the store committed a change and does not know which");
  return { version: committed.version, updatedAt: at };
}

/** A commit that takes too long may still happen: the client is told that nobody knows. */
function outcomeUnknown(): Problem {
  return new Problem(
    "OUTCOME_UNKNOWN",
    "The write took too long and may still happen. Read before you repeat it.",
  );
}

/** For what prepares a write and may happen later without harm: a collection made, or an id that nobody uses. */
function inTime<T>(service: Service, work: Promise<T>): Promise<T> {
  return withinDeadline(
    service,
    work,
    () => new Problem("UNAVAILABLE", "The store took too long; nothing was written. Try again."),
  );
}

function withinDeadline<T>(service: Service, work: Promise<T>, problemWhenLate: () => Problem): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(problemWhenLate()), service.settings.limits.handlerTimeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function validatorsOf({ version, updatedAt }: Stored): Validators {
  return { etag: `"${version}"`, lastModifiedMs: lastModifiedMs(updatedAt) };
}
