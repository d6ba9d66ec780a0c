/** From a result to the response: status, headers, body. */

import type { Counting } from "./admission/exact-counts.ts";
import { addQuotaHeaders } from "./admission/quotas.ts";
import { type Caller, isEncrypted } from "./caller/admit.ts";
import type { Document, Result, Unmodified } from "./operations/result.ts";
import { codedTag } from "./protocol/codings.ts";
import {
  httpDate,
  isPublic,
  isUnmodified,
  tagOfUnmodified,
  type Validators,
} from "./protocol/conditional.ts";
import { addCorsHeaders, isPreflight, preflightHeaders } from "./protocol/cors.ts";
import {
  type HttpRequest,
  type HttpResponse,
  jsonType,
  noStore,
  revalidate,
  safetyHeaders,
  withBody,
} from "./protocol/message.ts";
import { preferredReturn } from "./protocol/prefer.ts";
import { resourcePath, serviceDescription } from "./route.ts";
import type { Callers, Clock, Surface } from "./service.ts";
import type { HttpSettings } from "./settings.ts";

const privately = `private, ${revalidate}`;

/** The response to a request, without the headers of every response. */
export function respond(service: Surface & Clock, result: Result, request: HttpRequest): HttpResponse {
  switch (result.kind) {
    case "response":
      return result.response;
    case "not found":
      return empty(404);
    case "deleted":
      return empty(205);
    case "options":
      return optionsResponse(service, result, request);
    case "document":
      return documentResponse(result.document, request);
    case "unmodified":
      return unmodified(service, result, request);
    case "batch":
      return withBody(request, result.body, {
        status: 200,
        headers: { "content-type": jsonType, "cache-control": noStore },
      });
    case "found":
    case "created":
    case "updated":
      return resourceResponse(service, result, request);
  }
}

/** Adds the headers of every response, also of problems. */
export function addCommonHeaders(
  service: Counting & Callers & Surface,
  request: HttpRequest,
  caller: Caller,
  { headers }: HttpResponse,
): void {
  const theirs = request.headers["x-request-id"];
  headers["x-request-id"] = typeof theirs === "string" && safeRequestId.test(theirs) ? theirs : request.id;
  headers["x-content-type-options"] ??= safetyHeaders["x-content-type-options"];
  headers["content-security-policy"] ??= safetyHeaders["content-security-policy"];
  headers["referrer-policy"] ??= safetyHeaders["referrer-policy"];
  headers.vary ??= varyOf(service);
  if (request.headers.origin !== undefined) addCorsHeaders(headers, request.headers.origin, service.settings);
  const { settings } = service;
  if (isEncrypted(settings, request)) headers["strict-transport-security"] = transportSecurityOf(settings);
  if (service.quotas !== undefined) addQuotaHeaders(headers, service.quotas, caller.quota, request);
  if (service.authenticate !== undefined && headers["cache-control"] === revalidate) {
    headers["cache-control"] = privately; // other callers may not see it
  }
  if (service.isDraining()) headers.connection = "close";
}

/** The request headers that a response can depend on. If all origins are allowed, Origin is not among them. */
function varyOf({ authenticate, settings }: Callers & Surface): string {
  const isForAll = settings.corsOrigins.includes("*");
  if (authenticate === undefined)
    return isForAll ? "Accept, Accept-Encoding" : "Accept, Accept-Encoding, Origin";
  if (settings.cookieOrigins !== undefined)
    return "Accept, Accept-Encoding, Authorization, Cookie, Sec-Fetch-Site, Origin";
  return isForAll
    ? "Accept, Accept-Encoding, Authorization"
    : "Accept, Accept-Encoding, Authorization, Origin";
}

/** A browser that has received this uses https from then on (RFC 6797). It ignores it on an unencrypted connection. */
export function transportSecurityOf({ hstsIncludesSubDomains }: HttpSettings): string {
  const year = "max-age=31536000";
  return hstsIncludesSubDomains ? `${year}; includeSubDomains` : year;
}

