/**
 * Serves each request of a connection in its turn: calls the handler, which reads the content itself, and sends the response.
 * It refuses requests that exceed the limits for all connections together.
 */

import { randomUUID } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Problem } from "../../errors.ts";
import { isRead } from "../admission/gone.ts";
import { type Admission, noMemoryForResponse, Ticket, tooManyInProgress } from "../admission/ticket.ts";
import { createTurns } from "../admission/turns.ts";
import { after } from "../after.ts";
import { anonymous } from "../caller/admit.ts";
import { handle } from "../handle.ts";
import { problemResponse } from "../problem.ts";
import { hasContent, IncomingContent, noContent } from "../protocol/content.ts";
import { type Content, type HttpRequest, type HttpResponse, isLive } from "../protocol/message.ts";
import { addCommonHeaders } from "../respond.ts";
import { isHealth } from "../route.ts";
import type { Clock, RequestSpan, Service } from "../service.ts";
import { refusalStatusOf } from "./client-errors.ts";
import { Compressions, codingOf, compressed } from "./compression.ts";
import {
  type Connection,
  closeGently,
  inOrder,
  latestRequest,
  untilRead,
  waitingInAll,
} from "./connections.ts";
import { continuationOf } from "./expectations.ts";
import { atFairPace, type StallBounds } from "./stalled.ts";
import { createStreams, type Streams, sendLive, sendPieces } from "./streams.ts";
import { closesBehind } from "./upgrade.ts";

/** A request as Node gives it. */
export interface Incoming {
  message: IncomingMessage;
  response: ServerResponse;
  /** Identifies the request in its response and in the log. */
  id: string;
  /** The version of HTTP; empty if the request line is malformed. @default that of the message */
  version?: string;
  client: HttpRequest["client"];
  /** The content, if the message no longer has it. */
  content?: Content | undefined;
  /** What the request holds already, because its content was received before. */
  ticket?: Ticket | undefined;
  /** Headers that the response has too, unless the service itself sets them. */
  also?: OutgoingHttpHeaders;
}

/** Serves one request. Returns at once, and never throws. */
export type Serve = (incoming: Incoming) => void;

interface WireOptions {
  service: Service;
  logRequests: boolean;
  admission: Admission;
  bounds: StallBounds;
}

/** What all requests of one application share. */
export interface Wire extends WireOptions {
  /** Whether each request is logged, counted or traced. */
  isObserved: boolean;
  compressions: Compressions;
  streams: Streams;
}

/** The shared state of a new application. */
export function createWire(options: WireOptions): Wire {
  return {
    ...options,
    isObserved: options.logRequests || options.service.isObserved,
    compressions: new Compressions(options.admission),
    streams: createStreams(options.admission),
  };
}

/** Serves requests: those of one connection one after the other, and few writes in each turn of the event loop. */
export function createServe(wire: Wire): Serve {
  const { turnBudget } = wire.service;
  const takeTurn = createTurns(turnBudget.perTurn);
  return (incoming) => {
    const { message } = incoming;
    const connection: Connection = message.socket;
    connection[latestRequest] = message;
    connection[waitingInAll] ??= wire.service.counts.waiting;
    const isOnlyRead = isRead(message);
    if (isOnlyRead) turnBudget.noteRead();
    inOrder(connection, () => {
      const ticket = incoming.ticket ?? new Ticket(wire.admission, message);
      const isHealthCheck = isHealth(message.url ?? ""); // it always passes: it takes almost no time
      if (!ticket.enter(isHealthCheck)) return refuse(wire, incoming, ticket);
      if (isOnlyRead) return answer(wire, incoming, ticket);
      return takeTurn().then(() => answer(wire, incoming, ticket));
    });
  };
}

function refuse(wire: Wire, incoming: Incoming, ticket: Ticket): boolean | Promise<boolean> {
  const start = wire.isObserved ? performance.now() : 0;
  const request = toHttpRequest(incoming, ticket);
  const span = wire.service.tracer?.start(request);
  return send(wire, incoming, {
    request,
    response: refusalOf(wire, request, tooManyInProgress()),
    start,
    span,
  });
}

/**
 * Handles a request that counts as in progress, and sends the response. Returns whether the connection stays open; at once if the
 * response is.
 */
function answer(wire: Wire, incoming: Incoming, ticket: Ticket): boolean | Promise<boolean> {
  const start = wire.isObserved ? performance.now() : 0;
  const { service } = wire;
  const request = toHttpRequest(incoming, ticket);
  const span = service.tracer?.start(request);
  const end = () => {
    ticket.end();
    span?.end();
  };
  try {
    const handled = span === undefined ? handle(service, request) : span.run(() => handle(service, request));
    const sent = after(handled, (response) => {
      const plain = withinMemory(wire, request, response);
      const coding = service.settings.compression ? codingOf(request, plain) : undefined;
      const coded = coding === undefined ? plain : compressed(wire.compressions, plain, coding);
      return after(coded, (ready) => {
        ticket.release();
        return send(wire, incoming, { request, response: ready, start, span });
      });
    });
    if (sent instanceof Promise) return sent.finally(end);
    end();
    return sent;
  } catch (error) {
    end();
    throw error;
  }
}

function toHttpRequest({ message, id, version, client, content }: Incoming, ticket: Ticket): HttpRequest {
  return {
    version: version ?? message.httpVersion,
    method: message.method ?? "",
    target: message.url ?? "",
    headers: message.headers,
    rawHeaders: message.rawHeaders,
    id,
    client,
    socket: message.socket,
    content: content ?? contentIn(message, ticket),
    ticket,
  };
}

