/** The kinds of routes, their methods, and who they exist for. */
import type { Collection } from "../collection/collection.ts";
import type { Relation } from "../collection/relations.ts";
import { Problem } from "../errors.ts";
import { isInternal } from "../store/port/record.ts";
import type { HttpRequest } from "./protocol/message.ts";
import type { EndpointPath } from "./service.ts";

/** What a request target addresses. `query` is the raw query string without `?`, and `path` is the path of the collection. */
export type Route =
  /**
   * `outside` is set if the path is outside the prefix: then a browser gets a page. `name` is set if no collection has this
   * name.
   */
  | { kind: "nothing"; outside?: { path: string; query: string }; name?: string }
  /** `OPTIONS *`: the service as a whole. */
  | { kind: "service" }
  /** The prefix itself, with the list of collections. */
  | { kind: "collections"; query: string }
  | { kind: "collection"; collection: Collection; path: string; query: string }
  | { kind: "resource"; collection: Collection; id: string; path: string; query: string }
  /** The list of changes of a resource, and the restore of a version. */
  | { kind: "changes" | "restore"; collection: Collection; id: string; path: string; query: string }
  /** The resources of `collection` that refer to one resource. `path` is the path of `collection`. */
  | ({ kind: "nested"; collection: Collection; path: string; query: string } & NestedIn)
  /** A path of the table of endpoints. `names` are the values in it. */
  | { kind: "endpoint"; endpoint: EndpointPath; names: Readonly<Record<string, string>>; query: string }
  /** The change of many resources of a collection. */
  | { kind: "bulk"; collection: Collection; path: string; query: string }
  /** The import of many resources into a collection. */
  | { kind: "import"; collection: Collection; path: string; query: string }
  /** The events of one collection. */
  | { kind: "events"; collection: Collection; path: string; query: string }
  /** The events of several collections. */
  | { kind: "feed"; query: string }
  | { kind: "document"; name: string; query: string }
  /** The metrics of the service. */
  | { kind: "metrics"; query: string }
  /** The exchange of the token in the link of the first start for an API key. */
  | { kind: "firstKey"; query: string }
  /** Several operations in one request. */
  | { kind: "batch"; query: string }
  /** The rewind of collections to a time. */
  | { kind: "rewind"; query: string };

/** The resource and the relation in a nested path, such as `users/7/articles`. */
export interface NestedIn {
  parent: Collection;
  id: string;
  relation: Relation;
  /** The nested path itself. */
  nestedPath: string;
}

/** The methods of each kind of route, as `Allow` lists them. */
export const methodsOf = {
  collections: "GET, HEAD, OPTIONS",
  collection: "GET, HEAD, POST, QUERY, OPTIONS",
  nested: "GET, HEAD, POST, QUERY, OPTIONS",
  resource: "GET, HEAD, PUT, PATCH, DELETE, OPTIONS",
  changes: "GET, HEAD, OPTIONS",
  restore: "POST, OPTIONS",
  bulk: "POST, OPTIONS",
  import: "POST, OPTIONS",
  events: "GET, HEAD, OPTIONS",
  feed: "GET, HEAD, OPTIONS",
  document: "GET, HEAD, OPTIONS",
  metrics: "GET, HEAD, OPTIONS",
  batch: "POST, OPTIONS",
  firstKey: "POST, OPTIONS",
  rewind: "POST, OPTIONS",
} as const;

const methodSets: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(methodsOf).map(([kind, methods]) => [kind, new Set(methods.split(", "))]),
);

/** Throws METHOD_NOT_ALLOWED unless the route has the method of the request. */
export function requireMethod<R extends Exclude<Route, { kind: "nothing" | "service" }>>(
  route: R,
  request: Pick<HttpRequest, "method">,
): R {
  const allow = allowOf(route);
  const has =
    route.kind === "endpoint"
      ? request.method === "OPTIONS" || route.endpoint.methods.has(request.method)
      : methodSets.get(route.kind)?.has(request.method) === true;
  if (has) return route;
  throw new Problem(
    "METHOD_NOT_ALLOWED",
    `This path does not support ${request.method}. It supports ${allow}.`,
    { headers: { allow } },
  );
}

/** The methods of a route. */
function allowOf(route: Exclude<Route, { kind: "nothing" | "service" }>): string {
  return route.kind === "endpoint" ? route.endpoint.allow : methodsOf[route.kind];
}

/** Whether a route exists for administrators only. */
export function isAdministrative(route: Route): boolean {
  if (route.kind === "endpoint") return route.endpoint.who === "administrators";
  if (["import", "rewind", "metrics"].includes(route.kind)) return true;
  return "collection" in route && isInternal(route.collection.name);
}
