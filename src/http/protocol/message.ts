/** Requests and responses, independent of Node's server and of the service. */
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Principal } from "../../access/principal.ts";
import type { Ticket } from "../admission/ticket.ts";

/** A request whose headers have arrived and whose content is still unread. No step of its path changes it. */
export interface HttpRequest {
  /** The version of HTTP, such as `1.1`; empty if the request line is malformed. */
  readonly version: string;
  readonly method: string;
  /** The request target as it was sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent. They show what `headers` has merged. */
  readonly rawHeaders: readonly string[];
  /** The service's own id of this request: a UUID. */
  readonly id: string;
  /** The client's address, and the protocol that it used. Trusted proxies can state both. */
  readonly client: { readonly ip: string | undefined; readonly protocol: string };
  readonly socket: Socket;
  readonly content: Content;
  /** What it holds. */
  readonly ticket: Ticket;
  /** Who sends it, if the service itself does, for code (`inside.ts`). No quota counts it. @default whom its credential identifies */
  readonly sentBy?: {
    readonly principal: Principal | undefined;
    readonly quota: undefined;
    /** In how many requests the code that sends it runs, one inside the other. @default 0 */
    readonly depth?: number | undefined;
  };
}

/** The content of one request. It stays unread until `receive` is called. */
export interface Content {
  /** Whether all bytes have arrived. */
  readonly isComplete: boolean;
  /**
   * All its bytes, the same on every call. A large body waits for its turn. Throws CONTENT_TOO_LARGE, UNAVAILABLE if the
   * service has no memory for it or too many others wait, and INVALID_REQUEST if the connection closes before its end.
   */
  receive(maxBytes: number): Promise<Buffer>;
  /**
   * Its bytes as they arrive, once, instead of `receive`. They do not count as held. Throws CONTENT_TOO_LARGE, and
   * INVALID_REQUEST if the connection closes before their end. A reader that stops early waits until the rest has arrived, so
   * that the client can read the response.
   */
  chunks(maxBytes: number): AsyncIterable<Buffer>;
}

/** A response. Without content, `body` is `undefined`, and `headers` contains the length if HTTP requires one. */
export interface HttpResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string | Buffer | StreamedBody | LiveBody | undefined;
  /** The values of the headers `Set-Cookie`. @default none */
  cookies?: readonly string[];
  /** The template of the route, if requests are metered or traced and the path is known. */
  template?: string;
}

/** A content coding that the body of a response can have. */
export type Coding = "br" | "gzip";

/** A body that is made while it is sent, as fast as the client reads it. */
export interface StreamedBody {
  /** Pieces of text. Each takes milliseconds to make. */
  pieces: Iterable<string>;
  /** The memory that the body needs until it is sent, in bytes. */
  heldBytes: number;
  /** How the pieces are compressed. @default not at all */
  coding?: Coding;
}

/** A body without an end, such as a stream of events. It ends with the connection, or when the service stops. */
export interface LiveBody {
  /** Makes the parts of the body, whenever there is one. The signal is aborted when the connection closes. */
  live: (gone: AbortSignal) => AsyncIterable<string | Buffer>;
  /** Aborted when the service stops. A client that does not read is cut off soon after it. */
  stopping: AbortSignal;
}

/** Whether a body is live. */
export function isLive(body: HttpResponse["body"]): body is LiveBody {
  return typeof body === "object" && "live" in body;
}

/** Safe settings for browsers, on every response. */
export const safetyHeaders = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
} as const;

/** The media type of every resource and list, and of problems unless asked otherwise. */
export const jsonType = "application/json; charset=utf-8";

/** A client can use its stored response after it has asked whether that is still current. */
export const revalidate = "no-cache";

/** No client and no proxy can keep the response. */
export const noStore = "no-store";

/** The body of a response as text. The response must not be streamed or compressed. That to a write never is. */
export function textOf({ body }: HttpResponse): string | undefined {
  if (typeof body === "object") throw new Error("Streamed or compressed content has no text.");
  return body;
}

/** HEAD has the headers of GET, also the length (RFC 9110 §8.6), and no body. */
export function withBody(
  request: HttpRequest,
  body: string | Buffer,
  { status, headers }: { status: number; headers: Record<string, string> },
): HttpResponse {
  headers["content-length"] = String(Buffer.byteLength(body));
  return { status, headers, body: request.method === "HEAD" ? undefined : body };
}

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "QUERY", "OPTIONS"]);

/** A method, or `_OTHER` if the service has no path with it, as OpenTelemetry names such methods. */
export function methodName(method: string): string {
  return methods.has(method) ? method : "_OTHER";
}
