/**
 * Several operations in one request, all or nothing: each is carried out over what the earlier ones made, in memory;
 * then everything is committed at once.
 */
import type { IdKind } from "../../collection/ids.ts";
import { Problem } from "../../errors.ts";
import type { Change } from "../../store/commit.ts";
import { requireAllowed } from "../caller/permission.ts";
import { commitAll, commitNothing } from "../commit.ts";
import { atVersion } from "../conditional.ts";
import { readContent } from "../content.ts";
import type { HttpRequest } from "../message.ts";
import { parseOperation } from "../operation.ts";
import type { Result } from "../result.ts";
import { findRoute } from "../route.ts";
import { findCollection, type Service } from "../service.ts";
import { nextTurn, pauseAfter } from "../wire/turns.ts";
import { create, requireCollection, write } from "../write.ts";
import { type Listed, parseBatch } from "./content.ts";
import { createOverlay, type Overlay } from "./overlay.ts";
import { type Created, requestOf } from "./request.ts";
import { resultText } from "./result.ts";

/** How often a batch is decided anew when another instance was faster. */
const maxTries = 5;

/** Operations are carried out for so long at a stretch; then whatever else waits has a turn. */
const stretchMs = 10;

/** The results of a batch are kept in memory until the last operation: so many characters of them. */
const maxResults = 16 * 1024 * 1024;

/** A batch under way. The ids that it gives are the same on every try. */
interface Batch {
  listed: readonly Listed[];
  request: HttpRequest;
  ids: Map<string, unknown>;
  /** All of it happens at one time, and not before the last change of what it changes (`timeOfChange`). */
  notBefore: number;
}

/**
 * Carries a batch out. Throws INVALID_BATCH, the problem of the first operation that fails with its index (what is not
 * there is OPERATION_NOT_FOUND), the problems of reading the content, and the store's.
 */
export async function performBatch(service: Service, request: HttpRequest): Promise<Result> {
  requireNoPreconditions(request);
  const { limits } = service.settings;
  const bytes = await readContent(request, limits.bodyBytes);
  const batch: Batch = { listed: parseBatch(bytes, limits), request, ids: new Map(), notBefore: 0 };
  await pauseAfter(bytes.length);
  return inTurnFor(service, keysOf(service, batch), async () => {
    for (let tries = 0; tries < maxTries; tries++) {
      const result = await attempt(service, batch);
      if (result !== undefined) return result;
    }
    throw new Problem("UNAVAILABLE", "Other writes came first every time. Try again.");
  });
}

/** What stands for the state of a batch's address, nobody could know: the operations have preconditions. */
function requireNoPreconditions({ headers }: HttpRequest): void {
  const names = ["If-Match", "If-None-Match", "If-Unmodified-Since"];
  const name = names.find((each) => headers[each.toLowerCase()] !== undefined);
  if (name === undefined) return;
  const detail = 'applies to one operation: put it in the "headers" of that operation';
  throw new Problem("INVALID_PARAMETER", `${name} ${detail}.`, {
    violations: [{ in: "header", name, code: "unknown", detail }],
  });
}

/** The resources that are there already, in one order for all, so that no two batches wait for each other. */
function keysOf(service: Service, { listed, request }: Batch): string[] {
  const keys = new Set<string>();
  const { prefix } = service.settings;
  for (const each of listed) {
    if (each.method === "POST") continue;
    try {
      const plain = requestOf({ ...each, body: undefined }, { request, prefix, created: new Map() });
      const route = findRoute(service, plain);
      if (route.kind === "resource") keys.add(`${route.collection.name}/${route.id}`);
    } catch {
      // It is refused with the operation's index when its turn comes.
    }
  }
  return [...keys].sort();
}

function inTurnFor<T>(service: Service, keys: readonly string[], task: () => Promise<T>): Promise<T> {
  return keys.reduceRight((inner, key) => () => service.writes.run(key, inner), task)();
}

/** One try; `undefined` when a resource changed between reading and writing. */
async function attempt(service: Service, batch: Batch): Promise<Result | undefined> {
  const at = Math.max(service.now(), batch.notBefore);
  const overlay = createOverlay(
    service.store,
    idSource(batch, (name) => service.store.reserveIds(name, 1)),
  );
  const body = await carryOutAll(insideOf(service, batch, { overlay, at }), batch, overlay);
  batch.notBefore = overlay.latest();
  if (batch.notBefore > at) return undefined;
  const result: Result = { kind: "batch", body };
  const changes = overlay.changes();
  if (changes.length === 0) return commitNothing(service, batch.request, result);
  await requireCollections(service, changes);
  try {
    return await commitAll(service, batch.request, {
      work: { changes, at },
      result,
    });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === "PRECONDITION_FAILED") return undefined;
    const operation = error.change === undefined ? undefined : overlay.operationOf(error.change);
    throw operation === undefined ? error : inOperation(error, operation);
  }
}

