/** THE PATH: the whole life of one request, in order, with the statuses that each step may answer. */
import { admit, looksAtCallers } from "./caller/admit.ts";
import { answerOnce, isKeyed } from "./idempotency.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import { parseOperation } from "./operation.ts";
import { perform } from "./perform.ts";
import { problemResponse } from "./problem.ts";
import { addCommonHeaders, respond } from "./respond.ts";
import { findRoute } from "./route.ts";
import type { Service } from "./service.ts";

/** Answers a request. Never throws: what goes wrong is an answer too. */
export async function handle(service: Service, request: HttpRequest): Promise<HttpResponse> {
  let response: HttpResponse;
  try {
    let route = findRoute(service, request); //                       400 421 414 405
    if (looksAtCallers(service)) {
      const admitted = admit(service, route, request); //             403 429 401 503
      route = admitted instanceof Promise ? await admitted : admitted;
    }
    const operation = parseOperation(service, route, request); //     417 415 413 406 400; the content stays unread
    if (isKeyed(request, operation)) {
      const first = async () => respond(service, await perform(service, operation, request), request);
      response = await answerOnce(service, request, first); //        400 413, then the kept answer, 409 422, or as without a key
    } else {
      const performed = perform(service, operation, request); //      404, 412 304, then the content: 413 400, then the commit: 409 503
      const result = performed instanceof Promise ? await performed : performed;
      response = respond(service, result, request); //                200 201 204 205 304 404
    }
  } catch (error) {
    response = problemResponse(request, error, service.log);
  }
  addCommonHeaders(service, request, response);
  return response;
}
