/**
 * The only file that knows Fastify. It carries sockets, limits, time-outs and the orderly close, and hands
 * every request to `handle` with its content unread; none of our logic hangs on its hooks or routes.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { Problem } from "../../errors.ts";
import { anonymous } from "../caller/admit.ts";
import { handle } from "../handle.ts";
import {
  type Budget,
  createBudget,
  isBeyond,
  isFull,
  noRoomForAnswer,
  noRoomForRequest,
} from "../limits/budget.ts";
import { LargeReads } from "../limits/large-reads.ts";
import { createTurns } from "../limits/turns.ts";
import { problemResponse } from "../problem.ts";
import { hasContent, IncomingContent, noContent } from "../protocol/content.ts";
import type { Content, HttpRequest, HttpResponse } from "../protocol/message.ts";
import { addCommonHeaders } from "../respond.ts";
import { isHealth } from "../route.ts";
import type { Service } from "../service.ts";
import type { Limits } from "../settings.ts";
import { answerClientError } from "./client-errors.ts";
import { Compressions, codingOf, compressed } from "./compression.ts";
import {
  type Connection,
  inOrder,
  latestRequest,
  untilRead,
  type WaitingInAll,
  waitingInAll,
} from "./connections.ts";
import { noteWaiting, takeExpectations, whoWaits } from "./expectations.ts";
import { atFairPace, createTimeoutListener, type StallBounds } from "./stalled.ts";
import { createStreams, type Streams, sendPieces } from "./streams.ts";
import type { KeyPair } from "./tls.ts";
import { canHandOver, closesBehind, serveUpgrades } from "./upgrade.ts";

/** An application of Fastify, also somebody else's. */
export type App = FastifyInstance;

/** What the wire needs beside the service. */
export interface AppOptions {
  /** Whether each request is logged. */
  logRequests: boolean;
  /** What the service encrypts with; without it, it does not. */
  tls?: KeyPair | undefined;
  /** Bounds that no configuration offers: for tests and measurements. */
  bounds?: Partial<WireBounds> | undefined;
}

/** The limits of all connections together, and how long a client may leave its answer unread. */
export interface WireBounds extends StallBounds {
  /** Connections; further ones are closed at once. @default 10000 */
  maxConnections: number;
  /** Content of requests that are not answered yet and answers that are not read yet, in bytes. @default 67108864 */
  maxHeldBytes: number;
  /** Requests under way, one of each connection at most; further ones are refused. @default 5000 */
  maxRequests: number;
}

const defaultBounds: WireBounds = {
  maxConnections: 10_000,
  maxHeldBytes: 67_108_864,
  maxRequests: 5_000,
  stalledTimeoutMs: 60_000,
  longestStallMs: 600_000,
  slowestBytesPerSecond: 10_000,
};

/** The Fastify instance that serves a service; the caller listens and closes. */
export function createApp(service: Service, options: AppOptions): FastifyInstance {
  const { limits } = service.settings;
  const bounds = { ...defaultBounds, ...options.bounds };
  const budget = createBudget(bounds.maxHeldBytes, bounds.maxRequests);
  const wire = createWire({
    service,
    logRequests: options.logRequests,
    budget,
    bounds,
    idOf: ({ id }) => id,
  });
  const serve = serveWith(wire);
  const app = fastify({
    logger: false,
    genReqId: createRequestIds(),
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionTimeout: bounds.stalledTimeoutMs,
    forceCloseConnections: "idle",
    return503OnClosing: false, // a request that was accepted is answered, also while we stop
    routerOptions: { maxParamLength: limits.headerBytes },
    ...(service.settings.trustProxy.length === 0 ? {} : { trustProxy: [...service.settings.trustProxy] }),
    ...serverOptions(limits, options.tls),
    clientErrorHandler: answerClientError,
    frameworkErrors: (_error, request, reply) => serve(request, reply),
  });
  for (const event of ["connection", "secureConnection"])
    app.server.on(event, (connection: Connection) => {
      connection[waitingInAll] = wire.waitingInAll;
      wire.largeReads.noteConnection();
    });
  app.server.maxConnections = bounds.maxConnections;
  takeAll(app, serve);
  app.setErrorHandler((_error, request, reply) => serve(request, reply)); // a Content-Type that is no media type
  takeExpectations(app.server, app.routing);
  const onTimeout = createTimeoutListener(bounds, budget);
  app.server.on("timeout", onTimeout);
  serveUpgrades(app.server, onTimeout, (request, response) => {
    noteWaiting(request, response);
    app.routing(request, response);
  });
  return app;
}

