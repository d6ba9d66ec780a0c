/** The content of a request: receives its bytes within the limits, and parses JSON. It does not know what the JSON means. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Problem } from "../../errors.ts";
import { parseJson, requireObject } from "../../json/parse.ts";
import { type Budget, isOverBudget, noMemoryForContent } from "../limits/budget.ts";
import { ByteQueue, largeBytes } from "../limits/byte-queue.ts";
import type { Connected } from "../limits/gone.ts";
import { pauseAfter } from "../limits/turns.ts";
import type { Limits } from "../settings.ts";
import type { Content, HttpRequest } from "./message.ts";

/** The content of bytes that are in memory already and count against no budget. */
export function contentOf(bytes: Buffer): Content {
  return {
    heldBytes: 0,
    receive: async () => bytes,
    async *chunks() {
      yield bytes;
    },
    release: () => undefined,
  };
}

/** The content of a request that has no content. */
export const noContent = contentOf(Buffer.alloc(0));

/**
 * The queues of large bodies. Many can arrive at the same time, because clients can be slow. Few are worked on at the same
 * time, so that small requests run in between. Both count a body until its request has a response.
 */
export interface LargeBodies {
  readonly arriving: ByteQueue<Connected>;
  readonly atWork: ByteQueue<Connected>;
}

/** Makes the queues of large bodies of one thread. Each of `threads` gets a part of the memory for bodies that arrive. */
export function createLargeBodies({ handlerTimeoutMs, bodyBytes }: Limits, threads: number): LargeBodies {
  const both = { what: "large request bodies", unknownBytes: bodyBytes, maxWaitMs: handlerTimeoutMs };
  return {
    arriving: new ByteQueue({ ...both, maxBytes: 50_331_648 / threads, maxWaiting: 500 }),
    // `arriving` already limits how many bodies wait here.
    atWork: new ByteQueue({ ...both, maxBytes: 4_194_304, maxWaiting: Number.POSITIVE_INFINITY }),
  };
}

/** What the bodies of all requests share. */
export interface ContentLimits {
  budget: Budget;
  largeBodies: LargeBodies;
}

/** Content that arrives from a connection. */
export class IncomingContent implements Content, Connected {
  readonly #stream: IncomingMessage;
  readonly #limits: ContentLimits;
  readonly #sendContinue: (() => void) | undefined;
  #received: Promise<Buffer> | undefined;
  #heldBytes = 0;

  /** `sendContinue` tells a client that waits with `Expect: 100-continue` to send the content. */
  constructor(stream: IncomingMessage, limits: ContentLimits, sendContinue: (() => void) | undefined) {
    this.#stream = stream;
    this.#limits = limits;
    this.#sendContinue = sendContinue;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get socket(): Socket {
    return this.#stream.socket;
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

  release(): void {
    const { budget, largeBodies } = this.#limits;
    budget.held -= this.#heldBytes;
    this.#heldBytes = 0;
    largeBodies.arriving.leave(this);
    largeBodies.atWork.leave(this);
  }

  /** Before its turn to arrive, a large body is not read: the connection makes the client wait. */
  async #collectInTurn(length: number, maxBytes: number): Promise<Buffer> {
    const { arriving, atWork } = this.#limits.largeBodies;
    if (length > 0) await arriving.enter(this, () => Math.min(length, maxBytes));
    const bytes = await this.#collect(maxBytes);
    await atWork.enter(this, () => bytes.length);
    return bytes;
  }

  #collect(maxBytes: number): Promise<Buffer> {
    const stream = this.#stream;
    this.#sendContinue?.();
    if (stream.destroyed) return Promise.reject(connectionClosed()); // while the request waited for its turn
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const refuse = (problem: unknown) => {
        stream.off("data", onData);
        stream.resume(); // discards the rest until the connection closes
        reject(problem);
      };
      const onData = (chunk: Buffer) => {
        const before = this.#heldBytes;
        const bytes = before + chunk.length;
        if (bytes > maxBytes) return refuse(contentTooLarge(maxBytes));
        // The response to a small patch can be large.
        const size = stream.method === "PATCH" ? Number.POSITIVE_INFINITY : bytes;
        if (isOverBudget(this.#limits.budget, size, before)) return refuse(noMemoryForContent());
        chunks.push(chunk);
        this.#heldBytes = bytes;
        this.#limits.budget.held += chunk.length;
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
    const { arriving } = this.#limits.largeBodies;
    if (arriving.bytesOf(this) > 0) return;
    const turn = arriving.enter(this, () => maxBytes);
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
export async function readObject(request: HttpRequest, limits: Limits): Promise<Record<string, unknown>> {
  const bytes = await readContent(request, limits);
  const object = requireObject(parseJson(bytes, jsonLimits(limits)), {
    insteadOfArray: 'send one resource per request, or several as a batch to "_batch"',
  });
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