/** The service as the operations see it: with what earlier ones made, at one time, and nobody to wait for. */
function insideOf(
  service: Service,
  batch: Batch,
  { overlay, at }: { overlay: Overlay; at: number },
): Service {
  const uuid = idSource(batch, () => service.newUuid());
  return {
    ...service,
    store: overlay.store,
    writes: { run: (_key, task) => task() },
    now: () => at,
    newUuid: () => uuid("uuids"),
  };
}

/** Gives the ids that an earlier try was given, in the same order, and then new ones. */
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

/** Carries the operations out, over what each has made for the next; gives the answer's text. */
async function carryOutAll(inside: Service, { listed, request }: Batch, overlay: Overlay): Promise<string> {
  const created: Map<string, NonNullable<ReturnType<Created["get"]>>> = new Map();
  const texts: string[] = [];
  const pause = pauses();
  let length = 0;
  for (const [index, each] of listed.entries()) {
    overlay.operation = index;
    try {
      const own = requestOf(each, { request, prefix: inside.settings.prefix, created });
      const result = settled(await carryOut(inside, own, each), overlay);
      const text = resultText(inside, result, own);
      length += text.length;
      requireRoom(length);
      texts.push(text);
      if (each.as !== undefined && "stored" in result) created.set(each.as, idOf(inside, result));
    } catch (error) {
      throw inOperation(error, index);
    }
    await pause();
  }
  return `{"results":[${texts.join(",")}]}`;
}

async function carryOut(inside: Service, own: HttpRequest, { path }: Listed): Promise<Result> {
  const route = requireAllowed(inside, findRoute(inside, own), own);
  const operation = parseOperation(inside, route, own);
  switch (operation.kind) {
    case "create":
      return create(inside, operation, own);
    case "replace":
    case "patch":
    case "delete": {
      const result = await write(inside, operation, own);
      if (result.kind !== "absent") return result;
    }
  }
  const { prefix } = inside.settings;
  const advice = own.target === prefix + path ? adviceFor(path, prefix) : ""; // else a name was known
  throw new Problem(
    "OPERATION_NOT_FOUND",
    `${own.method} failed: nothing exists at ${JSON.stringify(path)}.${advice}`,
  );
}

/** What is likely to be meant by a path where nothing is. */
function adviceFor(path: string, prefix: string): string {
  if (prefix !== "" && path.startsWith(`${prefix}/`))
    return ` Write the path without the prefix: ${JSON.stringify(path.slice(prefix.length))}.`;
  const [, name] = /^\/[^/]+\/\$(.+)$/.exec(path) ?? [];
  return name === undefined ? "" : ` No earlier operation has ${JSON.stringify(name)} in its "as".`;
}

/** The version of a changed resource is the one that it gets, however often the batch has changed it. */
function settled(result: Result, overlay: Overlay): Result {
  if (result.kind !== "created" && result.kind !== "updated") return result;
  const { path, stored, validators } = result;
  const version = overlay.versionOf({ collection: collectionOf(path), id: stored.id });
  if (version === undefined || version === stored.version) return result;
  const next = { ...stored, version };
  return { ...result, stored: next, validators: validators && atVersion(validators, version) };
}

function idOf(
  inside: Service,
  { path, stored }: Extract<Result, { stored: unknown }>,
): { id: string; idKind: IdKind } {
  return { id: stored.id, idKind: findCollection(inside, collectionOf(path))?.idKind ?? "uuid" };
}

/** The last segment of a collection's path. */
function collectionOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function requireRoom(length: number): void {
  if (length <= maxResults) return;
  throw new Problem(
    "CONTENT_TOO_LARGE",
    "The results of the batch would be larger than 16 MiB. Send fewer operations, or give them the header Prefer: return=minimal.",
  );
}

/** The problem with the index of the operation whose it is; what the service is to blame for stays as it is. */
function inOperation(error: unknown, operation: number): unknown {
  if (!(error instanceof Problem) || error.status >= 500) return error;
  const { code, message, violations, headers, cause } = error;
  return new Problem(code, message, { violations, headers, cause, operation });
}

/** After a stretch of work lets whatever else waits have a turn. */
function pauses(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < stretchMs) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}

/** What the operations left out, since a batch that is refused should make none. */
async function requireCollections(service: Service, changes: readonly Change[]): Promise<void> {
  for (const name of new Set(changes.map(({ key }) => key.collection))) {
    const collection = findCollection(service, name);
    if (collection !== undefined) await requireCollection(service, collection);
  }
}
