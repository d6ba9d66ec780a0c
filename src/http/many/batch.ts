/**
 * Several operations in one request, all or nothing. Each operation sees what the earlier ones have changed, in memory.
 * Then all changes are committed at once.
 */
import type { IdKind } from "../../collection/ids.ts";
import { Problem } from "../../errors.ts";
import type { Change } from "../../store/port/commit.ts";
import { withMethods } from "../../store/port/store.ts";
import type { Key } from "../../store/port/stored.ts";
import type { Counting } from "../admission/exact-counts.ts";
import { createTimedPauses, pauseAfter } from "../admission/turns.ts";
import { requireUse } from "../caller/permission.ts";
import type { Writes } from "../operations/operation.ts";
import { parse } from "../operations/parse.ts";
import { type EndpointRow, notFound, type Result } from "../operations/result.ts";
import { atVersion, requireNoPreconditions } from "../protocol/conditional.ts";
import { readContent } from "../protocol/content.ts";
import type { HttpRequest } from "../protocol/message.ts";
import { findRoute } from "../route.ts";
import { type Data, findCollection, type Service, type Surface } from "../service.ts";
import { type CommitPlan, commit, overtaken, type Write, type WriteAttempt } from "../writes/commit.ts";
import { requireCollection } from "../writes/create.ts";
import { largeTurn, nameOf, type PendingStates, runWrite, type WriteSteps } from "../writes/write.ts";
import { type BatchOperation, parseBatch } from "./batch-content.ts";
import { type CreatedResources, requestOf, resultText } from "./batch-messages.ts";
import { createOverlay, type Overlay } from "./batch-overlay.ts";

/** The limit of the results of a batch, in characters. They stay in memory until the last operation. */
const maxResults = 16 * 1024 * 1024;

/**
 * The limit of the changed resources and their history, in characters. They stay in memory until one transaction writes the
 * batch. With the default limits, no batch reaches this.
 */
const maxChanged = 128 * 1024 * 1024;

/** A batch with more operations, or a longer body in bytes, has its turn among all writes that change many resources. */
const maxSmall = { operations: 100, bytes: 131_072 };

type BatchWrite = Write<Writes>;

/** The content of a batch, and what each attempt needs from the previous one. */
interface Batch {
  operations: readonly BatchOperation[];
  /** The length of the body, in bytes. */
  length: number;
  /** The ids that operations have received. They are the same in every attempt. */
  ids: Map<string, unknown>;
  /** All operations have the same time. It is not before the last change of any resource that they change (`timeOfChange`). */
  notBefore: number;
  /** Who had a unique value that the previous attempt could not create. */
  refusedFor?: string | undefined;
}

/**
 * Carries out a batch. Throws INVALID_BATCH, the problem of the first operation that fails with its index (an unknown
 * resource is OPERATION_NOT_FOUND), the problems of reading the content, and the store's.
 */
export function performBatch(write: BatchWrite): Promise<Result> {
  return runWrite(steps, write);
}

const steps: WriteSteps<Writes, true, Batch> = {
  find: async ({ request }) => {
    // The path of a batch has no state. Only its operations have.
    requireNoPreconditions(request, 'applies to one operation: put it in the "headers" of that operation');
    return true;
  },
  read: async ({ service, request }) => {
    const { limits } = service.settings;
    const bytes = await readContent(request, limits);
    const operations = parseBatch(bytes, limits);
    await pauseAfter(bytes.length);
    return { operations, length: bytes.length, ids: new Map(), notBefore: 0 };
  },
  resources: existingResources,
  follows: (_, batch) => !isLarge(batch) && batch.operations.every(({ method }) => method !== "DELETE"),
  decide,
};

/** Sorted, so that two batches do not deadlock. */
function existingResources({ service, request }: BatchWrite, batch: Batch): string[] {
  const { operations } = batch;
  const names = new Set<string>();
  const { prefix } = service.settings;
  for (const each of operations) {
    if (each.method === "POST") continue;
    try {
      const plain = requestOf({ ...each, body: undefined }, { request, prefix, created: new Map() });
      const route = findRoute(service, plain);
      if (route.kind === "collection" && route.nested === undefined && route.id !== "")
        names.add(nameOf({ collection: route.collection.name, id: route.id }));
    } catch {
      // The operation fails with its index when its turn comes.
    }
  }
  return [...(isLarge(batch) ? [largeTurn] : []), ...[...names].sort()];
}

