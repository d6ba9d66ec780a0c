/** From a route and the header section to the operation that is asked for; the content stays unread. */
import type { Collection } from "../collection/collection.ts";
import { Problem } from "../errors.ts";
import { type PageRequest, parsePage, requireNoParameters } from "../query/page.ts";
import { contentTooLarge, hasContent } from "./content.ts";
import { acceptsJson, parseMediaType } from "./media-types.ts";
import type { HttpRequest } from "./message.ts";
import { methodsOf, type Route } from "./route.ts";
import type { Service } from "./service.ts";

/** How the content of a PATCH is to be read. */
export type PatchFormat = "merge-patch" | "json-patch";

/** A resource that an operation is about. `path` is its collection's. */
interface Target {
  collection: Collection;
  id: string;
  path: string;
}

/** A parsed request. */
export type Operation =
  | { kind: "nothing" }
  | { kind: "options"; allow: string | undefined; accept: Record<string, string> }
  | { kind: "document"; name: string }
  | { kind: "list"; collection: Collection; path: string; page: PageRequest }
  | { kind: "create"; collection: Collection; path: string }
  | ({ kind: "read" } & Target)
  | ({ kind: "replace" } & Target)
  | ({ kind: "delete" } & Target)
  | ({ kind: "patch"; format: PatchFormat } & Target);

/** The media types that each method with content takes, and the header that tells so in a 415. */
const contentTypes = {
  POST: { header: "accept", types: { "application/json": "json" } },
  PUT: { header: "accept", types: { "application/json": "json" } },
  PATCH: {
    header: "accept-patch",
    types: {
      "application/merge-patch+json": "merge-patch",
      "application/json-patch+json": "json-patch",
      "application/json": "merge-patch",
    },
  },
} as const;

type MethodWithContent = keyof typeof contentTypes;

/**
 * Reads what the header section says, in the order in which its faults answer: Expect (417), coding and type of
 * the content (415), its length (413), Accept (406), query parameters (400).
 */
export function parseOperation(service: Service, route: Route, request: HttpRequest): Operation {
  if (route.kind === "nothing") return { kind: "nothing" };
  if (route.kind === "service") return { kind: "options", allow: undefined, accept: {} };
  if (request.method === "OPTIONS") return optionsOf(route.kind);
  requireKnownExpectation(request);
  if (isMethodWithContent(request.method)) requireContentType(request, request.method);
  requireContentLength(request, service.settings.limits.bodyBytes);
  if (request.method !== "DELETE" && route.kind !== "document") requireAcceptable(request);
  if (route.kind === "collection" && request.method !== "POST") return listOf(service, route);
  requireNoParameters(route.query);
  return operationOn(route, request);
}

function listOf(service: Service, route: Route & { kind: "collection" }): Operation {
  const { collection, path } = route;
  return {
    kind: "list",
    collection,
    path,
    page: parsePage(route.query, collection.name, service.settings.limits.page),
  };
}

function operationOn(
  route: Exclude<Route, { kind: "nothing" | "service" }>,
  request: HttpRequest,
): Operation {
  if (route.kind === "document") return { kind: "document", name: route.name };
  const { collection, path } = route;
  if (route.kind === "collection") return { kind: "create", collection, path };
  const target = { collection, id: route.id, path };
  switch (request.method) {
    case "PUT":
      return { kind: "replace", ...target };
    case "PATCH":
      return { kind: "patch", format: patchFormat(request), ...target };
    case "DELETE":
      return { kind: "delete", ...target };
    default:
      return { kind: "read", ...target };
  }
}

function optionsOf(kind: keyof typeof methodsOf): Operation {
  const accept = {
    collection: { "accept-post": typesOf("POST") },
    resource: { "accept-patch": typesOf("PATCH") },
    document: {},
  };
  return { kind: "options", allow: methodsOf[kind], accept: accept[kind] };
}

function requireKnownExpectation({ headers }: HttpRequest): void {
  if (headers.expect === undefined || headers.expect.toLowerCase() === "100-continue") return;
  throw new Problem("EXPECTATION_FAILED", "The only expectation that the service can meet is 100-continue.");
}

function isMethodWithContent(method: string): method is MethodWithContent {
  return Object.hasOwn(contentTypes, method);
}

function requireContentType(request: HttpRequest, method: MethodWithContent): void {
  if (!hasContent(request)) return; // nothing whose format could be unsupported: BODY_REQUIRED comes later
  const coding = request.headers["content-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "identity") throw unsupportedCoding(coding);
  const given = request.headers["content-type"];
  const mediaType = given === undefined ? undefined : parseMediaType(given);
  const isKnown = mediaType !== undefined && Object.hasOwn(contentTypes[method].types, mediaType.type);
  if (isKnown && (mediaType.charset === undefined || mediaType.charset === "utf-8")) return;
  throw unsupportedType(method, given);
}

function unsupportedCoding(coding: string): Problem {
  return new Problem(
    "UNSUPPORTED_CONTENT_CODING",
    `Content-Encoding "${coding}" is not supported; send it as it is.`,
    {
      headers: { "accept-encoding": "identity" },
    },
  );
}

function unsupportedType(method: MethodWithContent, given: string | undefined): Problem {
  const types = typesOf(method);
  const isWhat =
    given === undefined ? "The content has no Content-Type" : `Content-Type "${given}" is not supported`;
  return new Problem("UNSUPPORTED_MEDIA_TYPE", `${isWhat}; ${method} takes ${types} in UTF-8.`, {
    headers: { [contentTypes[method].header]: types },
  });
}

function typesOf(method: MethodWithContent): string {
  return Object.keys(contentTypes[method].types).join(", ");
}

function requireContentLength({ headers }: HttpRequest, maxBytes: number): void {
  if (headers["content-length"] !== undefined && Number(headers["content-length"]) > maxBytes) {
    throw contentTooLarge(maxBytes);
  }
}

function requireAcceptable({ headers }: HttpRequest): void {
  if (acceptsJson(headers.accept)) return;
  throw new Problem(
    "NOT_ACCEPTABLE",
    `Accept "${headers.accept}" rules out application/json, the only format there is.`,
  );
}

/** Content without a type that got this far is empty; how it would be read does not matter. */
function patchFormat({ headers }: HttpRequest): PatchFormat {
  const type = parseMediaType(headers["content-type"] ?? "")?.type;
  return type === "application/json-patch+json" ? "json-patch" : "merge-patch";
}
