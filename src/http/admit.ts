/** Who is let in: asks whose credential it is and whether it does for this, and counts the request. */
import type { HttpRequest } from "./message.ts";
import { requireAllowed } from "./permission.ts";
import { takeFromQuota } from "./quota.ts";
import type { Route } from "./route.ts";
import type { Service } from "./service.ts";

/**
 * Finds the principal and takes from its quota. Throws QUOTA_EXCEEDED, INVALID_TOKEN, UNAUTHENTICATED,
 * INSUFFICIENT_SCOPE, and UNAVAILABLE where credentials cannot be judged now.
 */
export async function admit(service: Service, route: Route, request: HttpRequest): Promise<void> {
  const authenticate = isGuarded(route, request) ? service.authenticate : undefined;
  try {
    if (authenticate !== undefined) request.principal = await authenticate(request.headers);
  } finally {
    // Whoever tries one credential after the other has a quota too.
    if (service.quotas !== undefined && !isFree(route, request)) takeFromQuota(service.quotas, request);
  }
  if (authenticate !== undefined) requireAllowed(service, route, request);
}

/** Whether it matters who asks. What is not there is there for nobody, and health and preflights are for anybody. */
function isGuarded({ kind }: Route, { method }: HttpRequest): boolean {
  return kind !== "nothing" && kind !== "service" && kind !== "document" && method !== "OPTIONS";
}

/** Health has to be told to everybody at any time, and a browser asks for leave in nobody's name. */
function isFree({ kind }: Route, { method }: HttpRequest): boolean {
  return kind === "document" || method === "OPTIONS";
}
