/** Who is let in: whether the way is safe, whose credential it is and whether it does for this; and counts the request. */
import type { Principal } from "../../access/principal.ts";
import { Problem } from "../../errors.ts";
import type { HttpRequest } from "../message.ts";
import { isHealth, type Route } from "../route.ts";
import type { Service } from "../service.ts";
import type { HttpSettings } from "../settings.ts";
import { requireAllowed } from "./permission.ts";
import { takeFromQuota } from "./quota.ts";

/** Whether it matters how anybody comes, who they are, or how often. */
export function looksAtCallers({ authenticate, quotas, settings }: Service): boolean {
  return authenticate !== undefined || quotas !== undefined || settings.requireTls;
}

/**
 * Finds the principal and takes from its quota; gives the route with its collection as the caller sees it, at once
 * where the credential is known. Throws TLS_REQUIRED, QUOTA_EXCEEDED, INVALID_TOKEN, UNAUTHENTICATED,
 * INSUFFICIENT_SCOPE, and UNAVAILABLE where credentials cannot be judged now.
 */
export function admit(service: Service, route: Route, request: HttpRequest): Route | Promise<Route> {
  if (!isGuarded(route, request)) return admitAs(undefined, service, { route, request });
  requireTls(service, request);
  const found = principalOf(service, request);
  if (!(found instanceof Promise)) return admitAs(found, service, { route, request });
  return found.then((principal) => admitAs(principal, service, { route, request }));
}

function admitAs(
  principal: Principal | undefined,
  service: Service,
  { route, request }: { route: Route; request: HttpRequest },
): Route {
  request.principal = principal;
  count(service, request);
  return requireAllowed(service, route, request);
}

function principalOf(service: Service, request: HttpRequest): Principal | undefined | Promise<Principal> {
  // Whoever tries one credential after the other has a quota too.
  const refuse = (problem: unknown): never => {
    count(service, request);
    throw problem;
  };
  try {
    const found = service.authenticate?.(request.headers);
    return found instanceof Promise ? found.catch(refuse) : found;
  } catch (problem) {
    return refuse(problem);
  }
}

function count({ quotas }: Service, request: HttpRequest): void {
  if (quotas !== undefined && !isFree(request)) takeFromQuota(quotas, request);
}

/** Whether it matters who asks. What is not there is there for nobody, and health and preflights are for anybody. */
function isGuarded({ kind }: Route, { method }: HttpRequest): boolean {
  return kind !== "nothing" && kind !== "service" && kind !== "document" && method !== "OPTIONS";
}

/** Whether the request came encrypted: to us, or to a proxy that is trusted. */
export function isEncrypted({ tls, trustProxy }: HttpSettings, { client }: HttpRequest): boolean {
  return tls !== undefined || (trustProxy.length > 0 && client.protocol === "https");
}

/** Before anybody looks at the credential, which whoever listened has read by now. */
function requireTls({ settings }: Service, request: HttpRequest): void {
  if (!settings.requireTls || isEncrypted(settings, request)) return;
  throw new Problem(
    "TLS_REQUIRED",
    "The service accepts only https. This request was not encrypted, so others could read it.",
  );
}

/** Health has to be told to everybody at any time, and a browser asks for leave in nobody's name. */
function isFree({ method, target }: HttpRequest): boolean {
  return method === "OPTIONS" || isHealth(target);
}
