/** Parses a request: from its route, method, headers and query string to an operation. It does not read the content. */
import type { Collection } from "../../collection/collection.ts";
import { Problem } from "../../errors.ts";
import { asksForFigures, parseFigures } from "../../query/figures-request.ts";
import { requireNoParameters } from "../../query/list-parameters.ts";
import { parseList, parseResourceRequest } from "../../query/query-string.ts";
import type { ViewOf } from "../../query/related-resources.ts";
import { inQuery, Violations } from "../../query/violations.ts";
import type { Caller } from "../caller/admit.ts";
import { administers, type Guard, guardOf, requireAllowed, viewFor, viewsOf } from "../caller/permission.ts";
import {
  listTypeFor,
  namesHtml,
  prefersHtml,
  requireJsonAcceptable,
  requireListAcceptable,
} from "../protocol/accept.ts";
import { contentTooLarge, hasContent } from "../protocol/content.ts";
import {
  importTypeNames,
  isMethodWithContent,
  patchFormat,
  requireContentType,
  requireImportType,
  typesOf,
} from "../protocol/content-types.ts";
import type { HttpRequest } from "../protocol/message.ts";
import { hasPreflight, isAdministrative, methodsOf, type Route, requireMethod } from "../route-kinds.ts";
import type { Service } from "../service.ts";
import { parseSubscription } from "./feed-parameters.ts";
import { parseChanges, splitPointInTime } from "./history-parameters.ts";
import { parseImport } from "./import-parameters.ts";
import { canUseRelation, parentOf } from "./nested.ts";
import type { Operation, Parent } from "./operation.ts";
import { type PageAsked, parsePage } from "./page-parameters.ts";
import type { EndpointRow } from "./result.ts";

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
  if (route.kind === "nested") {
    // A relation by a hidden attribute does not exist for the caller. A preflight has no caller.
    if (method !== "OPTIONS" && !canUseRelation(service, route, caller)) return { kind: "nothing" };
    requireMethod(route, request);
  } else if (isAdministrative(route)) {
    // An administrative path does not exist for other callers. A preflight has no caller.
    if ((method !== "OPTIONS" || !hasPreflight(route)) && !administers(service, caller))
      return { kind: "nothing", path: outsidePath(route) };
    requireMethod(route, request);
  }
  if (method === "OPTIONS") return optionsOf(route);
  requireAllowed(service, route, caller, method);
  requireKnownExpectation(request);
  const { bodyBytes, importBytes } = service.settings.limits;
  if (route.kind === "import") requireImportType(request);
  else if (isMethodWithContent(method)) requireContentType(request, method);
  requireContentLength(request, route.kind === "import" ? importBytes : bodyBytes);
  requireAcceptable(route, request);
  if (route.kind === "events")
    return { kind: "events", ...parseSubscription(service, route, caller, request) };
  if (route.kind === "import") {
    const { collection, query } = route;
    return { kind: "import", collection, asked: parseImport(query, request), caller };
  }
  if ("collection" in route) return operationIn(service, route, caller, request);
  return ofEndpoint(service, route, caller, request);
}

/** The path of a route outside the prefix, where a browser gets a page. */
function outsidePath(route: Route): string | undefined {
  return route.kind === "endpoint" && route.endpoint.isOutside ? route.endpoint.template : undefined;
}

function ofEndpoint(
  service: Service,
  { endpoint: { methods }, names, query }: RouteIn<"endpoint">,
  caller: Caller,
  request: HttpRequest,
): Operation {
  const endpoint = methods.get(request.method) as EndpointRow; // the route has the method
  const asked = { kind: "endpoint", endpoint, names, caller } as const;
  if (endpoint.parse !== undefined)
    return { ...asked, page: noPage, parsed: endpoint.parse(service, { query, caller, request }) };
  if (endpoint.page === undefined) requireNoParameters(query);
  const page = endpoint.page === undefined ? noPage : parsePage(query, endpoint.page);
  if (request.method === "POST" && endpoint.body === undefined) requireNoContent(request);
  return { ...asked, page, parsed: undefined };
}

const noPage: PageAsked = { limit: 0, after: undefined };

function requireAcceptable(route: Route, request: HttpRequest): void {
  const { method } = request;
  if (method === "DELETE" || route.kind === "events") return; // a feed has formats of its own
  if (route.kind === "endpoint" && route.endpoint.methods.get(method)?.hasOwnFormats === true) return;
  if ((route.kind === "collection" || route.kind === "nested") && method !== "POST")
    requireListAcceptable(request);
  else requireJsonAcceptable(request);
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
  const endpoint = service.endpoints.forBrowsers;
  if (endpoint === undefined) return { kind: "nothing" };
  return ofEndpoint(
    service,
    { kind: "endpoint", endpoint, names: {}, query: outside.query },
    caller,
    request,
  );
}

