/** The content of a request: receives its bytes within the limits, and parses JSON. It does not know what the JSON means. */
import type { IncomingMessage } from "node:http";
import { Problem } from "../../errors.ts";
import { type InsteadOfArray, parseJson, requireObject } from "../../json/parse.ts";
import type { Ticket } from "../admission/ticket.ts";
import { largeBytes, pauseAfter } from "../admission/turns.ts";
import type { Limits } from "../settings.ts";
import type { Content, HttpRequest } from "./message.ts";

/** The content of bytes that are in memory already and do not count as held. */
export function contentOf(bytes: Buffer): Content {
  return {
    isComplete: true,
    receive: async () => bytes,
    async *chunks() {
      yield bytes;
    },
  };
}

/** The content of a request that has no content. */
export const noContent = contentOf(Buffer.alloc(0));

/** Content that arrives from a connection. */
export class IncomingContent implements Content {
  readonly #stream: IncomingMessage;
  readonly #ticket: Ticket;
  readonly #sendContinue: (() => void) | undefined;
  #received: Promise<Buffer> | undefined;

  /** `sendContinue` tells a client that waits with `Expect: 100-continue` to send the content. */
  constructor(stream: IncomingMessage, ticket: Ticket, sendContinue: (() => void) | undefined) {
    this.#stream = stream;
    this.#ticket = ticket;
    this.#sendContinue = sendContinue;
  }

  get isComplete(): boolean {
    return this.#stream.complete;
  }

  receive(maxBytes: number): Promise<Buffer> {
    const length = Number(this.#stream.headers["content-length"]); // NaN if it is unknown
    this.#received ??= length < largeBytes ? this.#collect(maxBytes) : this.#collectInTurn(length, maxBytes);
    return this.#received;
  }

  async *chunks(maxBytes: number): AsyncGenerator<Buffer> {
    const stream = this.#stream;
    this.#sendContinue?.();
    if (stream.destroyed) throw connectionClosed(); // while the request waited for its turn
    const chunks: AsyncIterator<Buffer> = stream.iterator({ destroyOnReturn: false });
    let bytes = 0;
    const next = async (): Promise<Buffer | undefined> => {
      const { done, value } = await chunks.next().catch((cause: Error) => {
        throw connectionClosed(cause);
      });
      if (done === true) return undefined;
      bytes += value.length;
      if (bytes <= maxBytes) return value;
      stream.resume(); // discards the rest until the connection closes
      throw contentTooLarge(maxBytes);
    };
    let isComplete = false;
    try {
      for (let chunk = await next(); chunk !== undefined; chunk = await next()) yield chunk;
      isComplete = true;
    } finally {
      if (!isComplete && bytes <= maxBytes && !stream.destroyed) while ((await next()) !== undefined);
    }
  }

  /** Before its turn to arrive, a large body is not read: the connection makes the client wait. */
  async #collectInTurn(length: number, maxBytes: number): Promise<Buffer> {
    if (length > 0) await this.#ticket.arrive(Math.min(length, maxBytes));
    const bytes = await this.#collect(maxBytes);
    await this.#ticket.work(bytes.length);
    return bytes;
  }

  #collect(maxBytes: number): Promise<Buffer> {
    const stream = this.#stream;
    this.#sendContinue?.();
    if (stream.destroyed) return Promise.reject(connectionClosed()); // while the request waited for its turn
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const refuse = (problem: unknown) => {
        stream.off("data", onData);
        stream.resume(); // discards the rest until the connection closes
        reject(problem);
      };
      const onData = (chunk: Buffer) => {
        const before = bytes;
        bytes += chunk.length;
        if (bytes > maxBytes) return refuse(contentTooLarge(maxBytes));
        try {
          this.#ticket.addContent(chunk.length);
        } catch (problem) {
          return refuse(problem);
        }
        chunks.push(chunk);
        if (before < largeBytes && bytes >= largeBytes) this.#waitForTurn(maxBytes).catch(refuse);
      };
      stream.on("data", onData);
      const onClose = () => reject(connectionClosed());
      stream.once("end", () => {
        stream.off("close", onClose);
        resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
      });
      stream.once("error", (cause) => reject(connectionClosed(cause)));
      stream.once("close", onClose);
    });
  }

  /** Stops to read a body of unknown length that turns out to be large, until its turn. */
  async #waitForTurn(maxBytes: number): Promise<void> {
    if (this.#ticket.isArriving) return;
    const turn = this.#ticket.arrive(maxBytes);
    if (turn === undefined) return;
    this.#stream.pause();
    await turn;
    this.#stream.resume();
  }
}

/** Whether the request has content, or (chunked) can have some. */
export function hasContent(request: Pick<HttpRequest, "headers">): boolean {
  const length = request.headers["content-length"];
  // RFC 9110 §8.6: any number of digits, so zero has more than one form.
  return (length !== undefined && Number(length) !== 0) || request.headers["transfer-encoding"] !== undefined;
}

/** The problem of content over the limit. The connection closes, because the client may still be sending. */
export function contentTooLarge(maxBytes: number): Problem {
  return new Problem("CONTENT_TOO_LARGE", `The body is larger than the limit of ${maxBytes} bytes.`, {
    headers: { connection: "close" },
  });
}

/** The bytes of the content. Throws BODY_REQUIRED if there are none, and what `Content.receive` throws. */
export async function readContent({ content }: HttpRequest, { bodyBytes }: Limits): Promise<Buffer> {
  const bytes = await content.receive(bodyBytes);
  if (bytes.length === 0) throw new Problem("BODY_REQUIRED", "The request body is missing. Send JSON.");
  return bytes;
}

/** The content as a JSON object. Throws what `readContent`, `parseJson` and `requireObject` throw. */
export async function readObject(
  request: HttpRequest,
  limits: Limits,
  insteadOfArray: InsteadOfArray = "send one resource per request",
): Promise<Record<string, unknown>> {
  const bytes = await readContent(request, limits);
  const object = requireObject(parseJson(bytes, jsonLimits(limits)), { insteadOfArray });
  await pauseAfter(bytes.length);
  return object;
}

/** The limits for `parseJson`. */
export function jsonLimits({ jsonDepth, jsonMembers }: Limits): { depth: number; members: number } {
  return { depth: jsonDepth, members: jsonMembers };
}

function connectionClosed(cause?: Error): Problem {
  return new Problem("INVALID_REQUEST", "The connection closed before the body was complete.", { cause });
}

/** Throws INVALID_PARAMETER if the content of a PUT is only a part (RFC 9110 §14.5): it must not be taken for the whole. */
export function requireWhole({ headers }: HttpRequest): void {
  if (headers["content-range"] === undefined) return;
  throw new Problem(
    "INVALID_PARAMETER",
    "PUT replaces the whole resource and does not accept Content-Range. To change a part, use PATCH.",
    {
      violations: [{ in: "header", name: "Content-Range", code: "contentRange", detail: "leave it out" }],
    },
  );
}
