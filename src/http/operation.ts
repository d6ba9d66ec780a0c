/** From a route and the headers to the operation that the request asks for. The content stays unread. */
import type { Collection } from "../collection/collection.ts";
import { Problem } from "../errors.ts";
import { requireNoParameters } from "../query/parameters.ts";
import { parseFields, parseList } from "../query/parse.ts";
import type { Key } from "../store/stored.ts";
import type { Caller } from "./caller/admit.ts";
import { type Guard, guardOf, requireAllowed, viewFor } from "./caller/permission.ts";
import { contentTooLarge } from "./content.ts";
import { type ChangesAsked, type PointInTime, parseChanges, splitPointInTime } from "./history/request.ts";
import type { Idempotency } from "./idempotency.ts";
import type { Listing } from "./lists/listing.ts";
import type { HttpRequest } from "./message.ts";
import {
  listTypeFor,
  prefersHtml,
  requireJsonAcceptable,
  requireListAcceptable,
} from "./negotiation/accept.ts";
import {
  isMethodWithContent,
  type PatchFormat,
  patchFormat,
  requireContentType,
  typesOf,
} from "./negotiation/content-types.ts";
import { methodsOf, type Route } from "./route.ts";
import { mayHavePage } from "./routes/pages.ts";
import type { Service } from "./service.ts";

/** A collection as the caller sees it, and what the caller can do there. */
interface InCollection {
  collection: Collection;
  /** The path of the collection. */
  path: string;
  guard: Guard;
}

/** One resource of a collection. */
interface OfResource extends InCollection {
  id: string;
}

/** The key of an operation's resource in the store. */
export function keyOf({ collection, id }: Pick<OfResource, "collection" | "id">): Key {
  return { collection: collection.name, id };
}

/** An operation that writes. */
interface Writes {
  caller: Caller;
  /** Set while this is the first request with its Idempotency-Key. */
  idempotency?: Idempotency;
}

/** A parsed request. */
export type Operation =
  /** `path` is set for a path outside the prefix. */
  | { kind: "nothing"; path?: string | undefined }
  /** The page that a browser gets at the root. */
  | { kind: "front page"; caller: Caller }
  | { kind: "collections"; caller: Caller }
  | { kind: "options"; allow: string | undefined; accept: Record<string, string> }
  | { kind: "document"; name: string }
  | ({ kind: "batch" } & Writes)
  | ({ kind: "list"; guard: Guard } & Listing)
  /** A list whose parameters are in the body. */
  | ({ kind: "query" } & InCollection)
  | ({ kind: "create" } & InCollection & Writes)
  /** `fields` are the attributes that the response has; `undefined`: all. */
  | ({ kind: "read"; fields: readonly string[] | undefined } & OfResource)
  /** Reads an earlier state of a resource. */
  | ({ kind: "past"; pointInTime: PointInTime; fields: readonly string[] | undefined } & OfResource)
  | ({ kind: "changes"; asked: ChangesAsked } & OfResource)
  | ({ kind: "restore" } & OfResource & Writes)
  | ({ kind: "replace" } & OfResource & Writes)
  | ({ kind: "delete" } & OfResource & Writes)
  | ({ kind: "patch"; format: PatchFormat } & OfResource & Writes);

/** The operations of one kind. */
export type OperationOf<Kind extends Operation["kind"]> = Extract<Operation, { kind: Kind }>;

/**
 * Checks that the caller can do this at all (401, 403), then reads the headers in the order of their errors: Expect (417),
 * coding and type of the content (415), its length (413), Accept (406), query parameters (400).
 */
export function parseOperation(
  service: Service,
  route: Route,
  caller: Caller,
  request: HttpRequest,
): Operation {
  const { method } = request;
  if (route.kind === "nothing") return nothingOf(service, route, caller, request);
  if (route.kind === "service") return { kind: "options", allow: undefined, accept: {} };
  if (method === "OPTIONS") return optionsOf(route.kind);
  requireAllowed(service, route, caller, method);
  requireKnownExpectation(request);
  if (isMethodWithContent(method)) requireContentType(request, method);
  requireContentLength(request, service.settings.limits.bodyBytes);
  requireAcceptable(service, route, request);
  if ("collection" in route) return operationIn(service, route, caller, request);
  requireNoParameters(route.query);
  if (route.kind === "document") return { kind: "document", name: route.name };
  if (route.kind === "batch") return { kind: "batch", caller };
  return { kind: isRootPage(service, request) ? "front page" : "collections", caller };
}

