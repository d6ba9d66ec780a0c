/** Admission: checks that the request was encrypted if it must be, identifies the caller, and counts the request. It does not check rights. */
import type { IdentifyingRequest } from "../../access/authenticate.ts";
import type { Principal } from "../../access/principal.ts";
import { Problem } from "../../errors.ts";
import type { Counting } from "../admission/exact-counts.ts";
import { type Quota, takeFromQuota } from "../admission/quotas.ts";
import { after } from "../after.ts";
import type { HttpRequest } from "../protocol/message.ts";
import { hasPreflight, isHealth, type Route } from "../route.ts";
import type { Callers, Surface } from "../service.ts";
import type { HttpSettings } from "../settings.ts";

/** Who sends a request. */
export interface Caller {
  /** `undefined`: the request has no credential, or the service does not ask for one. */
  readonly principal: Principal | undefined;
  /** The remaining quota after this request; `undefined` if the request was not counted. */
  readonly quota: Quota | undefined;
}

/** A caller without a credential, whose request is not counted. */
export const anonymous: Caller = { principal: undefined, quota: undefined };

/** Whether `admit` has anything to do in this service. */
export function identifiesCallers({ authenticate, quotas, settings }: Counting & Callers & Surface): boolean {
  return authenticate !== undefined || quotas !== undefined || settings.requireTls;
}

/**
 * Identifies the caller and counts the request; at once if the credential is known already. Throws TLS_REQUIRED,
 * QUOTA_EXCEEDED, CROSS_SITE, INVALID_TOKEN, UNAUTHENTICATED, SECOND_FACTOR_REQUIRED, and UNAVAILABLE if credentials cannot be
 * checked now.
 */
export function admit(
  service: Counting & Callers & Surface,
  route: Route,
  request: HttpRequest,
): Caller | Promise<Caller> {
  if (!needsCaller(route, request)) return count(service, request, undefined);
  requireTls(service, request);
  const judge = (principal: Principal | undefined) => {
    const counted = count(service, request, principal);
    if (principal?.session?.mustAddFactor !== true || isForSetUp(route, request)) return counted;
    return after(counted, async (caller) => {
      await requireReady(service, principal);
      return caller;
    });
  };
  const found = principalOf(service, request);
  return found instanceof Promise ? found.then(judge) : judge(found);
}

/** Whether a session whose user must first set up a second factor can send a request. */
function isForSetUp(route: Route, { method }: HttpRequest): boolean {
  return "endpoint" in route && route.endpoint.methods.get(method)?.isForSetUp === true;
}

/** Throws SECOND_FACTOR_REQUIRED for a session whose user must first set up a second factor. */
export async function requireReady({ requireReady }: Callers, principal: Principal): Promise<void> {
  if (principal.session?.mustAddFactor === true) await requireReady?.(principal);
}

function principalOf(
  service: Counting & Callers,
  request: HttpRequest,
): Principal | undefined | Promise<Principal | undefined> {
  // A request with an invalid credential counts too, so that a client cannot try many credentials.
  const refuse = (problem: unknown): Promise<never> =>
    after(count(service, request, undefined), () => {
      throw problem;
    });
  try {
    const found = identify(service, request);
    return found instanceof Promise ? found.catch(refuse) : found;
  } catch (problem) {
    return refuse(problem);
  }
}

/**
 * The principal of a request's credential: a cookie, or the header Authorization. The service itself states it for its own requests.
 * Throws as `Authenticate`, and CROSS_SITE.
 */
export function identify(
  { identify, authenticate }: Callers,
  request: IdentifyingRequest & Pick<HttpRequest, "sentBy">,
): Principal | undefined | Promise<Principal | undefined> {
  if (request.sentBy !== undefined) return request.sentBy.principal;
  return identify?.(request) ?? authenticate?.(request.headers);
}

/** Throws QUOTA_EXCEEDED. */
function count(
  { quotas }: Counting,
  request: HttpRequest,
  principal: Principal | undefined,
): Caller | Promise<Caller> {
  if (quotas === undefined || isFree(request)) return { principal, quota: undefined };
  return after(takeFromQuota(quotas, principal, request), (quota) => ({ principal, quota }));
}

/** Unknown paths, public ones and CORS preflights are the same for every caller. */
function needsCaller(route: Route, { method }: HttpRequest): boolean {
  if (!("endpoint" in route) || route.endpoint.isPublic) return false;
  return method !== "OPTIONS" || !hasPreflight(route);
}

/** Whether the request came encrypted: to this service, or to a trusted proxy. */
export function isEncrypted({ tls, trustProxy }: HttpSettings, { client }: HttpRequest): boolean {
  return tls !== undefined || (trustProxy.length > 0 && client.protocol === "https");
}

/** Runs before the credential is checked, because others can have read it on an unencrypted connection. */
function requireTls({ settings }: Surface, request: HttpRequest): void {
  if (!settings.requireTls || isEncrypted(settings, request)) return;
  throw new Problem(
    "TLS_REQUIRED",
    "The service accepts only https. This request was not encrypted, so others could read it.",
  );
}

/** Health checks must always work, and browsers send preflights without a credential. */
function isFree({ method, target }: HttpRequest): boolean {
  return method === "OPTIONS" || isHealth(target);
}
