/** Sends one event to a receiver. */
import type { ClientRequest, IncomingMessage } from "node:http";
import { about } from "../../about.ts";
import type { Receivers } from "./receivers.ts";

/** How receivers are reached. */
export interface SendParts {
  receivers: Receivers;
  /** The time for one request with its response, in milliseconds. */
  requestMs: number;
  /** Unix time in milliseconds. */
  clock: { now(): number };
}

/** One request to a receiver. */
export interface Delivery {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** The result of one attempt to send an event. */
export interface AttemptResult {
  /** Whether the receiver accepted the event. */
  isDelivered: boolean;
  /** The status; `null` if the receiver did not respond. */
  status: number | null;
  /** Why there is no response, as a sentence. */
  error: string | null;
  milliseconds: number;
  /** The beginning of the body. */
  response: string;
  /** The wait that the receiver asks for, in milliseconds. */
  retryAfterMs: number;
}

/** The most bytes of a response that the service reads. */
const maxRead = 64 * 1024;

/** The most bytes of a response that the service keeps. */
const maxKept = 1024;

/** The most interim responses (1xx) to one request. More of them are a failure. */
const maxInterim = 20;

/** The statuses whose Retry-After counts. */
const busyStatuses: ReadonlySet<number> = new Set([429, 503]);

/**
 * Sends a request. Never throws: a failure is a result too. Does not follow redirects, and uses no proxy. `undefined` if the
 * signal was aborted before the response.
 */
export async function send(
  parts: SendParts,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<AttemptResult | undefined> {
  const start = performance.now();
  const over = AbortSignal.any([signal, AbortSignal.timeout(parts.requestMs)]);
  const timed = (result: Omit<AttemptResult, "milliseconds">): AttemptResult => ({
    ...result,
    milliseconds: Math.round(performance.now() - start),
  });
  try {
    const { message, response } = await exchange(parts, delivery, over);
    const status = message.statusCode ?? 0;
    const { "retry-after": retryAfter } = message.headers;
    return timed({
      isDelivered: status >= 200 && status < 300,
      status,
      error: null,
      response,
      retryAfterMs: busyStatuses.has(status) ? retryAfterOf(retryAfter, parts.clock.now()) : 0,
    });
  } catch (error) {
    if (signal.aborted) return undefined;
    const why = over.aborted
      ? `The receiver did not respond within ${parts.requestMs / 1_000} seconds.`
      : reasonOf(error as NodeJS.ErrnoException);
    return timed(noResponse(why));
  }
}

/** The wait that a Retry-After header asks for (RFC 9110 §10.2.3), in milliseconds; 0 if it is missing or invalid. */
function retryAfterOf(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  if (/^[0-9]{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}

/** The result of an attempt without a response. `error` is a sentence. */
export function noResponse(error: string): AttemptResult {
  return { isDelivered: false, status: null, error, milliseconds: 0, response: "", retryAfterMs: 0 };
}

function reasonOf({ name, code, message }: NodeJS.ErrnoException): string {
  if (name === "NotAllowed") return message;
  return `The receiver could not be reached: ${code ?? message}.`;
}

/** A response with the beginning of its body. */
interface Exchange {
  message: IncomingMessage;
  response: string;
}

/** Sends a request. If the receiver has closed the kept connection, sends it once more on a new connection. */
async function exchange(
  { receivers }: SendParts,
  { url, headers, body }: Delivery,
  signal: AbortSignal,
): Promise<Exchange> {
  const target = new URL(url);
  const content = Buffer.from(body);
  const options = {
    method: "POST",
    signal,
    headers: {
      ...headers,
      "content-type": "application/cloudevents+json",
      "content-length": content.length,
      "user-agent": `Holdfast/${about.version}`,
    },
  };
  try {
    return await answerTo(receivers.request(target, options, false), content, signal);
  } catch (error) {
    if (!(error instanceof ClosedEarly)) throw error;
    return answerTo(receivers.request(target, options, true), content, signal);
  }
}

/** Thrown if a kept connection broke before the response began. */
class ClosedEarly extends Error {}

function answerTo(request: ClientRequest, content: Buffer, signal: AbortSignal): Promise<Exchange> {
  let interim = 0;
  let hasBegun = false;
  const exchanged = new Promise<Exchange>((resolve, reject) => {
    // The listener also handles errors after the response.
    request.on("error", (error: NodeJS.ErrnoException) => {
      const isClosed = error.code === "ECONNRESET" || error.code === "EPIPE";
      reject(request.reusedSocket && !hasBegun && isClosed ? new ClosedEarly() : error);
    });
    request.on("information", () => {
      if (++interim > maxInterim) request.destroy(new Error(`more than ${maxInterim} interim responses`));
    });
    // After a 101, Node emits no error.
    request.once("close", () => {
      if (!hasBegun) reject(new Error("the connection ended without a response"));
    });
    request.once("response", (message) => {
      hasBegun = true;
      readSome(message).then((response) => {
        // A connection can be used again only if both sides have read everything.
        if (!message.complete || !request.writableFinished) request.destroy();
        resolve({ message, response });
      }, reject);
    });
  });
  request.end(content);
  return untilAborted(exchanged, signal); // a request that waits for its connection does not notice the signal
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Reads a response up to the limit, and returns its beginning. */
async function readSome(message: IncomingMessage): Promise<string> {
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    if (bytes < maxKept) kept.push(chunk.subarray(0, maxKept - bytes));
    bytes += chunk.length;
    if (bytes >= maxRead) break;
  }
  return Buffer.concat(kept).toString("utf8").replaceAll("\0", "�");
}