const safeRequestId = /^[A-Za-z0-9._~:/+=-]{1,128}$/;

/** 404 and 205: with a length, because without one a client waits for more on a connection that stays open. */
function empty(status: 404 | 205): HttpResponse {
  return { status, headers: { "content-length": "0", "cache-control": noStore }, body: undefined };
}

function optionsResponse(
  service: Surface,
  { path }: Result & { kind: "options" },
  request: HttpRequest,
): HttpResponse {
  const headers: Record<string, string> = { "cache-control": noStore, ...path?.accept };
  if (path !== undefined) headers.allow = path.allow;
  if (service.settings.docs) headers.link = serviceDescription(service.settings);
  if (isPreflight(request, service.settings)) Object.assign(headers, preflightHeaders);
  return { status: 204, headers, body: undefined };
}

function unmodified(
  service: Clock,
  { validators, location }: Unmodified,
  request: HttpRequest,
): HttpResponse {
  const etag = tagOfUnmodified(request.headers, validators);
  const headers: Record<string, string> = { etag, "cache-control": revalidate };
  if (location !== undefined) headers.location = location;
  addLastModified(headers, validators, service.now());
  return { status: 304, headers, body: undefined };
}

function documentResponse(document: Document, request: HttpRequest): HttpResponse {
  const { status, type, body, etag, coding, headers, cookies } = document;
  const all: Record<string, string> = { "content-type": type, "cache-control": noStore, ...headers };
  if (status === 204 || status === 303)
    return {
      status,
      headers: {
        "cache-control": noStore,
        ...(status === 303 && { "content-length": "0" }),
        ...headers,
      },
      body: undefined,
      ...(cookies && { cookies }),
    };
  if (etag === undefined)
    return { ...withBody(request, body, { status, headers: all }), ...(cookies && { cookies }) };
  const validators = { etag, lastModifiedMs: undefined };
  if (isUnmodified(request.headers, validators, 0)) {
    const { "content-type": _, ...others } = all;
    const tag = tagOfUnmodified(request.headers, validators);
    return { status: 304, headers: { ...others, etag: tag }, body: undefined };
  }
  if (coding !== undefined) all["content-encoding"] = coding;
  all.etag = coding === undefined ? etag : codedTag(etag, coding);
  return withBody(request, body, { status, headers: all });
}

function resourceResponse(
  service: Clock,
  { kind, stored, path, validators, isWithheld }: Result & { kind: "found" | "created" | "updated" },
  request: HttpRequest,
): HttpResponse {
  const headers: Record<string, string> = {
    "content-type": jsonType,
    "cache-control": kind === "found" ? revalidate : noStore,
  };
  if (validators !== undefined) {
    headers.etag = validators.etag;
    addLastModified(headers, validators, service.now());
  }
  if (kind === "found") return withBody(request, stored.text, { status: 200, headers });
  if (kind === "created") headers.location = resourcePath(path, stored.id);
  const preferred = isWithheld === true ? "minimal" : preferredReturn(request.headers);
  if (preferred !== undefined) headers["preference-applied"] = `return=${preferred}`;
  if (preferred === "minimal") return minimal(kind, headers);
  headers["content-location"] = resourcePath(path, stored.id);
  return withBody(request, stored.text, { status: kind === "created" ? 201 : 200, headers });
}

/** The response to a write without content. RFC 9110 §8.6 forbids a length with 204. */
function minimal(kind: "created" | "updated", all: Record<string, string>): HttpResponse {
  const { "content-type": _, ...headers } = all;
  if (kind === "updated") return { status: 204, headers, body: undefined };
  return { status: 201, headers: { ...headers, "content-length": "0" }, body: undefined };
}

function addLastModified(headers: Record<string, string>, validators: Validators, now: number): void {
  if (isPublic(validators, now)) headers["last-modified"] = httpDate(validators.lastModifiedMs as number);
}
