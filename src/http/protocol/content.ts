/** The content of a request: receives its bytes within the limits, and parses JSON. It does not know what the JSON means. */
import type { IncomingMessage } from "node:http";
import { Problem } from "../../errors.ts";
import { parseJson, requireObject } from "../../json/parse.ts";
import { type Budget, isOverBudget, noMemoryForContent } from "../limits/budget.ts";
import { pauseAfter } from "../limits/turns.ts";
import type { Limits } from "../settings.ts";
import type { Content, HttpRequest } from "./message.ts";

/** The content of bytes that are in memory already and count against no budget. */
export function contentOf(bytes: Buffer): Content {
  return { heldBytes: 0, receive: async () => bytes };
}

/** The content of a request without any. */
export const noContent = contentOf(Buffer.alloc(0));

/** Content that arrives from a connection. */
export class IncomingContent implements Content {
  readonly #stream: IncomingMessage;
  readonly #budget: Budget;
  readonly #sendContinue: (() => void) | undefined;
  #received: Promise<Buffer> | undefined;
  #heldBytes = 0;

  /** `sendContinue` tells a client that waits with `Expect: 100-continue` to send the content. */
  constructor(stream: IncomingMessage, budget: Budget, sendContinue: (() => void) | undefined) {
    this.#stream = stream;
    this.#budget = budget;
    this.#sendContinue = sendContinue;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  receive(maxBytes: number): Promise<Buffer> {
    this.#received ??= this.#collect(maxBytes);
    return this.#received;
  }

  #collect(maxBytes: number): Promise<Buffer> {
    const stream = this.#stream;
    this.#sendContinue?.();
    if (stream.destroyed) return Promise.reject(connectionClosed()); // while the request waited for its turn
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const refuse = (problem: Problem) => {
        stream.off("data", onData);
        stream.resume(); // discards the rest until the connection closes
        reject(problem);
      };
      const onData = (chunk: Buffer) => {
        const bytes = this.#heldBytes + chunk.length;
        if (bytes > maxBytes) return refuse(contentTooLarge(maxBytes));
        // The response to a small patch can be large.
        const size = stream.method === "PATCH" ? Number.POSITIVE_INFINITY : bytes;
        if (isOverBudget(this.#budget, size, this.#heldBytes)) return refuse(noMemoryForContent());
        chunks.push(chunk);
        this.#heldBytes = bytes;
        this.#budget.held += chunk.length;
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

/** The content as a JSON object. Throws what `readContent` throws, the problems of the JSON gate and BODY_NOT_OBJECT. */
export async function readObject(request: HttpRequest, limits: Limits): Promise<Record<string, unknown>> {
  const bytes = await readContent(request, limits);
  const object = requireObject(parseJson(bytes, jsonLimits(limits)), {
    insteadOfArray: 'send one resource per request, or several as a batch to "_batch"',
  });
  await pauseAfter(bytes.length);
  return object;
}

/** The limits of the JSON gate. */
export function jsonLimits({ jsonDepth, jsonMembers }: Limits): { depth: number; members: number } {
  return { depth: jsonDepth, members: jsonMembers };
}

function connectionClosed(cause?: Error): Problem {
  return new Problem("INVALID_REQUEST", "The connection closed before the body was complete.", { cause });
}
