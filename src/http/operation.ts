/** From a route and the header section to the operation that is asked for; the content stays unread. */
import type { Collection } from "../collection/collection.ts";
import { Problem } from "../errors.ts";
import { requireNoParameters } from "../query/parameters.ts";
import { parseFields, parseList } from "../query/parse.ts";
import { contentTooLarge } from "./content.ts";
import { type ChangesAsked, type Moment, parseChanges, splitMoment } from "./history/request.ts";
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

/** A resource that an operation is about. `path` is its collection's. */
interface Target {
  collection: Collection;
  id: string;
  path: string;
}

/** A parsed request. */
export type Operation =
  /** `path` is set for a path outside the prefix. */
  | { kind: "nothing"; path?: string | undefined }
  /** The page that a browser gets at the root. */
  | { kind: "front page" }
  | { kind: "collections" }
  | { kind: "options"; allow: string | undefined; accept: Record<string, string> }
  | { kind: "document"; name: string }
  | { kind: "batch" }
  | ({ kind: "list" } & Listing)
  /** A list that is asked for by content. */
  | { kind: "query"; collection: Collection; path: string }
  | { kind: "create"; collection: Collection; path: string }
  /** `fields` are what the resource is cut down to. */
  | ({ kind: "read"; fields: readonly string[] | undefined } & Target)
  /** A read of what the resource was at a moment. */
  | ({ kind: "past"; moment: Moment; fields: readonly string[] | undefined } & Target)
  | ({ kind: "changes"; asked: ChangesAsked } & Target)
  | ({ kind: "restore" } & Target)
  | ({ kind: "replace" } & Target)
  | ({ kind: "delete" } & Target)
  | ({ kind: "patch"; format: PatchFormat } & Target);

/** The operations of one kind. */
export type OperationOf<Kind extends Operation["kind"]> = Extract<Operation, { kind: Kind }>;

/**
 * Reads what the header section says, in the order in which its faults answer: Expect (417), coding and type of
 * the content (415), its length (413), Accept (406), query parameters (400).
 */
export function parseOperation(service: Service, route: Route, request: HttpRequest): Operation {
  if (route.kind === "nothing") return nothingOf(service, route, request);
  if (route.kind === "service") return { kind: "options", allow: undefined, accept: {} };
  if (request.method === "OPTIONS") return optionsOf(route.kind);
  requireKnownExpectation(request);
  if (isMethodWithContent(request.method)) requireContentType(request, request.method);
  requireContentLength(request, service.settings.limits.bodyBytes);
  if (route.kind === "collection" && request.method !== "POST") return listOf(service, route, request);
  if (route.kind === "collections") return collectionsOf(service, route, request);
  if (request.method !== "DELETE" && route.kind !== "document") requireJsonAcceptable(request);
  return operationOn(service, route, request);
}

/** A browser at the root gets a page. */
function nothingOf(
  service: Service,
  { outside }: Route & { kind: "nothing" },
  request: HttpRequest,
): Operation {
  if (outside?.path !== "/" || !mayHavePage(service, request))
    return { kind: "nothing", path: outside?.path };
  requireNoParameters(outside.query);
  return { kind: "front page" };
}

/** If the prefix is the root, it has both the list and the page. */
function collectionsOf(
  service: Service,
  { query }: Route & { kind: "collections" },
  request: HttpRequest,
): Operation {
  const isPage = service.settings.prefix === "" && mayHavePage(service, request) && prefersHtml(request);
  if (!isPage) requireJsonAcceptable(request);
  requireNoParameters(query);
  return isPage ? { kind: "front page" } : { kind: "collections" };
}

function listOf(
  service: Service,
  { collection, path, query }: Route & { kind: "collection" },
  request: HttpRequest,
): Operation {
  requireListAcceptable(request);
  if (request.method === "QUERY") {
    requireNoParameters(query);
    return { kind: "query", collection, path };
  }
  const asked = parseList(query, collection, service.settings.limits.page);
  const type = listTypeFor(request, asked);
  return { kind: "list", collection, path, asked, query, type, contentHash: undefined };
}

function operationOn(
  service: Service,
  route: Exclude<Route, { kind: "nothing" | "service" | "collections" }>,
  request: HttpRequest,
): Operation {
  if (route.kind === "changes") return changesOf(service, route);
  const { moment, fields } = route.query === "" ? nothingAsked : whatIsRead(route, request);
  if (route.kind === "document") return { kind: "document", name: route.name };
  if (route.kind === "batch") return { kind: "batch" };
  const { collection, path } = route;
  if (route.kind === "collection") return { kind: "create", collection, path };
  const target = { collection, id: route.id, path };
  if (route.kind === "restore") return { kind: "restore", ...target };
  if (moment !== undefined) return { kind: "past", ...target, moment, fields };
  switch (request.method) {
    case "PUT":
      return { kind: "replace", ...target };
    case "PATCH":
      return { kind: "patch", format: patchFormat(request), ...target };
    case "DELETE":
      return { kind: "delete", ...target };
    default:
      return { kind: "read", ...target, fields };
  }
}

function changesOf(
  { settings }: Service,
  { collection, id, path, query }: Route & { kind: "changes" | "restore" },
): Operation {
  const asked = parseChanges(query, { collection: collection.name, id }, settings.limits.page);
  return { kind: "changes", collection, id, path, asked };
}

/** What is asked of one resource beside itself. */
interface WhatIsRead {
  moment: Moment | undefined;
  fields: readonly string[] | undefined;
}

const nothingAsked: WhatIsRead = { moment: undefined, fields: undefined };

/** A resource can be cut down, and read as it was; nothing else here takes parameters. */
function whatIsRead(
  route: Exclude<Route, { kind: "nothing" | "service" | "collections" }>,
  { method }: HttpRequest,
): WhatIsRead {
  if (route.kind === "resource" && (method === "GET" || method === "HEAD")) {
    const { moment, rest } = splitMoment(route.query);
    return { moment, fields: parseFields(rest, route.collection) };
  }
  requireNoParameters(route.query);
  return nothingAsked;
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
