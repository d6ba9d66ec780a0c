/** CORS (the Fetch standard): which web pages can call the service, and the headers that they can send and see. */

import type { HttpSettings } from "../settings.ts";
import { isLoopback } from "./hosts.ts";
import type { HttpRequest } from "./message.ts";

const allowMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, QUERY";
const allowHeaders =
  "Authorization, Content-Type, Accept, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Idempotency-Key, Prefer, Range, Last-Event-ID, X-Request-Id, traceparent, tracestate";
const exposeHeaders =
  "Content-Range, X-Total-Count, Page-Limit, Link, Location, Content-Location, ETag, Allow, Accept-Patch, Retry-After, RateLimit, RateLimit-Policy, Preference-Applied, Idempotent-Replayed, Deprecation, Sunset, WWW-Authenticate, Holdfast-Hint, X-Request-Id";

/** How long a browser can keep the response to a preflight, in seconds. Chrome limits it to this. */
const maxAgeSeconds = "7200";

/** Whether the request is a preflight from an allowed origin. */
export function isPreflight({ method, headers }: HttpRequest, settings: HttpSettings): boolean {
  if (method !== "OPTIONS" || headers["access-control-request-method"] === undefined) return false;
  return headers.origin !== undefined && isAllowedOrigin(headers.origin, settings);
}

/** The headers of the response to a preflight. */
export const preflightHeaders = {
  "access-control-allow-methods": allowMethods,
  "access-control-allow-headers": allowHeaders,
  "access-control-max-age": maxAgeSeconds,
  vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
} as const;

/** Adds the headers with which a browser shows the response to a page of an allowed origin. Problems need them too. */
export function addCorsHeaders(
  headers: Record<string, string>,
  origin: string,
  settings: HttpSettings,
): void {
  if (!isAllowedOrigin(origin, settings)) return;
  const usesCookies = settings.cookieOrigins?.includes(origin) === true;
  headers["access-control-allow-origin"] = settings.corsOrigins.includes("*") && !usesCookies ? "*" : origin;
  if (usesCookies) headers["access-control-allow-credentials"] = "true";
  headers["access-control-expose-headers"] = exposeHeaders;
}

function isAllowedOrigin(origin: string, { corsOrigins, cookieOrigins }: HttpSettings): boolean {
  if (corsOrigins.includes("*") || corsOrigins.includes(origin)) return true;
  if (cookieOrigins?.includes(origin) === true) return true;
  return corsOrigins.includes("loopback") && isLoopbackOrigin(origin);
}

function isLoopbackOrigin(origin: string): boolean {
  const match = /^https?:\/\/(\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::\d+)?$/.exec(origin);
  return match?.[1] !== undefined && isLoopback(match[1].replace(/^\[|\]$/g, ""));
}
