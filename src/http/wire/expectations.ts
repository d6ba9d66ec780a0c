/** `Expect` (RFC 9110 §10.1.1). Node would answer it by itself, before anybody has looked whether the content is wanted. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Requests whose clients wait for `100 Continue` before they send their content. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** Notes that the client of a request may wait. */
export function noteWaiting(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response);
}

/** What a client that waits is told to continue by. */
export function whoWaits(request: IncomingMessage): ServerResponse | undefined {
  return waiting.get(request);
}

/** Has requests with an expectation routed as all others. */
export function takeExpectations(
  server: Server,
  route: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  server.on("checkContinue", (request, response) => {
    noteWaiting(request, response);
    route(request, response);
  });
  server.on("checkExpectation", route);
}
