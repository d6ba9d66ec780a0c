/** Who is let in: asks whose credential it is, and counts the request. */
import type { HttpRequest } from "./message.ts";
import { takeFromQuota } from "./quota.ts";
import type { Route } from "./route.ts";
import type { Service } from "./service.ts";

/** Finds the principal and takes from its quota. Throws INVALID_TOKEN and QUOTA_EXCEEDED. */
export async function admit(service: Service, route: Route, request: HttpRequest): Promise<void> {
  try {
    if (service.authenticate !== undefined) {
      request.principal = await service.authenticate(request.headers);
    }
  } finally {
    // Whoever tries one credential after the other has a quota too.
    if (service.quotas !== undefined && !isFree(route, request)) takeFromQuota(service.quotas, request);
  }
}

/** Health has to be told to everybody at any time, and a browser asks for leave in nobody's name. */
function isFree({ kind }: Route, { method }: HttpRequest): boolean {
  return kind === "document" || method === "OPTIONS";
}
