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
  | { kind: "events"; collection: Collection; path: string; query: string };

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
  collection: "GET, HEAD, POST, QUERY, OPTIONS",
  nested: "GET, HEAD, POST, QUERY, OPTIONS",
  resource: "GET, HEAD, PUT, PATCH, DELETE, OPTIONS",
  changes: "GET, HEAD, OPTIONS",
  restore: "POST, OPTIONS",
  bulk: "POST, OPTIONS",
  import: "POST, OPTIONS",
  events: "GET, HEAD, OPTIONS",
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
  return route.kind === "import" || ("collection" in route && isInternal(route.collection.name));
}

/** Whether browsers can send a preflight. No web page reads the administrative paths outside the prefix. */
export function hasPreflight(route: Route): boolean {
  return route.kind !== "endpoint" || !route.endpoint.isOutside || route.endpoint.who !== "administrators";
}
