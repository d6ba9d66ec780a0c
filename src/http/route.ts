/** The first step of a request: checks the request line and the Host header, and finds out what the request addresses. */
import type { Collection } from "../collection/collection.ts";
import type { Relation } from "../collection/relations.ts";
import { Problem } from "../errors.ts";
import { isInternal } from "../store/port/record.ts";
import { namesHtml } from "./protocol/accept.ts";
import { isLoopback, plainAddress } from "./protocol/hosts.ts";
import type { HttpRequest } from "./protocol/message.ts";
import { hostOf, isAbsolute, splitTarget } from "./protocol/target.ts";
import { requireWellFormed } from "./protocol/well-formed.ts";
import {
  type Callers,
  type Data,
  type EndpointPath,
  type FoundPath,
  findCollection,
  type Service,
  type Surface,
} from "./service.ts";
import type { HttpSettings } from "./settings.ts";

/** What a request target addresses. */
export type Route =
  /**
   * `outside` is the path if it is outside the prefix: then a browser gets a page. `name` is set if no collection has this
   * name, and `relation` if a collection has no list with this name below its resources.
   */
  | { kind: "nothing"; outside?: string; name?: string; relation?: MissingRelation }
  /** `OPTIONS *`: the service as a whole. */
  | { kind: "service" }
  | OwnRoute
  | CollectionRoute;

/** A nested path whose collection has no inverse relation with this name. */
export interface MissingRelation {
  collection: Collection;
  name: string;
}

/** A path of the service itself. `names` are the values in it, and `query` is the raw query string without `?`. */
export interface OwnRoute {
  kind: "own";
  endpoint: EndpointPath;
  names: Readonly<Record<string, string>>;
  query: string;
}

/** A path in a collection. `path` is the path of the collection. */
export interface CollectionRoute {
  kind: "collection";
  endpoint: EndpointPath;
  collection: Collection;
  path: string;
  /** The second segment of the path: the id, if the path has one. */
  id: string;
  /** Set if the path is nested, such as `users/7/articles`: then `id` is the id of the resource above the collection. */
  nested?: NestedIn;
  query: string;
}

/** How a nested path leads to its collection. */
export interface NestedIn {
  /** The collection of the resource above. */
  parent: Collection;
  relation: Relation;
  /** The nested path itself. */
  path: string;
}

const nothing: Route = { kind: "nothing" };

/** The path of a resource in the collection with this path. */
export function resourcePath(collectionPath: string, id: string): string {
  return `${collectionPath}/${encodeURIComponent(id)}`;
}

/** The value of a Link header that leads to the OpenAPI document (RFC 8631). */
export function serviceDescription({ pagesBelow = "" }: HttpSettings): string {
  return `<${pagesBelow}/openapi.json>; rel="service-desc"`;
}

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
  if ("endpoint" in route && !isForSome(route)) requireMethod(route, request);
  return route;
}

/** Throws METHOD_NOT_ALLOWED unless the path has the method of the request. */
export function requireMethod(
  { endpoint: { methods, allow } }: OwnRoute | CollectionRoute,
  { method }: Pick<HttpRequest, "method">,
): void {
  if (method === "OPTIONS" || methods.has(method)) return;
  throw new Problem("METHOD_NOT_ALLOWED", `This path does not support ${method}. It supports ${allow}.`, {
    headers: { allow },
  });
}

/** Whether a path exists for some callers only. Its method is checked after its caller is known. */
export function isForSome(route: OwnRoute | CollectionRoute): boolean {
  if (route.kind === "collection" && route.nested !== undefined) return route.nested.relation.isRestricted;
  return isAdministrative(route);
}

/** Whether a path exists for administrators only. */
export function isAdministrative(route: OwnRoute | CollectionRoute): boolean {
  return (
    route.endpoint.isAdministrative || (route.kind === "collection" && isInternal(route.collection.name))
  );
}

/** Whether browsers can send a preflight. No web page reads the administrative paths outside the prefix. */
export function hasPreflight({ endpoint }: OwnRoute | CollectionRoute): boolean {
  return !endpoint.isOutside || !endpoint.isAdministrative;
}

/** Whether the response can be a page: the client is a browser, and the service is not part of another application. */
export function canHavePage({ isEmbedded }: Surface, request: HttpRequest): boolean {
  const isRead = request.method === "GET" || request.method === "HEAD";
  return !isEmbedded && isRead && namesHtml(request);
}

/** The template of a route, such as `/api/v1/articles/{id}`: its path in the OpenAPI document; `undefined` if the path is unknown. */
export function templateOf({ collections, settings }: Data & Surface, route: Route): string | undefined {
  if (route.kind === "nothing") return route.outside === "/" ? "/" : undefined;
  if (route.kind === "service") return "*";
  if (route.kind === "own") return fullTemplate(route.endpoint, settings);
  const { endpoint, collection, nested } = route;
  const { name } = nested?.parent ?? collection;
  const relation = nested === undefined ? "" : nested.relation.name;
  // All undeclared collections share one template, because clients choose their names.
  const isKnown = collections().has(name) || isInternal(name);
  return fullTemplate(endpoint, settings, isKnown ? { collection: name, relation } : {});
}