/** Whether a batch takes as much time as a bulk change. */
function isLarge({ operations, length }: Pick<Batch, "operations" | "length">): boolean {
  return operations.length > maxSmall.operations || length > maxSmall.bytes;
}

async function decide(
  write: BatchWrite,
  _: true,
  batch: Batch,
  pending?: PendingStates,
): Promise<CommitPlan | WriteAttempt> {
  const { service } = write;
  const at = Math.max(service.now(), batch.notBefore);
  const overlay = createOverlay(withPending(service, pending), {
    reserveId: idSource(batch, (name) => service.store.reserveIds(name, 1)),
    isOver: (collection, text) => service.expired.isOver(collection, text, at),
  });
  const inside = { ...write, service: serviceInBatch(service, batch, { overlay, at }) };
  const body = await carryOutAll(inside, batch, overlay);
  batch.notBefore = overlay.latest();
  if (batch.notBefore > at) return overtaken;
  const all = overlay.changes();
  const ends = overlay.steps();
  const planFor = (changes: readonly Change[], steps: readonly (readonly Change[])[]): CommitPlan => {
    const operationOf = (error: unknown) => {
      const index = (error instanceof Problem ? error.change : undefined) ?? -1;
      const change = [...steps.flat(), ...changes][index];
      return change && overlay.operationOf(change);
    };
    return {
      kind: "plan",
      changes,
      ...(steps.length > 0 && { steps }),
      at,
      result: { kind: "batch", body },
      mayRetry: (refusal) => {
        const operation = operationOf(refusal);
        return operation !== undefined && canChangeInstead(batch, operation, refusal);
      },
      explain: (error) => {
        const operation = operationOf(error);
        return operation === undefined ? error : withOperation(error, operation);
      },
    };
  };
  const known = service.store.collections();
  const isKnown = ({ key }: Change) => known.has(key.collection);
  // The store refuses no change in a new collection. A batch that fails must not create any.
  if (![...ends.flat(), ...all].every(isKnown)) {
    const others = planFor(
      all.filter(isKnown),
      ends.map((step) => step.filter(isKnown)),
    );
    const tried = await commit(write, { ...others, isDryRun: true });
    if (tried.kind === "overtaken") return tried;
    await requireCollections(service, [...ends.flat(), ...all]);
  }
  return planFor(all, ends);
}

/**
 * Whether an operation by a unique key can change the resource that it could not create, because another request has made it. If the
 * same resource has the value again, the operation cannot change that one.
 */
function canChangeInstead(
  batch: Batch,
  operation: number,
  { code, takenBy }: Pick<Problem, "code" | "takenBy">,
): boolean {
  const { method, path } = batch.operations[operation] as BatchOperation;
  if (code !== "UNIQUE_VIOLATION" || method !== "PUT" || !path.includes("?")) return false;
  const isOther = batch.refusedFor !== takenBy;
  batch.refusedFor = takenBy;
  return isOther;
}

/** The store with the pending states of the resources. */
function withPending({ store, expired }: Data, pending: PendingStates = new Map()): Data["store"] {
  if (pending.size === 0) return store;
  const read = async (key: Key) => {
    const state = pending.get(nameOf(key))?.state;
    if (state === undefined) return store.read(key);
    return expired.isOver(key.collection, state.text) ? undefined : state;
  };
  return withMethods(store, { read });
}

/**
 * The service as the operations of a batch see it: with the changes of earlier operations, at one time, and without
 * queues.
 */
function serviceInBatch(
  service: Service,
  batch: Batch,
  { overlay, at }: { overlay: Overlay; at: number },
): Service {
  const uuid = idSource(batch, () => service.newUuid());
  return {
    ...service,
    store: overlay.store,
    writes: { run: (_key, task) => task() },
    pending: undefined, // each operation ends before the next one
    now: () => at,
    newUuid: () => uuid(""), // no collection has this name
    ownCollections: undefined, // a batch administers nothing
    isBatch: true,
  };
}

/** Returns the ids of the previous attempt in the same order, and then new ones. */
function idSource<Id>({ ids }: Batch, make: (kind: string) => Id): (kind: string) => Id {
  const given = new Map<string, number>();
  return (kind) => {
    const n = given.get(kind) ?? 0;
    given.set(kind, n + 1);
    const name = `${kind} ${n}`;
    if (!ids.has(name)) ids.set(name, make(kind));
    return ids.get(name) as Id;
  };
}

