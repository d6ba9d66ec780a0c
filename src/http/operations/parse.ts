/** Parses a request: from its route, method, headers and query string to an operation. It does not read the content. */
import type { Collection } from "../../collection/collection.ts";
import { Problem } from "../../errors.ts";
import { requireNoParameters } from "../../query/parameters.ts";
import { parseFields, parseList } from "../../query/query-string.ts";
import type { Caller } from "../caller/admit.ts";
import { administers, type Guard, guardOf, requireAllowed, viewFor } from "../caller/permission.ts";
import {
  listTypeFor,
  namesHtml,
  prefersHtml,
  requireJsonAcceptable,
  requireListAcceptable,
} from "../protocol/accept.ts";
import { contentTooLarge } from "../protocol/content.ts";
import { isMethodWithContent, patchFormat, requireContentType, typesOf } from "../protocol/content-types.ts";
import type { HttpRequest } from "../protocol/message.ts";
import { isAdministrative, methodsOf, type Route, requireMethod } from "../route.ts";
import type { Service } from "../service.ts";
import { parseSubscription } from "./feed-parameters.ts";
import { parseChanges, splitPointInTime } from "./history-parameters.ts";
import type { Operation } from "./operation.ts";
import { parseLimit, requireNoContent } from "./webhook-parameters.ts";

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
  if (isAdministrative(route)) {
    // An administrative path does not exist for other callers. A preflight has no caller.
    if (method !== "OPTIONS" && !administers(service, caller)) return { kind: "nothing", path: undefined };
    requireMethod(route, request);
  }
  if (method === "OPTIONS") return optionsOf(route.kind);
  requireAllowed(service, route, caller, method);
  requireKnownExpectation(request);
  if (isMethodWithContent(method)) requireContentType(request, method);
  requireContentLength(request, service.settings.limits.bodyBytes);
  requireAcceptable(service, route, request);
  if (route.kind === "events" || route.kind === "feed")
    return { kind: "events", ...parseSubscription(service, route, caller, request) };
  if ("collection" in route) return operationIn(service, route, caller, request);
  if (route.kind === "webhookDeliveries")
    return { kind: route.kind, id: route.id, limit: parseLimit(route.query) };
  requireNoParameters(route.query);
  switch (route.kind) {
    case "document":
      return { kind: "document", name: route.name };
    case "batch":
      return { kind: "batch", caller };
    case "webhookStatus":
      return { kind: route.kind, id: route.id };
    case "webhookAction":
      requireNoContent(request);
      return { kind: route.kind, action: route.action, id: route.id, event: route.event };
    case "collections":
      return { kind: isRootPage(service, request) ? "front page" : "collections", caller };
  }
}

function requireAcceptable(service: Service, route: Route, request: HttpRequest): void {
  const { method } = request;
  if (method === "DELETE" || route.kind === "document") return;
  if (route.kind === "events" || route.kind === "feed") return; // a feed has formats of its own
  if (route.kind === "collection" && method !== "POST") requireListAcceptable(request);
  else if (route.kind !== "collections" || !isRootPage(service, request)) requireJsonAcceptable(request);
}

/** Whether the response can be a page: the client is a browser, and the service is not part of another application. */
export function canHavePage({ isEmbedded }: Service, request: HttpRequest): boolean {
  return !isEmbedded && isRead(request) && namesHtml(request);
}

function isRead({ method }: HttpRequest): boolean {
  return method === "GET" || method === "HEAD";
}

/** A browser at the root gets a page. */
function nothingOf(
  service: Service,
  { outside }: Route & { kind: "nothing" },
  caller: Caller,
  request: HttpRequest,
): Operation {
  if (outside?.path !== "/" || !canHavePage(service, request))
    return { kind: "nothing", path: outside?.path };
  requireNoParameters(outside.query);
  return { kind: "front page", caller };
}

/** If the prefix is the root, it has both the list of collections and the page. */
function isRootPage(service: Service, request: HttpRequest): boolean {
  return service.settings.prefix === "" && canHavePage(service, request) && prefersHtml(request);
}

/** A request in a collection, as its caller sees the collection. */
interface Context {
  collection: Collection;
  guard: Guard;
  caller: Caller;
  request: HttpRequest;
  /** The largest page of a list. */
  maxLimit: number;
}

type RouteIn<Kind extends Route["kind"]> = Extract<Route, { kind: Kind }>;

function operationIn(
  service: Service,
  route: Exclude<Extract<Route, { collection: Collection }>, { kind: "events" }>,
  caller: Caller,
  request: HttpRequest,
): Operation {
  const collection = viewFor(service, route.collection, caller);
  const guard = guardOf(service, collection, caller);
  const context = { collection, guard, caller, request, maxLimit: service.settings.limits.page };
  switch (route.kind) {
    case "collection":
      return onCollection(route, context);
    case "resource":
      return isRead(request) ? readOf(route, context) : changeOf(route, context);
    case "changes": {
      const { path, id, query } = route;
      const asked = parseChanges(query, { collection: collection.name, id }, context.maxLimit);
      return { kind: "changes", collection, path, guard, id, asked };
    }
    case "restore":
      requireNoParameters(route.query);
      return { kind: "restore", collection, path: route.path, guard, id: route.id, caller };
  }
}

function onCollection(
  { path, query }: RouteIn<"collection">,
  { collection, guard, caller, request, maxLimit }: Context,
): Operation {
  if (isRead(request)) {
    const asked = parseList(query, collection, maxLimit);
    const type = listTypeFor(request, asked);
    return { kind: "list", collection, path, guard, asked, query, type, contentHash: undefined };
  }
  requireNoParameters(query);
  return { kind: request.method === "QUERY" ? "query" : "create", collection, path, guard, caller };
}

function readOf({ path, id, query }: RouteIn<"resource">, { collection, guard }: Context): Operation {
  if (query === "") return { kind: "read", collection, path, guard, id, fields: undefined };
  const { pointInTime, rest } = splitPointInTime(query);
  const fields = parseFields(rest, collection);
  if (pointInTime === undefined) return { kind: "read", collection, path, guard, id, fields };
  return { kind: "past", collection, path, guard, id, pointInTime, fields };
}

function changeOf(
  { path, id, query }: RouteIn<"resource">,
  { collection, guard, caller, request }: Context,
): Operation {
  requireNoParameters(query);
  if (request.method === "DELETE") return { kind: "delete", collection, path, guard, id, caller };
  if (request.method === "PUT") return { kind: "replace", collection, path, guard, id, caller };
  return { kind: "patch", collection, path, guard, id, caller, format: patchFormat(request) };
}

function optionsOf(kind: keyof typeof methodsOf): Operation {
  const accept = {
    collections: {},
    collection: { "accept-post": typesOf("POST"), "accept-query": typesOf("QUERY") },
    resource: { "accept-patch": typesOf("PATCH") },
    changes: {},
    restore: { "accept-post": typesOf("POST") },
    events: {},
    feed: {},
    document: {},
    batch: { "accept-post": typesOf("POST") },
    webhookStatus: {},
    webhookDeliveries: {},
    webhookAction: {},
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