/** The template of a path of the table with the prefix, and with these names in place of its parameters. */
export function fullTemplate(
  { template, isOutside }: Pick<EndpointPath, "template" | "isOutside">,
  { prefix, pagesBelow = "" }: Pick<HttpSettings, "prefix" | "pagesBelow">,
  { collection, relation }: { collection?: string; relation?: string } = {},
): string {
  if (isOutside) return pagesBelow + template;
  if (template === "/") return prefix || "/";
  const path = collection === undefined ? template : template.replace("{collection}", () => collection);
  return prefix + (relation === undefined ? path : path.replace("{relation}", () => relation));
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

function requireOwnHost(service: Callers & Surface, request: HttpRequest): void {
  requireLoopback(service, request);
  const host = hostOf(request);
  if (service.isOwnHost(host)) return;
  const advice =
    service.access === undefined ? 'add the name to "hosts" in the configuration' : "configure publicUrl";
  throw new Problem(
    "MISDIRECTED",
    `The service does not accept requests for the host "${host}". Use localhost or a loopback address, or ${advice}.`,
  );
}

/** An application can listen on any address. A request that it injects itself has none. */
function requireLoopback({ isForLoopback = false }: Surface, { socket }: HttpRequest): void {
  if (!isForLoopback || isLoopback(plainAddress(socket.localAddress ?? "localhost"))) return;
  throw new Problem(
    "MISDIRECTED",
    "Without publicUrl, the service with its users is for this machine only. This request came to an address that others can reach. Use a loopback address, or set publicUrl.",
  );
}

function requireShortTarget({ settings }: Surface, { method, target }: HttpRequest): void {
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
  const { prefix, pagesBelow } = service.settings;
  const isUnderPrefix = path.startsWith(prefix) && path[prefix.length] === "/";
  const isPrefix = path === prefix || (isUnderPrefix && path.length === prefix.length + 1);
  if (isPrefix) return ownRoute(service.endpoints.find(service, []), query);
  const segments = decodeSegments(isUnderPrefix ? path.slice(prefix.length + 1) : path);
  const isOutside = pagesBelow !== undefined || !isUnderPrefix || prefix === "";
  const page = path.slice((pagesBelow ?? "").length);
  const outside = isOutside ? service.endpoints.findOutside(service, page) : undefined;
  if (outside !== undefined) return ownRoute(outside, query);
  if (isUnderPrefix) return matchSegments(service, segments, query);
  if (path !== "" && !path.startsWith("/")) return nothing;
  if (path.length <= 1 && canHavePage(service, request)) return frontPage(service, query);
  return { kind: "nothing", outside: path || "/" };
}

/** A browser at the root gets a page. */
function frontPage({ endpoints: { forBrowsers } }: Surface, query: string): Route {
  return ownRoute(forBrowsers && { path: forBrowsers, names: {} }, query);
}

/** A path of the service itself. */
function ownRoute(found: FoundPath | undefined, query: string): Route {
  return found === undefined ? nothing : { kind: "own", endpoint: found.path, names: found.names, query };
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

function matchSegments(service: Service, segments: string[], query: string): Route {
  if (segments.length > 1 && segments.at(-1) === "") segments.pop(); // one trailing slash is allowed
  const own = service.endpoints.find(service, segments);
  if (own !== undefined) return ownRoute(own, query);
  const [name, id, part] = segments;
  if (name === undefined || segments.length > 3) return nothing;
  const found = service.endpoints.reserves(name) ? undefined : findCollection(service, name);
  const collection = found ?? service.ownCollections?.get(name);
  if (collection === undefined) return { kind: "nothing", name };
  if (id === "") return nothing;
  const endpoint = service.endpoints.findIn(service, collection, segments, query);
  if (endpoint === undefined) return nothing;
  const path = `${service.settings.prefix}/${name}`;
  return endpoint.isNested
    ? matchNested(service, { endpoint, collection, path, id: id as string, query }, part as string)
    : { kind: "collection", endpoint, collection, path, id: id ?? "", query };
}

/** The route of a nested path: from one resource to those that refer to it. */
function matchNested(
  { collections, settings }: Data & Surface,
  { endpoint, collection: parent, path, id, query }: Omit<CollectionRoute, "kind">,
  name: string,
): Route {
  const relation = parent.relations.get(name);
  const collection = relation && collections().get(relation.collection);
  if (relation?.kind !== "inverse" || collection === undefined)
    return { kind: "nothing", relation: { collection: parent, name } };
  return {
    kind: "collection",
    endpoint,
    collection,
    path: `${settings.prefix}/${collection.name}`,
    id,
    nested: { parent, relation, path: `${resourcePath(path, id)}/${name}` },
    query,
  };
}
