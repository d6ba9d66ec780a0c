/**
 * Notes which clients wait for `100 Continue` (RFC 9110 §10.1.1). Without this, Node would send it before the service has
 * checked the headers. The code that reads the content sends it.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Requests whose clients wait for `100 Continue` before they send their content. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** Notes that the client of a request can be waiting. */
export function noteWaiting(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response);
}

/** The response with which to send `100 Continue`; `undefined` if the client does not wait. */
export function continuationOf(request: IncomingMessage): ServerResponse | undefined {
  return waiting.get(request);
}

/** Routes requests with an expectation like all others. */
export function routeExpectations(
  server: Server,
  route: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  server.on("checkContinue", (request, response) => {
    noteWaiting(request, response);
    route(request, response);
  });
  server.on("checkExpectation", route);
}
