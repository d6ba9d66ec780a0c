/** From a result to the answer: status, headers, body. */
import { formatCursor } from "../query/cursor.ts";
import type { Page } from "../store/store.ts";
import { httpDate, isPublic, type Validators } from "./conditional.ts";
import { addCorsHeaders, isPreflight, preflightHeaders } from "./cors.ts";
import { type HttpRequest, type HttpResponse, jsonType, safetyHeaders } from "./message.ts";
import type { OperationOf, Result } from "./perform.ts";
import { resourcePath } from "./route.ts";
import type { Document } from "./routes/documents.ts";
import type { Service } from "./service.ts";

/** A client may use what it kept after asking whether it still holds. */
const revalidate = "no-cache";

const noStore = "no-store";

/** The answer to a request, but for what every answer carries. */
export function respond(service: Service, result: Result, request: HttpRequest): HttpResponse {
  switch (result.kind) {
    case "absent":
      return empty(404);
    case "deleted":
      return empty(205);
    case "options":
      return optionsResponse(service, result.operation, request);
    case "document":
      return documentResponse(result.document, request);
    case "unmodified":
      return unmodified(service, result.validators);
    case "page":
      return pageResponse(result, request);
    default:
      return resourceResponse(service, result, request);
  }
}

/** Adds what every answer carries, problems included. */
export function addCommonHeaders(service: Service, request: HttpRequest, { headers }: HttpResponse): void {
  const theirs = request.headers["x-request-id"];
  headers["x-request-id"] = typeof theirs === "string" && safeRequestId.test(theirs) ? theirs : request.id;
  for (const [name, value] of safetyPairs) headers[name] = value;
  headers.vary ??= service.settings.corsOrigins.includes("*")
    ? "Accept, Accept-Encoding"
    : "Accept, Accept-Encoding, Origin";
  if (request.headers.origin !== undefined) addCorsHeaders(headers, request.headers.origin, service.settings);
  if (service.isDraining()) headers.connection = "close";
}

const safetyPairs = Object.entries(safetyHeaders);

const safeRequestId = /^[A-Za-z0-9._~:/+=-]{1,128}$/;

/** 404 and 205: framed by a length, since clients hang on an unframed answer over a connection that stays open. */
function empty(status: 404 | 205): HttpResponse {
  return { status, headers: { "content-length": "0", "cache-control": noStore }, body: undefined };
}

function optionsResponse(
  service: Service,
  { allow, accept }: OperationOf<"options">,
  request: HttpRequest,
): HttpResponse {
  const headers: Record<string, string> = { "cache-control": noStore, ...accept };
  if (allow !== undefined) headers.allow = allow;
  if (isPreflight(request, service.settings)) Object.assign(headers, preflightHeaders);
  return { status: 204, headers, body: undefined };
}

function unmodified(service: Service, validators: Validators): HttpResponse {
  const headers: Record<string, string> = { etag: validators.etag, "cache-control": revalidate };
  addLastModified(headers, validators, service.now());
  return { status: 304, headers, body: undefined };
}

function documentResponse({ status, type, body }: Document, request: HttpRequest): HttpResponse {
  return withBody(request, body, { status, headers: { "content-type": type, "cache-control": noStore } });
}

function resourceResponse(
  service: Service,
  { kind, stored, path, validators }: Result & { kind: "found" | "created" | "updated" },
  request: HttpRequest,
): HttpResponse {
  const headers: Record<string, string> = {
    "content-type": jsonType,
    "cache-control": kind === "found" ? revalidate : noStore,
    etag: validators.etag,
  };
  addLastModified(headers, validators, service.now());
  if (kind !== "found") headers["content-location"] = resourcePath(path, stored.id);
  if (kind === "created") headers.location = resourcePath(path, stored.id);
  return withBody(request, stored.text, { status: kind === "created" ? 201 : 200, headers });
}

function pageResponse(
  { page, operation, validators }: Result & { kind: "page" },
  request: HttpRequest,
): HttpResponse {
  const headers: Record<string, string> = {
    "content-type": jsonType,
    "cache-control": revalidate,
    etag: validators.etag,
    link: linksOf(operation, page),
    "x-total-count": String(page.total),
  };
  const range = contentRange(operation, page);
  if (range !== undefined) headers["content-range"] = range;
  return withBody(request, `[${page.items.map(({ text }) => text).join(",")}]`, { status: 200, headers });
}

/** RFC 8288; the next page first, then the first page. */
function linksOf({ path, page: asked, collection }: OperationOf<"list">, page: Page): string {
  const limit = asked.hasLimit ? [`limit=${asked.limit}`] : [];
  const links = [link(path, limit, "first")];
  const last = page.items.at(-1);
  if (page.more && last !== undefined) {
    links.unshift(link(path, [...limit, `cursor=${formatCursor(collection.name, last.id)}`], "next"));
  }
  return links.join(", ");
}

function link(path: string, parameters: string[], relation: string): string {
  const query = parameters.length === 0 ? "" : `?${parameters.join("&")}`;
  return `<${path}${query}>; rel="${relation}"`;
}

/** Only where the offset is known: on a first page. */
function contentRange({ page: asked, collection }: OperationOf<"list">, page: Page): string | undefined {
  if (asked.after !== undefined) return undefined;
  if (page.items.length === 0) return `${collection.name} */${page.total}`;
  return `${collection.name} 0-${page.items.length - 1}/${page.total}`;
}

function addLastModified(headers: Record<string, string>, validators: Validators, now: number): void {
  if (isPublic(validators, now)) headers["last-modified"] = httpDate(validators.lastModifiedMs as number);
}

/** HEAD has the headers of GET, its length included (RFC 9110 §8.6), and no content. */
function withBody(
  request: HttpRequest,
  body: string,
  { status, headers }: { status: number; headers: Record<string, string> },
): HttpResponse {
  headers["content-length"] = String(Buffer.byteLength(body));
  return { status, headers, body: request.method === "HEAD" ? undefined : body };
}
