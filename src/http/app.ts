/**
 * The only file that knows Fastify. It carries sockets, limits, time-outs and the orderly close, and hands
 * every request to `handle` with its content unread; none of our logic hangs on its hooks or routes.
 */
import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { Problem } from "../errors.ts";
import { type Budget, createBudget, isBeyond, noRoomForAnswer } from "./budget.ts";
import { type Connection, inOrder, latestRequest, untilRead } from "./connections.ts";
import { handle } from "./handle.ts";
import { type HttpRequest, type HttpResponse, jsonType, safetyHeaders } from "./message.ts";
import { problemBody, problemResponse } from "./problem.ts";
import { addCommonHeaders } from "./respond.ts";
import type { Service } from "./service.ts";
import { createTurns } from "./turns.ts";
import { canHandOver, closesBehind, serveUpgrades } from "./upgrade.ts";

/** What the wire needs beside the service. */
export interface AppOptions {
  /** Whether each request is logged. */
  logRequests: boolean;
  /** Bounds that no configuration offers: for tests and measurements. */
  bounds?: Partial<WireBounds> | undefined;
}

/** What all connections together may take. */
export interface WireBounds {
  /** Connections; further ones are closed at once. @default 10000 */
  maxConnections: number;
  /** Content of requests that are not answered yet and answers that are not read yet, in bytes. @default 67108864 */
  maxHeldBytes: number;
  /** A connection on which nothing moves for so long, its client not reading the answer for one, is closed. @default 60000 */
  stalledTimeoutMs: number;
}

const defaultBounds: WireBounds = {
  maxConnections: 10_000,
  maxHeldBytes: 67_108_864,
  stalledTimeoutMs: 60_000,
};

/** The Fastify instance that serves a service; the caller listens and closes. */
export function createApp(service: Service, options: AppOptions): FastifyInstance {
  const { limits } = service.settings;
  const bounds = { ...defaultBounds, ...options.bounds };
  const serve = serveWith({
    service,
    logRequests: options.logRequests,
    budget: createBudget(bounds.maxHeldBytes),
  });
  const app = fastify({
    logger: false,
    genReqId: createRequestIds(),
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionTimeout: bounds.stalledTimeoutMs,
    forceCloseConnections: "idle",
    return503OnClosing: false, // a request that was accepted is answered, also while we stop
    routerOptions: { maxParamLength: limits.headerBytes },
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: 1_000, // Node looks at its time-outs only this often
      maxHeaderSize: limits.headerBytes, // the target counts too
      requireHostHeader: false, // we answer that ourselves
      shouldUpgradeCallback: canHandOver,
    },
    clientErrorHandler,
    frameworkErrors: (_error, request, reply) => serve(request, reply),
  });
  app.server.maxConnections = bounds.maxConnections;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _content, done) => done(null));
  app.all("/*", serve);
  app.setNotFoundHandler(serve); // OPTIONS *, TRACE, //path, QUERY …
  app.setErrorHandler((_error, request, reply) => serve(request, reply)); // a Content-Type that is no media type
  answerExpectations(app);
  serveUpgrades(app.server, (request, response) => {
    waiting.set(request, response);
    app.routing(request, response);
  });
  return app;
}

/** UUIDs (RFC 9562 §5.8) that tell requests apart: random for the process, counted within it. */
function createRequestIds(): () => string {
  const [a, b, , d] = randomUUID().split("-");
  const start = `${a}-${b}-8${randomUUID().slice(15, 18)}-${d}-`;
  let count = 0;
  return () => start + (++count).toString(16).padStart(12, "0");
}

type Serve = (request: FastifyRequest, reply: FastifyReply) => void;

/** What the answers to all requests share. */
interface Wire {
  service: Service;
  logRequests: boolean;
  budget: Budget;
}

function serveWith(wire: Wire): Serve {
  const { pace } = wire.service;
  const takeTurn = createTurns(pace.perTurn);
  return (request, reply) => {
    reply.hijack();
    const work = () => answer(wire, request, reply);
    (request.raw.socket as Connection)[latestRequest] = request.raw;
    if (isRead(request.raw)) {
      pace.noteRead();
      inOrder(request.raw.socket, work);
    } else inOrder(request.raw.socket, () => takeTurn().then(work));
  };
}

function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD" || method === "QUERY";
}

/**
 * The answer is written past Fastify, which would add a charset to media types that have none. Gives whether the
 * connection stays open.
 */
async function answer(wire: Wire, incoming: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const begin = wire.logRequests ? performance.now() : 0;
  const { raw } = incoming;
  const request = toHttpRequest(incoming, wire.budget);
  const { status, headers, body } = withinRoom(wire, request, await handle(wire.service, request));
  wire.budget.held -= request.heldBytes;
  if (closesBehind(raw)) headers.connection = "close";
  reply.raw.writeHead(status, headers);
  // Text of as many bytes as characters is ASCII, which is quicker to send in its other name.
  const isAscii = body !== undefined && Number(headers["content-length"]) === body.length;
  reply.raw.end(body, isAscii ? "latin1" : "utf8");
  if (wire.logRequests) logRequest(wire.service, request, { status, ms: performance.now() - begin });
  if (reply.raw.writableLength > 0) await untilRead(reply.raw, raw.socket, wire.budget);
  return headers.connection !== "close" && reply.raw.shouldKeepAlive;
}

/** The answer itself, unless it is a large one to a read and too much is held already. */
function withinRoom({ service, budget }: Wire, request: HttpRequest, response: HttpResponse): HttpResponse {
  if (
    (request.method !== "GET" && request.method !== "QUERY") ||
    !isBeyond(budget, response.body?.length ?? 0)
  )
    return response;
  const refusal = problemResponse(request, noRoomForAnswer(), service.log);
  addCommonHeaders(service, request, refusal);
  return refusal;
}

/** No query string and no headers: they may hold secrets. */
function logRequest(
  service: Service,
  { id, method, target }: HttpRequest,
  { status, ms }: { status: number; ms: number },
): void {
  const path = target.split("?")[0];
  service.log.info({ requestId: id, method, path, status, ms: Math.round(ms * 10) / 10 }, "request");
}

/** Requests whose clients wait for `100 Continue` before they send their content. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

function toHttpRequest(incoming: FastifyRequest, budget: Budget): HttpRequest {
  const { raw, id } = incoming;
  const request: HttpRequest = {
    version: raw.httpVersion,
    method: raw.method ?? "",
    target: raw.url ?? "",
    headers: raw.headers,
    rawHeaders: raw.rawHeaders,
    id,
    client: incoming,
    principal: undefined,
    content: raw,
    budget,
    heldBytes: 0,
  };
  if (raw.headers.expect !== undefined) {
    const response = waiting.get(raw);
    if (response !== undefined) request.sendContinue = () => response.writeContinue();
  }
  return request;
}

/** Node would answer `Expect` by itself, before anybody has looked whether the content is wanted. */
function answerExpectations(app: FastifyInstance): void {
  app.server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(request, response);
    app.routing(request, response);
  });
  app.server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    app.routing(request, response);
  });
}

/**
 * What never became a request: malformed, too large in its headers, or too slow. Whole requests before it are answered
 * first; one whose own content is at fault would wait for it in vain.
 */
function clientErrorHandler(error: NodeJS.ErrnoException, socket: Connection): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
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
    return new Problem("HEADERS_TOO_LARGE", "The header section is larger than the limit.");
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new Problem("REQUEST_TIMEOUT", "The request was not complete in time.");
  }
  return new Problem("INVALID_REQUEST", "The request is not a well-formed HTTP/1.1 message.");
}