/** If the prefix is the root, it has both the list of collections and the page. */
export function isRootPage(service: Service, request: HttpRequest): boolean {
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
  /** Set if the path is nested. */
  parent?: Parent;
  /** The declared collections as the caller sees them. */
  viewOf: ViewOf;
}

type RouteIn<Kind extends Route["kind"]> = Extract<Route, { kind: Kind }>;

function operationIn(
  service: Service,
  route: Exclude<Extract<Route, { collection: Collection }>, { kind: "events" | "import" }>,
  caller: Caller,
  request: HttpRequest,
): Operation {
  const collection = viewFor(service, route.collection, caller);
  const guard = guardOf(service, collection, caller);
  // Most requests are of this kind. They need nothing else.
  if (route.kind === "resource" && route.query === "" && isRead(request))
    return {
      kind: "read",
      collection,
      path: route.path,
      guard,
      id: route.id,
      caller,
      fields: undefined,
      embeds: [],
    };
  const context = {
    collection,
    guard,
    caller,
    request,
    maxLimit: service.settings.limits.page,
    viewOf: viewsOf(service, caller),
  };
  switch (route.kind) {
    case "collection":
      return onCollection(route, context);
    case "nested":
      return onCollection(route, { ...context, parent: parentOf(service, route, caller) });
    case "resource":
      return isRead(request) ? readOf(route, context) : changeOf(route, context);
    case "changes": {
      const { path, id, query } = route;
      const asked = parseChanges(query, { collection: collection.name, id }, context.maxLimit);
      return { kind: "changes", collection, path, guard, id, asked };
    }
    case "bulk":
      requireNoParameters(route.query);
      return { kind: "bulk", collection, path: route.path, guard, caller };
    case "restore":
      requireNoParameters(route.query);
      return { kind: "restore", collection, path: route.path, guard, id: route.id, caller };
  }
}

function onCollection(route: RouteIn<"collection" | "nested">, context: Context): Operation {
  const { query } = route;
  const { collection, guard, caller, request, maxLimit, parent, viewOf } = context;
  const path = route.kind === "nested" ? route.nestedPath : route.path;
  const common = { collection, path, guard, caller, parent };
  if (isRead(request) && asksForFigures(query)) {
    const asked = parseFigures(query, collection, maxLimit, { within: parent?.filter, viewOf });
    const type = listTypeFor(request, { envelope: false });
    return { kind: "figures", ...common, asked, query, type, contentHash: undefined };
  }
  if (isRead(request)) {
    const asked = parseList(query, collection, maxLimit, { within: parent?.filter, viewOf });
    const type = listTypeFor(request, asked);
    return { kind: "list", ...common, asked, query, type, contentHash: undefined };
  }
  requireNoParameters(query);
  if (request.method === "QUERY") return { kind: "query", ...common };
  return { kind: "create", ...common, path: route.path };
}

function readOf(
  { path, id, query }: RouteIn<"resource">,
  { collection, guard, caller, viewOf }: Context,
): Operation {
  const common = { collection, path, guard, id, caller };
  const { pointInTime, rest } = splitPointInTime(query);
  const { fields, embeds } = parseResourceRequest(rest, collection, { viewOf });
  if (pointInTime === undefined) return { kind: "read", ...common, fields, embeds };
  if (embeds.length > 0) {
    const violations = new Violations();
    const other = "version" in pointInTime ? "version" : "at";
    violations.add(inQuery("embed"), "embed", `cannot be used together with "${other}"`);
    violations.throwIfAny();
  }
  return { kind: "earlierState", ...common, pointInTime, fields };
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

function optionsOf(route: Exclude<Route, { kind: "nothing" | "service" }>): Operation {
  if (route.kind === "endpoint")
    return { kind: "options", allow: route.endpoint.allow, accept: route.endpoint.accept };
  const accept = {
    collection: { "accept-post": typesOf("POST"), "accept-query": typesOf("QUERY") },
    nested: { "accept-post": typesOf("POST"), "accept-query": typesOf("QUERY") },
    resource: { "accept-patch": typesOf("PATCH") },
    changes: {},
    bulk: { "accept-post": typesOf("POST") },
    restore: { "accept-post": typesOf("POST") },
    import: { "accept-post": importTypeNames },
    events: {},
  };
  return { kind: "options", allow: methodsOf[route.kind], accept: accept[route.kind] };
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

/** Throws INVALID_PARAMETER if a request without a body has one. */
function requireNoContent(request: HttpRequest): void {
  if (!hasContent(request) || request.headers["content-length"] === "0") return;
  throw new Problem("INVALID_PARAMETER", "This path takes no body. Send the request without one.");
}
