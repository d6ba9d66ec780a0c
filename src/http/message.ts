/** The wire without a framework: what `handle` takes and what it gives. */
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Content } from "./content.ts";
import type { Coding } from "./negotiation/codings.ts";
import type { Budget } from "./wire/budget.ts";

/** A request whose headers have arrived and whose content is still unread. No step of its path changes it. */
export interface HttpRequest {
  /** The version of HTTP, such as `1.1`. */
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
  /** The memory that all requests and responses can use. */
  readonly budget: Budget;
}

/** An answer. `body` is absent where there is no content; its length is then among the headers if one is due. */
export interface HttpResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string | Buffer | StreamedBody | undefined;
}

/** Content that is made while it is sent, as fast as the client reads it. */
export interface StreamedBody {
  /** Pieces of text; each takes milliseconds to make. */
  pieces: Iterable<string>;
  /** The memory that the content needs until it is sent, in bytes. */
  heldBytes: number;
  /** How the pieces are compressed. @default not at all */
  coding?: Coding;
}

/** Harmless settings for browsers, on every answer. */
export const safetyHeaders = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
} as const;

/** The media type of every resource and list, and of problems unless asked otherwise. */
export const jsonType = "application/json; charset=utf-8";

/** A client may use what it kept after asking whether it still holds. */
export const revalidate = "no-cache";

/** The content of an answer as text. The answer must not be streamed or compressed; that of a write never is. */
export function textOf({ body }: HttpResponse): string | undefined {
  if (typeof body === "object") throw new Error("Streamed or compressed content has no text.");
  return body;
}

/**
 * An answer whose content is made while it is sent. Its length is unknown, and may be left out of HEAD (RFC 9110 §9.3.2),
 * for which the wire leaves out the content.
 */
export function withStream(
  body: StreamedBody,
  { status, headers }: { status: number; headers: Record<string, string> },
): HttpResponse {
  return { status, headers, body };
}

/** HEAD has the headers of GET, its length included (RFC 9110 §8.6), and no content. */
export function withBody(
  request: HttpRequest,
  body: string,
  { status, headers }: { status: number; headers: Record<string, string> },
): HttpResponse {
  headers["content-length"] = String(Buffer.byteLength(body));
  return { status, headers, body: request.method === "HEAD" ? undefined : body };
}
