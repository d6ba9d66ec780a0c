/** A `fetch` whose requests stay in the process. They take the whole path of a request (`http/handle.ts`). */
import { Socket } from "node:net";
import type { Principal } from "../access/principal.ts";
import { isRead } from "../http/admission/gone.ts";
import { Admission, Ticket, tooManyInProgress } from "../http/admission/ticket.ts";
import { createTurns } from "../http/admission/turns.ts";
import { handle } from "../http/handle.ts";
import { contentIn } from "../http/inside.ts";
import { problemResponse } from "../http/problem.ts";
import { noContent } from "../http/protocol/content.ts";
import { type HttpRequest, type HttpResponse, isLive, type LiveBody } from "../http/protocol/message.ts";
import type { Service } from "../http/service.ts";
import { defaultBounds } from "../http/wire/bounds.ts";
import { createRequestIds } from "../http/wire/serve.ts";

type Fetch = typeof globalThis.fetch;

/** Whom a function acts as; `undefined`: whom the credential of each request identifies. */
export type FetchOf = (principal: Principal | undefined) => Fetch;

/** The headers that belong to a connection. Without `accept-encoding`, the service compresses nothing. */
const ofConnections = ["accept-encoding", "connection", "content-length", "host"];

/** Returns a function that makes the `fetch` of a caller. A path begins at `origin`. All of them share their limits. */
export function createFetch(service: Service, origin: string): FetchOf {
  const admission = new Admission(service, defaultBounds);
  const takeTurn = createTurns(service.turnBudget.perTurn);
  const nextId = createRequestIds();
  return (principal) => async (input, init) => {
    const given = typeof input === "string" ? new URL(input, origin) : input;
    const sent = new Request(given, init);
    const { method, signal } = sent;
    const bytes = Buffer.from(await sent.arrayBuffer());
    signal.throwIfAborted();
    const socket = new Socket(); // never connected: it only says whether the caller still waits
    const ticket = new Ticket(admission, { method, socket });
    const end = () => {
      signal.removeEventListener("abort", end);
      socket.destroy();
      ticket.end();
    };
    signal.addEventListener("abort", end);
    const request = requestOf(sent, bytes, { id: nextId(), socket, ticket, principal });
    try {
      const isFull = !ticket.enter(false);
      if (!isFull && !isRead(sent)) await takeTurn();
      const found = isFull
        ? problemResponse(request, tooManyInProgress(), service.log)
        : await handle(service, request);
      signal.throwIfAborted();
      return responseOf(found, { end, signal });
    } catch (error) {
      end();
      throw error;
    }
  };
}

function requestOf(
  sent: Request,
  bytes: Buffer,
  {
    principal,
    ...parts
  }: Pick<HttpRequest, "id" | "socket" | "ticket"> & { principal: Principal | undefined },
): HttpRequest {
  const { host, pathname, search } = new URL(sent.url);
  const others = [...sent.headers].filter(([name]) => !ofConnections.includes(name));
  const length = bytes.length > 0 || sent.body !== null ? { "content-length": String(bytes.length) } : {};
  const headers = { ...Object.fromEntries(others), host, ...length };
  return {
    version: "1.1",
    method: sent.method,
    target: pathname + search,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    client: { ip: "127.0.0.1", protocol: "http" },
    ...(principal && { sentBy: { principal, quota: undefined } }),
    content: bytes.length === 0 ? noContent : contentIn(bytes, parts.ticket),
    ...parts,
  };
}

interface Ending {
  /** Releases what the request holds. */
  end(): void;
  signal: AbortSignal;
}

/** The statuses whose responses have no body. `Response` refuses one. */
const bodiless = [204, 205, 304];

function responseOf({ status, headers, cookies = [], body }: HttpResponse, ending: Ending): Response {
  const shown = new Headers(headers);
  for (const cookie of cookies) shown.append("set-cookie", cookie);
  const init = { status, headers: shown };
  if (isLive(body)) return new Response(streamOf(body, ending), init);
  ending.end();
  if (body === undefined || bodiless.includes(status)) return new Response(null, init);
  if (typeof body === "string") return new Response(body, init);
  if (Buffer.isBuffer(body)) return new Response(new Uint8Array(body), init);
  return new Response([...body.pieces].join(""), init);
}

/** A stream of a live body. It ends with the service, with the signal, or when its reader cancels it. */
function streamOf({ live }: LiveBody, { end, signal }: Ending): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  const parts = live(gone.signal)[Symbol.asyncIterator]();
  const stop = () => {
    gone.abort();
    end();
  };
  return new ReadableStream({
    start: (controller) => {
      const onAbort = () => {
        stop();
        controller.error(signal.reason);
      };
      signal.addEventListener("abort", onAbort);
      gone.signal.addEventListener("abort", () => signal.removeEventListener("abort", onAbort));
    },
    async pull(controller) {
      const { done, value } = await parts.next().catch((error: unknown) => {
        stop();
        throw error;
      });
      if (gone.signal.aborted) return;
      if (done === true) {
        stop();
        controller.close();
      } else controller.enqueue(Buffer.from(value));
    },
    cancel: stop,
  });
}
