/** `Expect` (RFC 9110 §10.1.1). Without this, Node would ask for the content before the service has checked the headers. */
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
