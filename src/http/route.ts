/** The first step of a request: checks the request line and the Host header, and finds out what the request addresses. */
import { Problem } from "../errors.ts";
import { webhooksName } from "../webhooks/webhook.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import type { HttpRequest } from "./protocol/message.ts";
import { hostOf, isAbsolute, splitTarget } from "./protocol/target.ts";
import { requireWellFormed } from "./protocol/well-formed.ts";
import { isAdministrative, type Route, requireMethod } from "./route-kinds.ts";
import { type FoundPath, findCollection, type Service } from "./service.ts";

const nothing: Route = { kind: "nothing" };

/** The path of a resource in the collection with this path. */
export function resourcePath(collectionPath: string, id: string): string {
  return `${collectionPath}/${encodeURIComponent(id)}`;
}

/** The value of a Link header that leads to the OpenAPI document (RFC 8631). */
export const serviceDescription = '</openapi.json>; rel="service-desc"';

const healthPath = /^\/(?:livez|readyz|healthz)$/;

/** Whether the target is a health check. Every caller can send one at any time. */
export function isHealth(target: string): boolean {
  return healthPath.test(target);
}

/**
 * Finds what the request addresses. Throws INVALID_REQUEST and INVALID_PARAMETER (400), URI_TOO_LONG, MISDIRECTED and
 * METHOD_NOT_ALLOWED.
 */
export function findRoute(service: Service, request: HttpRequest): Route {
  requireWellFormed(request);
  if (request.method === "CONNECT") throw isNoProxy();
  if (service.isEmbedded && isAbsolute(request.target)) throw hasHost();
  requireOwnHost(service, request);
  requireShortTarget(service, request);
  const route = matchTarget(service, request);
  if (route.kind === "nothing" || route.kind === "service" || isForSome(route)) return route;
  return requireMethod(route, request);
}

function isNoProxy(): Problem {
  return new Problem(
    "METHOD_NOT_ALLOWED",
    "This service is not a proxy, so it does not support CONNECT. Send the request to the service itself, without a proxy.",
    { headers: { allow: "GET, HEAD, POST, PUT, PATCH, DELETE, QUERY, OPTIONS", connection: "close" } },
  );
}

/** The router of the application accepts such a target, but a hook that compares the start of the URL with a path misses it. */
function hasHost(): Problem {
  return new Problem(
    "INVALID_REQUEST",
    "The request target contains a host, as in a request to a proxy. Send only the path, such as /api/v1/topics.",
  );
}

/** Whether a route exists for some callers only. Its method is checked after its caller is known. */
function isForSome(route: Route): boolean {
  return route.kind === "nested" ? route.relation.isRestricted : isAdministrative(route);
}

function requireOwnHost(service: Service, request: HttpRequest): void {
  const host = hostOf(request);
  if (service.isOwnHost(host)) return;
  throw new Problem(
    "MISDIRECTED",
    `The service does not accept requests for the host "${host}". Use localhost or a loopback address, or add the name to "hosts" in the configuration.`,
  );
}

function requireShortTarget({ settings }: Service, { method, target }: HttpRequest): void {
  const limit = settings.limits.targetBytes;
  if (target.length <= limit) return;
  const advice =
    method === "GET" && target.includes("?")
      ? " To request a list with longer parameters, send them in the body of a QUERY request."
      : "";
  throw new Problem(
    "URI_TOO_LONG",
    `The request target (path and query) is longer than the limit of ${limit} bytes.${advice}`,
  );
}

function matchTarget(service: Service, request: HttpRequest): Route {
  if (request.target === "*") return request.method === "OPTIONS" ? { kind: "service" } : nothing;
  const { path, query } = splitTarget(request.target);
  const { prefix } = service.settings;
  const isUnderPrefix = path.startsWith(prefix) && path[prefix.length] === "/";
  const isPrefix = path === prefix || (isUnderPrefix && path.length === prefix.length + 1);
  if (isPrefix) return ownRoute(service.endpoints.find(service, []), query);
  const segments = decodeSegments(isUnderPrefix ? path.slice(prefix.length + 1) : path);
  const outside = !isUnderPrefix || prefix === "" ? service.endpoints.findOutside(service, path) : undefined;
  if (outside !== undefined) return ownRoute(outside, query);
  if (isUnderPrefix) return matchSegments(service, segments, query);
  return path === "" || path.startsWith("/")
    ? { kind: "nothing", outside: { path: path || "/", query } }
    : nothing;
}

/** A path of the table. */
function ownRoute(found: FoundPath | undefined, query: string): Route {
  return found === undefined
    ? nothing
    : { kind: "endpoint", endpoint: found.path, names: found.names, query };
}

/** Decodes each segment once, after the split, so that `%2F` and `%252e` stay data. */
function decodeSegments(path: string): string[] {
  const segments = path.split("/");
  if (!path.includes("%")) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch {
    throw new Problem("INVALID_PARAMETER", "The path contains a percent escape that is not valid UTF-8.", {
      violations: [{ in: "path", code: "percentEncoding", detail: "write a percent sign as %25" }],
    });
  }
}

function matchWebhooks(
  { settings }: Service,
  { collection }: Webhooks,
  [name, id, ...rest]: readonly string[],
  query: string,
): Route {
  const path = `${settings.prefix}/${name}`;
  if (id === undefined) return { kind: "collection", collection, path, query };
  return rest.length > 0 || id === "" ? nothing : { kind: "resource", collection, id, path, query };
}

function matchSegments(service: Service, segments: string[], query: string): Route {
  if (segments.length > 1 && segments.at(-1) === "") segments.pop(); // one trailing slash is allowed
  const own = service.endpoints.find(service, segments);
  if (own !== undefined) return ownRoute(own, query);
  const { webhooks } = service;
  const [name, id, part] = segments;
  if (name === webhooksName && webhooks !== undefined)
    return matchWebhooks(service, webhooks, segments, query);
  if (name === undefined || segments.length > 3) return nothing;
  const collection = findCollection(service, name);
  if (collection === undefined) return { kind: "nothing", name };
  const path = `${service.settings.prefix}/${name}`;
  if (id === undefined) return { kind: "collection", collection, path, query };
  if (id === "") return nothing;
  if (part === "_changes" || part === "_restore") {
    return { kind: part === "_changes" ? "changes" : "restore", collection, id, path, query };
  }
  if (part !== undefined)
    return matchNested(service, { kind: "resource", collection, id, path, query }, part);
  if (id === "_bulk") return { kind: "bulk", collection, path, query };
  if (id === "_import")
    return webhooks === undefined // then the service has no administrators
      ? nothing
      : { kind: "import", collection, path, query };
  if (id === "_events")
    return service.feed === undefined ? nothing : { kind: "events", collection, path, query };
  return { kind: "resource", collection, id, path, query };
}

/** The route of a nested path: from one resource to those that refer to it. */
function matchNested(
  { collections, settings }: Service,
  { collection: parent, id, path, query }: Route & { kind: "resource" },
  name: string,
): Route {
  const relation = parent.relations.get(name);
  const collection = relation && collections.get(relation.collection);
  if (relation?.kind !== "inverse" || collection === undefined) return nothing;
  return {
    kind: "nested",
    collection,
    path: `${settings.prefix}/${collection.name}`,
    query,
    parent,
    id,
    relation,
    nestedPath: `${resourcePath(path, id)}/${name}`,
  };
}
