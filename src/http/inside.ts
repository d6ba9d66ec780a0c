/**
 * Sends requests inside the process, for code that acts as a given caller. A request takes the whole path of a request (`handle.ts`), so its
 * rights, its limits and its errors are those of a request. Only its credential is not read, its encryption is not checked, and no quota
 * counts it: these belong to connections.
 */
import { isUtf8 } from "node:buffer";
import { Socket } from "node:net";
import type { Principal } from "../access/principal.ts";
import { Problem } from "../errors.ts";
import { isRead } from "./admission/gone.ts";
import { Admission, Ticket, tooManyInProgress } from "./admission/ticket.ts";
import { createTurns } from "./admission/turns.ts";
import { handle } from "./handle.ts";
import { problemResponse } from "./problem.ts";
import { contentOf, contentTooLarge, noContent } from "./protocol/content.ts";
import { type Content, type HttpRequest, type HttpResponse, isLive } from "./protocol/message.ts";
import type { Clock, Service } from "./service.ts";
import { defaultBounds } from "./wire/bounds.ts";
import { createRequestIds } from "./wire/serve.ts";

/**
 * Sends a request inside the process, as one caller. The signal cancels a read; a write always continues. Rejects with the reason of the
 * signal if that is aborted before the request begins. Every error of the service is a response.
 */
export type InsideFetch = (request: InsideRequest, signal?: AbortSignal) => Promise<InsideResponse>;

/** A request inside the process. */
export interface InsideRequest {
  readonly method: string;
  /** The path with the prefix of the service, and the query. */
  readonly target: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The response to a request inside the process. */
export interface InsideResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Who sends requests inside the process. */
export interface InsideCaller {
  /** `undefined`: a caller without a credential. */
  readonly principal: Principal | undefined;
  /** The address of the client for whom the code acts. @default unknown */
  readonly ip?: string | undefined;
  /** In how many requests the code runs, one inside the other. @default 0 */
  readonly depth?: number;
}

/** The largest response to a read, in bytes. */
const maxResponse = 16 * 1024 * 1024;

/** Makes the `InsideFetch` of a caller. */
export type Inside = (caller: InsideCaller) => InsideFetch;

/** Returns a function that makes the `InsideFetch` of each caller. All of them share their limits. */
export function createInside(service: Service): Inside {
  const admission = new Admission(service, defaultBounds);
  const takeTurn = createTurns(service.turnBudget.perTurn);
  const nextId = createRequestIds();
  return (caller) => async (sent, signal) => {
    signal?.throwIfAborted();
    const socket = new Socket(); // never connected: it only says whether the code still waits
    const ticket = new Ticket(admission, { method: sent.method, socket });
    const close = () => socket.destroy();
    signal?.addEventListener("abort", close);
    try {
      const request = requestOf(sent, { caller, id: nextId(), socket, ticket });
      if (!ticket.enter(false))
        return responseTo(service, request, refused(service, request, tooManyInProgress()));
      if (!isRead(sent)) await takeTurn();
      return responseTo(service, request, await handle(service, request));
    } finally {
      signal?.removeEventListener("abort", close);
      ticket.end();
    }
  };
}

interface Parts extends Pick<HttpRequest, "id" | "socket" | "ticket"> {
  caller: InsideCaller;
}

function requestOf(
  { method, target, headers: sent, body = "" }: InsideRequest,
  { caller: { principal, ip, depth }, ...parts }: Parts,
): HttpRequest {
  const { authorization: _, cookie: _cookie, ...others } = sent; // the caller is known
  const bytes = Buffer.from(body);
  const headers = { ...others, host: "localhost", "content-length": String(bytes.length) };
  return {
    version: "1.1",
    method,
    target,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    client: { ip, protocol: "https" },
    sentBy: { principal, quota: undefined, depth },
    content: bytes.length === 0 ? noContent : contentIn(bytes, parts.ticket),
    ...parts,
  };
}

/** Content that is in memory, and counts as held once it is used. */
export function contentIn(bytes: Buffer, ticket: Ticket): Content {
  let received: Promise<Buffer> | undefined;
  const receive = async (maxBytes: number) => {
    if (bytes.length > maxBytes) throw contentTooLarge(maxBytes);
    ticket.addContent(bytes.length);
    await ticket.work(bytes.length);
    return bytes;
  };
  return {
    ...contentOf(bytes),
    receive: (maxBytes) => {
      received ??= receive(maxBytes);
      return received;
    },
  };
}

/** The response with its body as text, or the problem that it cannot be a text. */
function responseTo(service: Service, request: HttpRequest, response: HttpResponse): InsideResponse {
  try {
    return { status: response.status, headers: response.headers, body: textOf(request, response) };
  } catch (error) {
    const { status, headers, body } = refused(service, request, error);
    return { status, headers, body: body as string };
  }
}

function refused({ log }: Clock, request: HttpRequest, error: unknown): HttpResponse {
  return problemResponse(request, error, log);
}

/** Throws NOT_ACCEPTABLE and CONTENT_TOO_LARGE. */
function textOf(request: HttpRequest, { body }: HttpResponse): string | undefined {
  if (body === undefined || request.method === "HEAD") return undefined;
  if (isLive(body))
    throw noText("This stream has no end. Code cannot wait for it: ask for a page of events.");
  if (typeof body === "string") return within(request, body);
  if (Buffer.isBuffer(body)) {
    if (isUtf8(body)) return within(request, body.toString());
    throw noText("This file is not text, so code cannot read it.");
  }
  let text = "";
  for (const piece of body.pieces) text = within(request, text + piece);
  return text;
}

/** The response to a write is not refused, because the write has taken effect. */
function within(request: HttpRequest, text: string): string {
  if (text.length <= maxResponse || !isRead(request)) return text;
  throw new Problem(
    "CONTENT_TOO_LARGE",
    "The response would be larger than 16 MiB, the limit for code. Ask for fewer resources with limit.",
  );
}

function noText(why: string): Problem {
  return new Problem("NOT_ACCEPTABLE", why);
}
