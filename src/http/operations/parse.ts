/** Parses the headers and the query string of a request. It does not read the content. */
import { Problem } from "../../errors.ts";
import { requireNoParameters } from "../../query/list-parameters.ts";
import { requireJsonAcceptable, requireListAcceptable } from "../protocol/accept.ts";
import { contentTooLarge, hasContent } from "../protocol/content.ts";
import { isMethodWithContent, requireContentType } from "../protocol/content-types.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { EndpointMethod, Service, Surface } from "../service.ts";
import { type PageAsked, parsePage } from "./page-parameters.ts";
import type { Asked, EndpointRow, Routed } from "./result.ts";

/**
 * Reads what a request asks of an endpoint, in the order of the errors: Expect (417), coding and type of the content (415), its
 * length (413), Accept (406), query parameters (400).
 */
export function parse(service: Service, endpoint: EndpointRow, routed: Routed): Asked {
  const { route, caller, request } = routed;
  if (endpoint.ignoresHeaders !== true) requireHeaders(service, endpoint, request);
  const names = route.kind === "own" ? route.names : noNames;
  if (endpoint.parse !== undefined) {
    const parsed = endpoint.parse(service, routed);
    return { names, page: noPage, parsed, caller, request };
  }
  const query = "query" in route ? route.query : "";
  if (endpoint.page === undefined) requireNoParameters(query);
  const page = endpoint.page === undefined ? noPage : parsePage(query, endpoint.page);
  if (request.method === "POST" && endpoint.body === undefined) requireNoContent(request);
  return { names, page, parsed: undefined, caller, request };
}

const noNames = {};
const noPage: PageAsked = { limit: 0, after: undefined, filters: {} };

function requireHeaders({ settings }: Surface, endpoint: EndpointMethod, request: HttpRequest): void {
  const { content, formats } = endpoint;
  requireKnownExpectation(request);
  if (content !== undefined) content.require(request);
  else if (isMethodWithContent(request.method)) requireContentType(request, request.method);
  requireContentLength(request, settings.limits[content?.limit ?? "bodyBytes"]);
  if (formats === undefined) requireJsonAcceptable(request);
  else if (formats === "list") requireListAcceptable(request);
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