/** Whatever comes, its content unread. */
function takeAll(app: FastifyInstance, serve: Serve): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _content, done) => done(null));
  app.all("/*", serve);
  app.setNotFoundHandler(serve); // OPTIONS *, TRACE, //path, QUERY …
}

/**
 * Serves a service in somebody else's application, below the prefix of the instance that is given, whose parsers of content
 * it replaces. There is no error handler: what a hook of the application refuses must never be served after all.
 */
export function mountService(app: FastifyInstance, service: Service): void {
  const nextId = createRequestIds(); // the application's may be anything, and ours are told in problems
  const budget = createBudget(defaultBounds.maxHeldBytes, defaultBounds.maxRequests);
  takeAll(
    app,
    serveWith(createWire({ service, logRequests: false, budget, bounds: defaultBounds, idOf: nextId })),
  );
}

/** A service that stops waits for the handshakes under way, and not for long. */
const maxHandshakeMs = 5_000;

function serverOptions(limits: Limits, tls: KeyPair | undefined) {
  const http = {
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: 1_000, // Node looks at its time-outs only this often
    maxHeaderSize: limits.headerBytes, // the target counts too
    requireHostHeader: false, // we answer that ourselves
    shouldUpgradeCallback: canHandOver,
  };
  if (tls === undefined) return { http };
  const https = { ...http, ...tls, handshakeTimeout: Math.min(limits.headersTimeoutMs, maxHandshakeMs) };
  return { https: https as typeof http }; // one type of server is enough for what we do with it
}

/** UUIDs (RFC 9562 §5.8) that tell requests apart: random for the process, counted within it. */
function createRequestIds(): () => string {
  const [a, b, , d] = randomUUID().split("-");
  const start = `${a}-${b}-8${randomUUID().slice(15, 18)}-${d}-`;
  let count = 0;
  return () => start + (++count).toString(16).padStart(12, "0");
}

type Serve = (request: FastifyRequest, reply: FastifyReply) => void;

interface WireOptions {
  service: Service;
  logRequests: boolean;
  budget: Budget;
  bounds: StallBounds;
  /** What tells a request apart, in answers and in the log. */
  idOf: (request: FastifyRequest) => string;
}

/** What the answers to all requests share. */
interface Wire extends WireOptions {
  compressions: Compressions;
  streams: Streams;
  largeReads: LargeReads;
  waitingInAll: WaitingInAll;
}

function createWire(options: WireOptions): Wire {
  return {
    ...options,
    compressions: new Compressions(options.budget),
    streams: createStreams(options.budget),
    largeReads: new LargeReads(),
    waitingInAll: { count: 0 },
  };
}

function serveWith(wire: Wire): Serve {
  const { pace } = wire.service;
  const takeTurn = createTurns(pace.perTurn);
  return (request, reply) => {
    reply.hijack();
    const work = () => answer(wire, request, reply);
    const connection: Connection = request.raw.socket;
    connection[latestRequest] = request.raw;
    connection[waitingInAll] ??= wire.waitingInAll;
    if (isRead(request.raw)) {
      pace.noteRead();
      inOrder(request.raw.socket, () => (begins(wire, request) ? work() : refuse(wire, request, reply)));
    } else {
      const inTurn = () => takeTurn().then(work);
      inOrder(request.raw.socket, () => (begins(wire, request) ? inTurn() : refuse(wire, request, reply)));
    }
  };
}

/** Takes its place among the requests under way, if there is one. Health is told in any case: it needs none for long. */
function begins({ budget }: Wire, { raw }: FastifyRequest): boolean {
  if (isFull(budget) && !isHealth(raw.url ?? "")) return false;
  budget.requests++;
  return true;
}

async function refuse(wire: Wire, incoming: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const begin = wire.logRequests ? performance.now() : 0;
  const request = toHttpRequest(incoming, wire);
  return send(wire, { request, response: refusalOf(wire, request, noRoomForRequest()), begin }, reply);
}

function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD" || method === "QUERY";
}

