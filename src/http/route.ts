/** The first step of a request: checks the request line and the Host header, and finds out what the request addresses. */
import type { Collection } from "../collection/collection.ts";
import { Problem } from "../errors.ts";
import { isInternal } from "../store/internal.ts";
import { webhooksName } from "../webhooks/collection.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import { invalidRequest } from "./protocol/hosts.ts";
import type { HttpRequest } from "./protocol/message.ts";
import { findCollection, type Service } from "./service.ts";

/** What a request target addresses. `query` is the raw query string without `?`, and `path` is the path of the collection. */
export type Route =
  /** `outside` is set if the path is outside the prefix: then a browser gets a page. */
  | { kind: "nothing"; outside?: { path: string; query: string } }
  /** `OPTIONS *`: the service as a whole. */
  | { kind: "service" }
  /** The prefix itself, with the list of collections. */
  | { kind: "collections"; query: string }
  | { kind: "collection"; collection: Collection; path: string; query: string }
  | { kind: "resource"; collection: Collection; id: string; path: string; query: string }
  /** The list of changes of a resource, and the restore of a version. */
  | { kind: "changes" | "restore"; collection: Collection; id: string; path: string; query: string }
  /** How the deliveries of a webhook go, and the recent ones. */
  | { kind: "webhookStatus" | "webhookDeliveries"; id: string; query: string }
  /** What an administrator does with a webhook. `event` is the event to send again. */
  | { kind: "webhookAction"; action: WebhookAction; id: string; event: string; query: string }
  /** The events of one collection. */
  | { kind: "events"; collection: Collection; path: string; query: string }
  /** The events of several collections. */
  | { kind: "feed"; query: string }
  | { kind: "document"; name: string; query: string }
  /** Several operations in one request. */
  | { kind: "batch"; query: string };

/** The methods of each kind of route, as `Allow` lists them. */
export const methodsOf = {
  collections: "GET, HEAD, OPTIONS",
  collection: "GET, HEAD, POST, QUERY, OPTIONS",
  resource: "GET, HEAD, PUT, PATCH, DELETE, OPTIONS",
  changes: "GET, HEAD, OPTIONS",
  restore: "POST, OPTIONS",
  events: "GET, HEAD, OPTIONS",
  feed: "GET, HEAD, OPTIONS",
  document: "GET, HEAD, OPTIONS",
  batch: "POST, OPTIONS",
  webhookStatus: "GET, HEAD, OPTIONS",
  webhookDeliveries: "GET, HEAD, OPTIONS",
  webhookAction: "POST, OPTIONS",
} as const;

/** What an administrator can do with a webhook: send an event again, send a test event, make a new secret. */
export type WebhookAction = "retry" | "test" | "rotate";

const nothing: Route = { kind: "nothing" };

const methodSets: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(methodsOf).map(([kind, methods]) => [kind, new Set(methods.split(", "))]),
);

/** The path of a resource in the collection with this path. */
export function resourcePath(collectionPath: string, id: string): string {
  return `${collectionPath}/${encodeURIComponent(id)}`;
}

/** Paths outside the prefix that the service answers itself. */
const documentPath =
  /^\/(?:livez|readyz|healthz|problems\/[^/]+|openapi\.json|openapi-3\.2\.json|asyncapi\.json|\.well-known\/api-catalog|docs(?:\/[^/]*)?)$/;

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
  requireOwnHost(service, request);
  if (request.target.length > service.settings.limits.targetBytes) throw targetTooLong(service, request);
  const route = matchTarget(service, request);
  if (route.kind === "nothing" || route.kind === "service" || isAdministrative(route)) return route;
  return requireMethod(route, request);
}

/** Throws METHOD_NOT_ALLOWED unless the route has the method of the request. */
export function requireMethod<R extends Exclude<Route, { kind: "nothing" | "service" }>>(
  route: R,
  request: Pick<HttpRequest, "method">,
): R {
  if (methodSets.get(route.kind)?.has(request.method)) return route;
  const allow = methodsOf[route.kind];
  throw new Problem(
    "METHOD_NOT_ALLOWED",
    `This path does not support ${request.method}. It supports ${allow}.`,
    { headers: { allow } },
  );
}

/** Whether a route exists for administrators only. Its method is checked after its caller is known. */
export function isAdministrative(route: Route): boolean {
  return route.kind.startsWith("webhook") || ("collection" in route && isInternal(route.collection.name));
}

/** Refuses requests that Node's parser accepts although they are not valid. */
function requireWellFormed({ version, headers, rawHeaders }: HttpRequest): void {
  if (version !== "1.1" && version !== "1.0")
    throw invalidRequest(`The service does not support HTTP/${version}. Use HTTP/1.1.`);
  let hosts = 0;
  let contentTypes = 0;
  let authorizations = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
    else if (name.length === 12 && name.toLowerCase() === "content-type") contentTypes++;
    else if (name.length === 13 && name.toLowerCase() === "authorization") authorizations++;
  }
  // RFC 9112 §3.2: a request without Host, or with two, must be refused. Node uses the first one.
  if (hosts !== 1)
    throw invalidRequest(`The request has ${hosts === 0 ? "no" : "more than one"} Host header.`);
  if (contentTypes > 1) throw invalidRequest("The request has more than one Content-Type header.");
  if (authorizations > 1) throw invalidRequest("The request has more than one Authorization header.");
  const coding = headers["transfer-encoding"];
  if (coding === undefined) return;
  if (version === "1.0") throw invalidRequest("HTTP/1.0 does not support Transfer-Encoding."); // RFC 9112 §6.1
  if (coding.toLowerCase() === "chunked") return;
  throw invalidRequest(`Transfer-Encoding "${coding}" is not supported. The service supports only chunked.`);
}