/** The content of a message, unread. */
export function contentIn(message: IncomingMessage, ticket: Ticket): Content {
  if (!hasContent(message)) return noContent;
  const waiting = message.headers.expect === undefined ? undefined : continuationOf(message);
  return new IncomingContent(message, ticket, waiting && (() => waiting.writeContinue()));
}

/** The response; 503 instead if it is a large one to a read, and the memory for responses is used up. */
function withinMemory(wire: Wire, request: HttpRequest, response: HttpResponse): HttpResponse {
  if (
    (request.method !== "GET" && request.method !== "QUERY") ||
    !request.ticket.isOver(bytesToHold(response))
  )
    return response;
  const refusal = refusalOf(wire, request, noMemoryForResponse());
  const { ratelimit } = response.headers; // the caller's quota: the refusal does not know the caller
  if (ratelimit !== undefined) refusal.headers.ratelimit = ratelimit;
  return refusal;
}

function bytesToHold({ body }: HttpResponse): number {
  if (isLive(body)) return 0;
  return typeof body === "object" && "pieces" in body ? body.heldBytes : (body?.length ?? 0);
}

function refusalOf({ service }: Wire, request: HttpRequest, problem: Problem): HttpResponse {
  const refusal = problemResponse(request, problem, service.log);
  addCommonHeaders(service, request, anonymous, refusal);
  return refusal;
}

/** A request with its response. `start` is the time at which the request started, if requests are observed. */
interface Exchange {
  request: HttpRequest;
  response: HttpResponse;
  start: number;
  span: RequestSpan | undefined;
}

/** Sends a response. Returns whether the connection stays open. */
function send(
  wire: Wire,
  { message, response: out, also }: Incoming,
  exchange: Exchange,
): boolean | Promise<boolean> {
  const { request, response } = exchange;
  const { status, headers } = response;
  const body = request.method === "HEAD" ? undefined : response.body;
  if (closesBehind(message)) headers.connection = "close";
  if (headers.connection === "close" && hasContent(message) && !message.complete) closeGently(message);
  if (response.cookies !== undefined) out.setHeader("set-cookie", response.cookies);
  out.writeHead(status, also === undefined ? headers : joined(also, headers));
  if (wire.isObserved) {
    response.status = refusalStatusOf(message) ?? status; // the client got the refusal
    note(wire, exchange);
  }
  const connection = message.socket;
  if (isLive(body)) {
    const sent = sendLive(out, body, { connection, idleMs: wire.bounds.stalledTimeoutMs });
    return sent.then(() => staysOpen(out, headers));
  }
  if (typeof body === "object" && !Buffer.isBuffer(body)) {
    const sent = sendPieces(out, body, wire.streams).catch((err: unknown) => {
      wire.service.log.error({ requestId: request.id, err }, "The response was interrupted.");
      throw err;
    });
    return atFairPace(sent, { connection, bytes: body.heldBytes }, wire).then(() => staysOpen(out, headers));
  }
  if (Buffer.isBuffer(body)) out.end(body);
  else endWithText(out, body, headers);
  const bytes = out.writableLength;
  if (bytes === 0) return staysOpen(out, headers);
  const read = untilRead(out, connection, wire.admission);
  return atFairPace(read, { connection, bytes }, wire).then(() => staysOpen(out, headers));
}

function staysOpen({ shouldKeepAlive }: ServerResponse, { connection }: HttpResponse["headers"]): boolean {
  return connection !== "close" && shouldKeepAlive;
}

/** The headers of the service, and the others that say nothing about its content or connection. */
function joined(also: OutgoingHttpHeaders, headers: HttpResponse["headers"]): OutgoingHttpHeaders {
  const others = Object.entries(also).filter(([name]) => !/^(?:content-|transfer-|connection$)/.test(name));
  const vary = [headers.vary, also.vary].flat().filter((value) => value !== undefined);
  return { ...Object.fromEntries(others), ...headers, ...(vary.length > 0 && { vary: vary.join(", ") }) };
}

/** The response starts now. */
function note({ service, logRequests }: Wire, { request, response, start, span }: Exchange): void {
  const ms = performance.now() - start;
  service.meter?.note(request, response, ms / 1_000);
  span?.end(response);
  if (!logRequests) return;
  const hint = response.headers["holdfast-hint"];
  logRequest(service, request, { status: response.status, ms, hint, traceId: span?.traceId });
}

function endWithText(out: ServerResponse, text: string | undefined, headers: HttpResponse["headers"]): void {
  // A text with as many bytes as characters is ASCII. Node sends it faster as latin1.
  const isAscii = text !== undefined && Number(headers["content-length"]) === text.length;
  out.end(text, isAscii ? "latin1" : "utf8");
}

/** Logs no query string and no headers, because they can contain secrets. */
function logRequest(
  service: Clock,
  { id, method, target }: HttpRequest,
  { ms, ...others }: { status: number; ms: number; hint: string | undefined; traceId: string | undefined },
): void {
  const path = target.split("?")[0];
  service.log.info({ requestId: id, method, path, ...others, ms: Math.round(ms * 10) / 10 }, "request");
}

/** Makes UUIDs (RFC 9562 §5.8) that identify requests: a random part for the process, and a counter. */
export function createRequestIds(): () => string {
  const [a, b, , d] = randomUUID().split("-");
  const start = `${a}-${b}-8${randomUUID().slice(15, 18)}-${d}-`;
  let count = 0;
  return () => start + (++count).toString(16).padStart(12, "0");
}
