/** THE PATH: all steps of one request, in order, with the statuses that each step can respond with. */
import { Problem } from "../errors.ts";
import type { Counting } from "./admission/exact-counts.ts";
import { nameOfCaller } from "./admission/quotas.ts";
import { after } from "./after.ts";
import { admit, anonymous, type Caller, identifiesCallers } from "./caller/admit.ts";
import { requireUse } from "./caller/permission.ts";
import { hintFor, mayBeMisspelled } from "./documents/hints.ts";
import { parse } from "./operations/parse.ts";
import type { Asked, EndpointRow, Result } from "./operations/result.ts";
import { problemResponse } from "./problem.ts";
import { expectsNothing } from "./protocol/conditional.ts";
import type { HttpRequest, HttpResponse } from "./protocol/message.ts";
import { addCommonHeaders, respond } from "./respond.ts";
import { findRoute, templateOf } from "./route.ts";
import type { Callers, Service, Surface } from "./service.ts";
import { performOnce } from "./writes/idempotency.ts";

/**
 * The response to a request; at once if no step has to wait. Never throws and never rejects: every error becomes a response.
 */
export function handle(service: Service, request: HttpRequest): HttpResponse | Promise<HttpResponse> {
  const progress: Progress = { caller: anonymous, template: undefined };
  try {
    const response = takeSteps(service, request, progress);
    if (!(response instanceof Promise)) return completed(service, request, progress, response);
    return response
      .then((ready) => completed(service, request, progress, ready))
      .catch((error: unknown) => refused(service, request, progress, error));
  } catch (error) {
    return refused(service, request, progress, error);
  }
}

/** What is known of a request so far. A problem response needs it, too. */
interface Progress {
  caller: Caller;
  template: string | undefined;
}

function takeSteps(
  service: Service,
  request: HttpRequest,
  progress: Progress,
): HttpResponse | Promise<HttpResponse> {
  const route = findRoute(service, request); //                             400 421 414 405
  if (service.isObserved) progress.template = templateOf(service, route);
  const admitted =
    request.sentBy ?? (identifiesCallers(service) ? admit(service, route, request) : anonymous); // 403 429 401 503
  return after(admitted, (caller) => {
    progress.caller = caller;
    request.ticket.identify(() => nameOfCaller(caller, request));
    const endpoint = requireUse(service, route, caller, request) as EndpointRow; // 404 405 401 403; the table has rows only
    const asked = parse(service, endpoint, { route, caller, request }); //  417 415 413 406 400
    const result = perform(service, endpoint, asked); //                    404 401 403, 428 412 304, then the content: 413 400 409, then the commit: 400 409 503
    return after(result, (found) => {
      const response = respond(service, found, request); //                 200 201 204 205 304 404
      if (!mayBeMisspelled(found)) return response;
      return after(hintFor(service, { route, caller, request }), (hint) => {
        if (hint !== undefined) response.headers["holdfast-hint"] = hint;
        return response;
      });
    });
  });
}

/** Calls the handler, once for each Idempotency-Key. Throws UNAVAILABLE until the store was reached, and what the handler throws. */
function perform(service: Service, endpoint: EndpointRow, asked: Asked): Result | Promise<Result> {
  if (!service.hasStarted() && endpoint.isAlwaysReady !== true)
    throw new Problem("UNAVAILABLE", "The store is not reachable yet. Try again.");
  const isKeyed =
    endpoint.isKeyed === true || (endpoint.createsWithId === true && expectsNothing(asked.request));
  if (isKeyed && asked.request.headers["idempotency-key"] !== undefined)
    return performOnce(service, asked, (once) => endpoint.handle(service, once));
  return endpoint.handle(service, asked);
}

function refused(service: Service, request: HttpRequest, progress: Progress, error: unknown): HttpResponse {
  return completed(service, request, progress, problemResponse(request, error, service.log));
}

function completed(
  service: Counting & Callers & Surface,
  request: HttpRequest,
  { caller, template }: Progress,
  response: HttpResponse,
): HttpResponse {
  if (template !== undefined) response.template = template;
  addCommonHeaders(service, request, caller, response);
  return response;
}
