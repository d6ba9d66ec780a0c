/** THE PATH: all steps of one request, in order, with the statuses that each step can respond with. */
import { admit, anonymous, type Caller, identifiesCallers } from "./caller/admit.ts";
import { parseOperation } from "./operations/parse.ts";
import { perform } from "./perform.ts";
import { problemResponse } from "./problem.ts";
import type { HttpRequest, HttpResponse } from "./protocol/message.ts";
import { addCommonHeaders, respond } from "./respond.ts";
import { findRoute } from "./route.ts";
import type { Service } from "./service.ts";
import { templateOf } from "./templates.ts";

/** The response to a request. Never throws: every error becomes a response. */
export async function handle(service: Service, request: HttpRequest): Promise<HttpResponse> {
  let caller: Caller = anonymous;
  let response: HttpResponse;
  let template: string | undefined;
  try {
    const route = findRoute(service, request); //                           400 421 414 405
    if (service.isObserved) template = templateOf(service, route);
    if (identifiesCallers(service)) {
      const admitted = admit(service, route, request); //                   403 429 401 503
      caller = admitted instanceof Promise ? await admitted : admitted;
    }
    const operation = parseOperation(service, route, caller, request); //   401 403, 417 415 413 406 400
    const performed = perform(service, operation, request); //              404, 412 428 304, then the content: 413 400, then the commit: 409 503
    const result = performed instanceof Promise ? await performed : performed;
    response = respond(service, result, request); //                        200 201 204 205 304 404
  } catch (error) {
    response = problemResponse(request, error, service.log);
  }
  if (template !== undefined) response.template = template;
  addCommonHeaders(service, request, caller, response);
  return response;
}