function requireAcceptable(service: Service, route: Route, request: HttpRequest): void {
  const { method } = request;
  if (method === "DELETE" || route.kind === "document") return;
  if (route.kind === "collection" && method !== "POST") requireListAcceptable(request);
  else if (route.kind !== "collections" || !isRootPage(service, request)) requireJsonAcceptable(request);
}

/** A browser at the root gets a page. */
function nothingOf(
  service: Service,
  { outside }: Route & { kind: "nothing" },
  caller: Caller,
  request: HttpRequest,
): Operation {
  if (outside?.path !== "/" || !mayHavePage(service, request))
    return { kind: "nothing", path: outside?.path };
  requireNoParameters(outside.query);
  return { kind: "front page", caller };
}

/** If the prefix is the root, it has both the list of collections and the page. */
function isRootPage(service: Service, request: HttpRequest): boolean {
  return service.settings.prefix === "" && mayHavePage(service, request) && prefersHtml(request);
}

/** An operation on a collection or on one of its resources. */
function operationIn(
  service: Service,
  route: Extract<Route, { collection: Collection }>,
  caller: Caller,
  request: HttpRequest,
): Operation {
  const { path, query } = route;
  const collection = viewFor(service, route.collection, caller);
  const guard = guardOf(service, collection, caller);
  const { method } = request;
  const maxLimit = service.settings.limits.page;
  if (route.kind === "collection" && (method === "GET" || method === "HEAD")) {
    const asked = parseList(query, collection, maxLimit);
    const type = listTypeFor(request, asked);
    return { kind: "list", collection, path, guard, asked, query, type, contentHash: undefined };
  }
  if (route.kind === "resource" && (method === "GET" || method === "HEAD")) {
    const { id } = route;
    if (query === "") return { kind: "read", collection, path, guard, id, fields: undefined };
    const { pointInTime, rest } = splitPointInTime(query);
    const fields = parseFields(rest, collection);
    if (pointInTime === undefined) return { kind: "read", collection, path, guard, id, fields };
    return { kind: "past", collection, path, guard, id, pointInTime, fields };
  }
  if (route.kind === "changes") {
    const { id } = route;
    const asked = parseChanges(query, { collection: collection.name, id }, maxLimit);
    return { kind: "changes", collection, path, guard, id, asked };
  }
  requireNoParameters(query);
  if (route.kind === "restore") return { kind: "restore", collection, path, guard, id: route.id, caller };
  if (route.kind === "collection")
    return { kind: method === "QUERY" ? "query" : "create", collection, path, guard, caller };
  const { id } = route;
  if (method === "DELETE") return { kind: "delete", collection, path, guard, id, caller };
  if (method === "PUT") return { kind: "replace", collection, path, guard, id, caller };
  return { kind: "patch", collection, path, guard, id, caller, format: patchFormat(request) };
}

function optionsOf(kind: keyof typeof methodsOf): Operation {
  const accept = {
    collections: {},
    collection: { "accept-post": typesOf("POST"), "accept-query": typesOf("QUERY") },
    resource: { "accept-patch": typesOf("PATCH") },
    changes: {},
    restore: { "accept-post": typesOf("POST") },
    document: {},
    batch: { "accept-post": typesOf("POST") },
  };
  return { kind: "options", allow: methodsOf[kind], accept: accept[kind] };
}

function requireKnownExpectation({ headers }: HttpRequest): void {
  if (headers.expect === undefined || headers.expect.toLowerCase() === "100-continue") return;
  throw new Problem("EXPECTATION_FAILED", "The service supports no expectation other than 100-continue.");
}

function requireContentLength({ headers }: HttpRequest, maxBytes: number): void {
  if (headers["content-length"] !== undefined && Number(headers["content-length"]) > maxBytes) {
    throw contentTooLarge(maxBytes);
  }
}
