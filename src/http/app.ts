/**
 * The only file that knows Fastify. It carries sockets, limits, time-outs and the orderly close, and hands
 * every request to `handle` with its content unread; none of our logic hangs on its hooks or routes.
 */
import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { Problem } from "../errors.ts";
import { handle } from "./handle.ts";
import { type HttpRequest, jsonType, safetyHeaders } from "./message.ts";
import { problemBody } from "./problem.ts";
import type { Service } from "./service.ts";
import { createTurns } from "./turns.ts";

/** What the wire needs beside the service. */
export interface AppOptions {
  /** Whether each request is logged. */
  logRequests: boolean;
}

/** A connection on which nothing moves for so long, its client not reading the answer for one, is closed. */
const stalledTimeoutMs = 60_000;

/** The Fastify instance that serves a service; the caller listens and closes. */
export function createApp(service: Service, { logRequests }: AppOptions): FastifyInstance {
  const { limits } = service.settings;
  const serve = serveWith(service, logRequests);
  const app = fastify({
    logger: false,
    genReqId: createRequestIds(),
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionTimeout: stalledTimeoutMs,
    forceCloseConnections: "idle",
    return503OnClosing: false, // a request that was accepted is answered, also while we stop
    routerOptions: { maxParamLength: limits.headerBytes },
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: 1_000, // Node looks at its time-outs only this often
      maxHeaderSize: limits.headerBytes, // the target counts too
      requireHostHeader: false, // we answer that ourselves
    },
    clientErrorHandler,
    frameworkErrors: (_error, request, reply) => serve(request, reply),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _content, done) => done(null));
  app.all("/*", serve);
  app.setNotFoundHandler(serve); // OPTIONS *, TRACE, //path, QUERY …
  app.setErrorHandler((_error, request, reply) => serve(request, reply)); // a Content-Type that is no media type
  answerExpectations(app);
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

/** Writes that are taken on in one turn of the event loop. */
const writesPerTurn = 8;

function serveWith(service: Service, logRequests: boolean): Serve {
  const takeTurn = createTurns(writesPerTurn);
  return (request, reply) => {
    reply.hijack();
    const work = () => answer(service, request, reply, logRequests);
    const isRead = request.raw.method === "GET" || request.raw.method === "HEAD";
    (request.raw.socket as Connection)[latestRequest] = request.raw;
    inOrder(request.raw.socket, isRead ? work : () => takeTurn().then(work));
  };
}

/**
 * The answer is written past Fastify, which would add a charset to media types that have none. Gives whether the
 * connection stays open.
 */
async function answer(
  service: Service,
  request: FastifyRequest,
  reply: FastifyReply,
  logRequests: boolean,
): Promise<boolean> {
  const begin = logRequests ? performance.now() : 0;
  const { status, headers, body } = await handle(service, toHttpRequest(request));
  reply.raw.writeHead(status, headers);
  // Text of as many bytes as characters is ASCII, which is quicker to send in its other name.
  const isAscii = body !== undefined && Number(headers["content-length"]) === body.length;
  reply.raw.end(body, isAscii ? "latin1" : "utf8");
  if (logRequests) logRequest(service, request, { status, ms: performance.now() - begin });
  return headers.connection !== "close" && reply.raw.shouldKeepAlive;
}

/** What waits on a connection for the request under way; `undefined` where nothing is under way. */
const waitingRequests = Symbol("waiting requests");

/** Requests of one connection that may wait for the one under way. */
const maxWaitingRequests = 1_000;

type Work = () => Promise<boolean>;

/** The request that a connection's last bytes belong to. */
const latestRequest = Symbol("latest request");

type Connection = Socket & {
  [waitingRequests]?: Work[] | undefined;
  [latestRequest]?: IncomingMessage | undefined;
};

/** Shared by the many connections on which nothing waits. */
const noneWaiting: Work[] = [];

/**
 * Requests that were sent one after the other without waiting are carried out one after the other: the second may
 * stand on what the first does (RFC 9112 §9.3.2). After an answer that closes the connection, what still came
 * along is not carried out.
 */
function inOrder(connection: Connection, work: Work): void {
  const waiting = connection[waitingRequests];
  if (waiting === undefined) {
    connection[waitingRequests] = noneWaiting;
    carryOut(connection, work);
  } else if (waiting === noneWaiting) connection[waitingRequests] = [work];
  else if (waiting.length < maxWaitingRequests) waiting.push(work);
  else connection.destroy(); // nobody sends so many requests who also reads the answers
}

function carryOut(connection: Connection, work: Work): void {
  work().then(
    (isOpen) => {
      if (!isOpen) return;
      const next = connection.destroyed ? undefined : connection[waitingRequests]?.shift();
      if (next === undefined) connection[waitingRequests] = undefined;
      else carryOut(connection, next);
    },
    () => connection.destroy(), // the client learns that there is no answer
  );
}

/** No query string and no headers: they may hold secrets. */
function logRequest(
  service: Service,
  { id, raw }: FastifyRequest,
  { status, ms }: { status: number; ms: number },
): void {
  const path = raw.url?.split("?")[0];
  service.log.info(
    { requestId: id, method: raw.method, path, status, ms: Math.round(ms * 10) / 10 },
    "request",
  );
}

/** Requests whose clients wait for `100 Continue` before they send their content. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

function toHttpRequest({ raw, id }: FastifyRequest): HttpRequest {
  const request: HttpRequest = {
    version: raw.httpVersion,
    method: raw.method ?? "",
    target: raw.url ?? "",
    headers: raw.headers,
    rawHeaders: raw.rawHeaders,
    id,
    content: raw,
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

function refuse(socket: Socket, problem: Problem): void {
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
