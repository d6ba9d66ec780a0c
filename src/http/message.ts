/** The wire without a framework: what `handle` takes and what it gives. */
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { Principal } from "../access/principal.ts";
import type { Quota } from "./caller/rate-limit.ts";
import type { Coding } from "./negotiation/codings.ts";
import type { Budget } from "./wire/budget.ts";

/** A request whose header section is there and whose content is still unread. */
export interface HttpRequest {
  /** The version of HTTP, such as `1.1`. */
  version: string;
  method: string;
  /** The request target as it was sent. */
  target: string;
  headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent; shows what `headers` has merged. */
  rawHeaders: readonly string[];
  /** The service's own id of this request: a UUID. */
  id: string;
  /** Where it comes from, as the proxies that are trusted have it: the address, and how that reached the first of them. */
  client: { readonly ip: string | undefined; readonly protocol: string };
  /** Who asks; `undefined` for anybody: without a credential, or where nobody is asked for one. */
  principal: Principal | undefined;
  /** The content, unread, and the connection that it comes along. */
  content: Readable & { readonly socket: Socket };
  /** What all requests and answers may hold, and what of it this one's content takes until it is answered. */
  budget: Budget;
  heldBytes: number;
  /** What was left to its caller when it was counted. */
  quota?: Quota;
  /** The whole content, where it was wanted before anything else. */
  received?: Buffer;
  /**
   * Set while the request is the first with its Idempotency-Key: what its answer is kept under, who may be shown the
   * answer, and the commit that keeps it once that is under way.
   */
  keyed?: { key: string; fingerprint: string; shownTo: string; commit?: Promise<unknown> };
  /** Tells a client that waits with `Expect: 100-continue` to send its content. */
  sendContinue?: () => void;
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