function requireOwnHost(service: Service, request: HttpRequest): void {
  const host = hostOf(request);
  if (service.isOwnHost(host)) return;
  throw new Problem(
    "MISDIRECTED",
    `The service does not accept requests for the host "${host}". Use localhost or a loopback address, or add the name to "hosts" in the configuration.`,
  );
}

/** The host of the request, with its port if there is one. `findRoute` has checked its form. */
export function hostOf({ target, headers }: HttpRequest): string {
  return authorityOf(target) ?? headers.host ?? "";
}

function targetTooLong(service: Service, { method, target }: HttpRequest): Problem {
  const limit = service.settings.limits.targetBytes;
  const advice =
    method === "GET" && target.includes("?")
      ? " To request a list with longer parameters, send them in the body of a QUERY request."
      : "";
  return new Problem(
    "URI_TOO_LONG",
    `The request target (path and query) is longer than the limit of ${limit} bytes.${advice}`,
  );
}

const absoluteForm = /^https?:\/\/([^/?#]*)/i;

/** The authority of an absolute-form target. It replaces the Host header (RFC 9112 §3.2.2). */
function authorityOf(target: string): string | undefined {
  return target.startsWith("/") ? undefined : absoluteForm.exec(target)?.[1];
}

/** The path and the raw query string of a request target. */
export function splitTarget(target: string): { path: string; query: string } {
  const local = target.startsWith("/") ? target : target.replace(absoluteForm, "");
  const mark = local.indexOf("?");
  return mark === -1
    ? { path: local, query: "" }
    : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}

function matchTarget(service: Service, request: HttpRequest): Route {
  if (request.target === "*") return request.method === "OPTIONS" ? { kind: "service" } : nothing;
  const { path, query } = splitTarget(request.target);
  const { prefix } = service.settings;
  const isUnderPrefix = path.startsWith(prefix) && path[prefix.length] === "/";
  const isPrefix = path === prefix || (isUnderPrefix && path.length === prefix.length + 1);
  if (isPrefix) return { kind: "collections", query };
  const segments = decodeSegments(isUnderPrefix ? path.slice(prefix.length + 1) : path);
  if ((!isUnderPrefix || prefix === "") && documentPath.test(path)) {
    return { kind: "document", name: path.slice(1), query };
  }
  if (isUnderPrefix) return matchSegments(service, segments, query);
  return path === "" || path.startsWith("/")
    ? { kind: "nothing", outside: { path: path || "/", query } }
    : nothing;
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
  { webhooks, settings }: Service & { webhooks: Webhooks },
  segments: readonly string[],
  query: string,
): Route {
  const [name, id, part, event, last, ...rest] = segments;
  if (rest.length > 0 || id === "") return nothing;
  const { collection } = webhooks;
  const path = `${settings.prefix}/${name}`;
  if (id === undefined) return { kind: "collection", collection, path, query };
  if (part === undefined) return { kind: "resource", collection, id, path, query };
  if (event !== undefined)
    return part === "_deliveries" && last === "_retry" && event !== ""
      ? { kind: "webhookAction", action: "retry", id, event, query }
      : nothing;
  if (part === "_status") return { kind: "webhookStatus", id, query };
  if (part === "_deliveries") return { kind: "webhookDeliveries", id, query };
  if (part === "_test" || part === "_rotate")
    return { kind: "webhookAction", action: part === "_test" ? "test" : "rotate", id, event: "", query };
  return nothing;
}

function matchSegments(service: Service, segments: string[], query: string): Route {
  if (segments.length > 1 && segments.at(-1) === "") segments.pop(); // one trailing slash is allowed
  const { webhooks } = service;
  if (segments[0] === webhooksName && webhooks !== undefined)
    return matchWebhooks({ ...service, webhooks }, segments, query);
  const [name, id, part, ...rest] = segments;
  if (name === undefined || rest.length > 0) return nothing;
  const collection = findCollection(service, name);
  if (collection === undefined) {
    if (id !== undefined) return nothing;
    if (name === "_events" && service.feed !== undefined) return { kind: "feed", query };
    return name === "_batch" ? { kind: "batch", query } : nothing;
  }
  const path = `${service.settings.prefix}/${name}`;
  if (id === undefined) return { kind: "collection", collection, path, query };
  if (id === "") return nothing;
  if (part === "_changes" || part === "_restore") {
    return { kind: part === "_changes" ? "changes" : "restore", collection, id, path, query };
  }
  if (part !== undefined) return nothing;
  if (id === "_events")
    return service.feed === undefined ? nothing : { kind: "events", collection, path, query };
  return { kind: "resource", collection, id, path, query };
}
