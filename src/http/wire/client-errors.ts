/** Answers what never became a request, on the socket itself. */
import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import { Problem } from "../../errors.ts";
import { problemBody } from "../problem.ts";
import { jsonType, safetyHeaders } from "../protocol/message.ts";
import { type Connection, inOrder, latestRequest } from "./connections.ts";

/**
 * Refuses what is malformed, too large in its headers, or too slow. Whole requests before it are answered first; one
 * whose own content is at fault would wait for it in vain.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Connection): void {
  // Before the handshake is done nothing can be said.
  const isShakingHands = "secureConnecting" in socket && socket.secureConnecting === true;
  if (error.code === "ECONNRESET" || !socket.writable || isShakingHands) {
    socket.destroy();
    return;
  }
  if (socket[latestRequest]?.complete === false) {
    refuse(socket, clientProblem(error.code));
    return;
  }
  inOrder(socket, async () => {
    refuse(socket, clientProblem(error.code));
    return false;
  });
}

function refuse(socket: Connection, problem: Problem): void {
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
    "Connection: close",
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

function clientProblem(code: string | undefined): Problem {
  if (code === "HPE_HEADER_OVERFLOW") {
    return new Problem("HEADERS_TOO_LARGE", "The headers are larger than the limit.");
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new Problem("REQUEST_TIMEOUT", "The request did not arrive completely in time.");
  }
  if (code === "HPE_INVALID_METHOD") {
    // Also what a client sends that would encrypt.
    return new Problem("INVALID_REQUEST", "The request does not start with an HTTP method, such as GET.");
  }
  return new Problem("INVALID_REQUEST", "The request is not a valid HTTP/1.1 message.");
}