/** Answers a request that has taken its place. */
async function answer(wire: Wire, incoming: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const begin = wire.logRequests ? performance.now() : 0;
  const { budget } = wire;
  const request = toHttpRequest(incoming, wire);
  let isReleased = false;
  try {
    const plain = withinRoom(wire, request, await handle(wire.service, request));
    const coding = wire.service.settings.compression ? codingOf(request, plain) : undefined;
    const response = coding === undefined ? plain : await compressed(wire.compressions, plain, coding);
    release(wire, request);
    isReleased = true;
    const sent = send(wire, { request, response, begin }, reply);
    return sent instanceof Promise ? await sent : sent;
  } finally {
    if (!isReleased) release(wire, request);
    budget.requests--;
  }
}

/** The response takes the place of what the request holds. */
function release({ budget, largeReads }: Wire, request: HttpRequest): void {
  budget.held -= request.content.heldBytes;
  largeReads.end(request);
}

interface Answered {
  request: HttpRequest;
  response: HttpResponse;
  /** When the request began, where that is logged. */
  begin: number;
}

/**
 * The answer is written past Fastify, which would add a charset to media types that have none. Gives whether the
 * connection stays open.
 */
function send(
  wire: Wire,
  { request, response, begin }: Answered,
  reply: FastifyReply,
): boolean | Promise<boolean> {
  const { status, headers } = response;
  const body = request.method === "HEAD" ? undefined : response.body;
  const { raw } = reply.request;
  if (closesBehind(raw)) headers.connection = "close";
  reply.raw.writeHead(status, headers);
  if (wire.logRequests) logRequest(wire.service, request, { status, ms: performance.now() - begin });
  const staysOpen = () => headers.connection !== "close" && reply.raw.shouldKeepAlive;
  const { socket: connection } = raw;
  if (typeof body === "object" && !Buffer.isBuffer(body)) {
    const sent = sendPieces(reply.raw, body, wire.streams).catch((err: unknown) => {
      wire.service.log.error({ requestId: request.id, err }, "The response was interrupted.");
      throw err;
    });
    return atFairPace(sent, { connection, bytes: body.heldBytes }, wire).then(staysOpen);
  }
  if (Buffer.isBuffer(body)) reply.raw.end(body);
  else endWithText(reply.raw, body, headers);
  const bytes = reply.raw.writableLength;
  if (bytes === 0) return staysOpen();
  const read = untilRead(reply.raw, connection, wire.budget);
  return atFairPace(read, { connection, bytes }, wire).then(staysOpen);
}

function endWithText(
  response: ServerResponse,
  text: string | undefined,
  headers: HttpResponse["headers"],
): void {
  // Text of as many bytes as characters is ASCII, which is quicker to send in its other name.
  const isAscii = text !== undefined && Number(headers["content-length"]) === text.length;
  response.end(text, isAscii ? "latin1" : "utf8");
}

/** The answer itself, unless it is a large one to a read and too much is held already. */
function withinRoom(wire: Wire, request: HttpRequest, response: HttpResponse): HttpResponse {
  if (
    (request.method !== "GET" && request.method !== "QUERY") ||
    !isBeyond(wire.budget, bytesToHold(response), wire.largeReads.heldBy(request))
  )
    return response;
  const refusal = refusalOf(wire, request, noRoomForAnswer());
  const { ratelimit } = response.headers; // of the caller, whom the refusal does not know
  if (ratelimit !== undefined) refusal.headers.ratelimit = ratelimit;
  return refusal;
}

function bytesToHold({ body }: HttpResponse): number {
  return typeof body === "object" && "pieces" in body ? body.heldBytes : (body?.length ?? 0);
}

function refusalOf({ service }: Wire, request: HttpRequest, problem: Problem): HttpResponse {
  const refusal = problemResponse(request, problem, service.log);
  addCommonHeaders(service, request, anonymous, refusal);
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

function toHttpRequest(incoming: FastifyRequest, { budget, largeReads, idOf }: Wire): HttpRequest {
  const { raw } = incoming;
  return {
    version: raw.httpVersion,
    method: raw.method ?? "",
    target: raw.url ?? "",
    headers: raw.headers,
    rawHeaders: raw.rawHeaders,
    id: idOf(incoming),
    client: incoming,
    socket: raw.socket,
    content: hasContent(raw) ? incomingContent(raw, budget) : noContent,
    budget,
    largeReads,
  };
}

function incomingContent(raw: IncomingMessage, budget: Budget): Content {
  const waiting = raw.headers.expect === undefined ? undefined : whoWaits(raw);
  return new IncomingContent(raw, budget, waiting && (() => waiting.writeContinue()));
}
