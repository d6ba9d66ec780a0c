/** Reads a request's content from its stream. */
import { Problem } from "../errors.ts";
import type { HttpRequest } from "./message.ts";
import { isBeyond, noRoomForContent } from "./wire/budget.ts";

/** Whether the request has content, or (chunked) may have some. */
export function hasContent(request: Pick<HttpRequest, "headers">): boolean {
  const length = request.headers["content-length"];
  // RFC 9110 §8.6: any number of digits, so that there is more than one way to say zero.
  return (length !== undefined && Number(length) !== 0) || request.headers["transfer-encoding"] !== undefined;
}

/** The problem of content over the limit. The connection closes, since the client may still be sending. */
export function contentTooLarge(maxBytes: number): Problem {
  return new Problem("CONTENT_TOO_LARGE", `The body is larger than the limit of ${maxBytes} bytes.`, {
    headers: { connection: "close" },
  });
}

/**
 * The whole content. Throws CONTENT_TOO_LARGE, BODY_REQUIRED when it is empty, UNAVAILABLE when there is no room for it,
 * and INVALID_REQUEST when the client goes away.
 */
export async function readContent(request: HttpRequest, maxBytes: number): Promise<Buffer> {
  const content = request.received ?? (await receiveContent(request, maxBytes));
  if (content.length === 0) throw bodyRequired();
  return content;
}

/** As `readContent`, for whoever wants the bytes before it matters whether there are any. It can be read again. */
export async function receiveContent(request: HttpRequest, maxBytes: number): Promise<Buffer> {
  if (!hasContent(request)) return noContent;
  request.sendContinue?.();
  request.received = await collect(request, maxBytes);
  return request.received;
}

const noContent = Buffer.alloc(0);

function bodyRequired(): Problem {
  return new Problem("BODY_REQUIRED", "The request body is missing. Send JSON.");
}

function collect(request: HttpRequest, maxBytes: number): Promise<Buffer> {
  const { content, budget } = request;
  if (content.destroyed) return Promise.reject(clientWentAway()); // while it waited for its turn: nothing more comes
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const refuse = (problem: Problem) => {
      content.off("data", onData);
      content.resume(); // what is still coming is thrown away until the connection closes
      reject(problem);
    };
    const onData = (chunk: Buffer) => {
      const bytes = request.heldBytes + chunk.length;
      if (bytes > maxBytes) return refuse(contentTooLarge(maxBytes));
      // The answer to a small patch may be large.
      const size = request.method === "PATCH" ? Number.POSITIVE_INFINITY : bytes;
      if (isBeyond(budget, size, request.heldBytes)) return refuse(noRoomForContent());
      chunks.push(chunk);
      request.heldBytes = bytes;
      budget.held += chunk.length;
    };
    content.on("data", onData);
    const onClose = () => reject(clientWentAway());
    content.once("end", () => {
      content.off("close", onClose);
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    content.once("error", (cause) => reject(clientWentAway(cause)));
    content.once("close", onClose);
  });
}

function clientWentAway(cause?: Error): Problem {
  return new Problem("INVALID_REQUEST", "The connection closed before the body was complete.", { cause });
}