/** Carries out the operations one after the other, and returns the text of the response. */
async function carryOutAll(inside: BatchWrite, { operations }: Batch, overlay: Overlay): Promise<string> {
  const { service, request } = inside;
  const created: Map<string, NonNullable<ReturnType<CreatedResources["get"]>>> = new Map();
  const texts: string[] = [];
  const pause = createTimedPauses();
  let length = 0;
  for (const [index, each] of operations.entries()) {
    overlay.operation = index;
    try {
      const own = requestOf(each, { request, prefix: service.settings.prefix, created });
      const result = settled(await carryOut(inside, own, each), overlay);
      holdChanges(request, overlay);
      const text = resultText(service, result, own);
      length += text.length;
      requireRoom(length);
      texts.push(text);
      if (each.as !== undefined && "stored" in result) created.set(each.as, idOf(service, result));
    } catch (error) {
      throw withOperation(error, index);
    }
    await pause();
  }
  return `{"results":[${texts.join(",")}]}`;
}

async function carryOut(inside: BatchWrite, own: HttpRequest, { path }: BatchOperation): Promise<Result> {
  const { service, operation: batch } = inside;
  const route = findRoute(service, own);
  const endpoint = requireUse(service, route, batch.caller, own) as EndpointRow; // the table has rows only
  const asked = parse(service, endpoint, { route, caller: batch.caller, request: own });
  // From then on, the batch holds the memory of what the operation changed.
  const handle = async () => (endpoint.isInBatch === true ? endpoint.handle(service, asked) : notFound);
  const result = await handle().finally(() => own.ticket.endRead());
  if (result.kind !== "not found") return result;
  const { prefix } = service.settings;
  const advice = own.target === prefix + path ? adviceFor(path, prefix) : ""; // otherwise the path had a known name
  throw new Problem(
    "OPERATION_NOT_FOUND",
    `${own.method} failed: nothing exists at ${JSON.stringify(path)}.${advice}`,
  );
}

/** What the client probably meant with a path where nothing exists. */
function adviceFor(path: string, prefix: string): string {
  if (prefix !== "" && path.startsWith(`${prefix}/`))
    return ` Write the path without the prefix: ${JSON.stringify(path.slice(prefix.length))}.`;
  const [, name] = /^\/[^/]+\/\$(.+)$/.exec(path) ?? [];
  return name === undefined ? "" : ` No earlier operation has ${JSON.stringify(name)} in its "as".`;
}

/** A batch changes each resource once, so all its changes of a resource have the same version. */
function settled(result: Result, overlay: Overlay): Result {
  if (result.kind !== "created" && result.kind !== "updated") return result;
  const { path, stored, validators } = result;
  const version = overlay.versionOf({ collection: collectionOf(path), id: stored.id });
  if (version === undefined || version === stored.version) return result;
  const next = { ...stored, version };
  return { ...result, stored: next, validators: validators && atVersion(validators, version) };
}

function idOf(
  service: Data,
  { path, stored }: Extract<Result, { stored: unknown }>,
): { id: string; idKind: IdKind } {
  return { id: stored.id, idKind: findCollection(service, collectionOf(path))?.idKind ?? "uuid" };
}

/** The last segment of a collection's path. */
function collectionOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Counts the changed resources as memory that the batch holds. Throws CONTENT_TOO_LARGE and UNAVAILABLE. */
function holdChanges(request: HttpRequest, overlay: Overlay): void {
  const length = overlay.length();
  if (length > maxChanged) {
    throw new Problem(
      "CONTENT_TOO_LARGE",
      "The batch would change more than 128 MiB of resources. Send fewer operations.",
    );
  }
  request.ticket.hold(length);
}

function requireRoom(length: number): void {
  if (length <= maxResults) return;
  throw new Problem(
    "CONTENT_TOO_LARGE",
    "The results of the batch would be larger than 16 MiB. Send fewer operations, or give them the header Prefer: return=minimal.",
  );
}

/** A client's error with the index of its operation. A 5xx is not the fault of an operation. */
function withOperation(error: unknown, operation: number): unknown {
  if (!(error instanceof Problem) || error.status >= 500) return error;
  const { code, message, violations, headers, cause, holder } = error;
  return new Problem(code, message, { violations, headers, cause, holder, operation });
}

/** Creates the collections that do not exist yet. */
async function requireCollections(
  service: Counting & Data & Surface,
  changes: readonly Change[],
): Promise<void> {
  for (const name of new Set(changes.map(({ key }) => key.collection))) {
    const collection = findCollection(service, name);
    if (collection !== undefined) await requireCollection(service, collection);
  }
}
