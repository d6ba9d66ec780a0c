/** Responds to bytes that are not a valid request. Node has no response object for them, so this writes to the socket. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Problem } from "../../errors.ts";
import { problemBody } from "../problem.ts";
import { jsonType, safetyHeaders } from "../protocol/message.ts";
import { STATUS_CODES } from "../protocol/node-http.ts";
import { transportSecurityOf } from "../respond.ts";
import type { Service } from "../service.ts";
import type { HttpSettings } from "../settings.ts";
import { type Connection, inOrder, latestRequest } from "./connections.ts";

/** The requests whose content was refused, with the status that their clients got. */
const refusals = new WeakMap<IncomingMessage, number>();

/** The status with which the content of a request was refused here; `undefined` if it was not. */
export function refusalStatusOf(message: IncomingMessage): number | undefined {
  return refusals.get(message);
}

/** No method of HTTP. The meter counts it with those that it does not know. */
const unknownMethod = "";

/**
 * Refuses a message that is malformed, has too large headers, or arrives too slowly, and closes the connection. Complete
 * requests before it get their responses first. If the fault is in the content of the latest request, that request cannot
 * complete, so the response is sent at once. The meter counts a message that never became a request. A request counts where its
 * response is sent.
 */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Connection,
  { meter, settings }: Pick<Service, "meter" | "settings">,
): void {
  // Before the TLS handshake ends, no response is possible.
  const isShakingHands = "secureConnecting" in socket && socket.secureConnecting === true;
  if (error.code === "ECONNRESET" || !socket.writable || isShakingHands) {
    socket.destroy();
    return;
  }
  const latest = socket[latestRequest];
  if (latest?.complete === false) {
    const problem = clientProblem(error.code);
    refusals.set(latest, problem.status);
    refuse(socket, problem, settings);
    return;
  }
  inOrder(socket, async () => {
    const problem = clientProblem(error.code);
    meter?.note({ method: unknownMethod }, problem, 0);
    refuse(socket, problem, settings);
    return false;
  });
}

function refuse(socket: Connection, problem: Problem, settings: HttpSettings): void {
  const id = randomUUID();
  const body = JSON.stringify(problemBody(problem, id));
  const lines = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `Date: ${new Date().toUTCString()}`,
    `Content-Type: ${jsonType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Cache-Control: no-store",
    `X-Request-Id: ${id}`,
    ...Object.entries(safetyHeaders).map(([name, value]) => `${name}: ${value}`),
    ...(settings.tls === undefined ? [] : [`Strict-Transport-Security: ${transportSecurityOf(settings)}`]),
    "Connection: close",
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

function clientProblem(code: string | undefined): Problem {
  if (code === "HPE_HEADER_OVERFLOW") {
    return new Problem("HEADERS_TOO_LARGE", "The headers are larger than the limit.");
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new Problem(
      "REQUEST_TIMEOUT",
      "The request did not arrive completely in time. Try again, or send less in one request.",
    );
  }
  if (code === "HPE_INVALID_EOF_STATE") {
    return new Problem(
      "INVALID_REQUEST",
      "The connection closed before the request was complete. Send all of it, with the body that Content-Length states.",
    );
  }
  if (code === "HPE_INVALID_METHOD") {
    // Also the first bytes of a client that starts a TLS handshake.
    return new Problem("INVALID_REQUEST", "The request does not start with an HTTP method, such as GET.");
  }
  return new Problem("INVALID_REQUEST", "The request is not a valid HTTP/1.1 message.");
}
