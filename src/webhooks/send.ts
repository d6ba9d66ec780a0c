/** Sends one event to a receiver. */
import type { IncomingMessage, RequestOptions } from "node:http";
import { isIP } from "node:net";
import { about } from "../about.ts";
import { type AllowList, allowedAddressOf, hostOf, type Resolve } from "./addresses.ts";
import { retryAfterOf } from "./retries.ts";

// An `import` would load all of the modules at each start.
const { request: httpRequest } = process.getBuiltinModule("node:http");
const { request: httpsRequest } = process.getBuiltinModule("node:https");

/** How receivers are reached. */
export interface SendParts {
  allow: AllowList;
  resolve: Resolve;
  /** The time for one request with its response, in milliseconds. */
  requestMs: number;
  /** Unix time in milliseconds. */
  now: () => number;
}

/** One request to a receiver. */
export interface Delivery {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** What came back. */
export interface Answer {
  /** Whether the receiver accepted the event. */
  isDelivered: boolean;
  /** The status; `undefined` if the receiver did not respond. */
  status: number | undefined;
  /** Why there is no response, as a sentence. */
  error: string | undefined;
  milliseconds: number;
  /** The beginning of the body. */
  response: string;
  /** The wait that the receiver asks for, in milliseconds. */
  retryAfterMs: number;
}

/** The service reads no more of a response, in bytes. */
const maxRead = 64 * 1024;

/** It keeps no more of a response, in bytes. */
const maxKept = 1024;

/** The statuses whose Retry-After counts. */
const busyStatuses: ReadonlySet<number | undefined> = new Set([429, 503]);

/**
 * Sends a request. Never throws: a failure is an answer too. Does not follow redirects, and uses no proxy. `undefined` if the
 * signal was aborted before the response.
 */
export async function send(
  parts: SendParts,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const start = performance.now();
  const over = AbortSignal.any([signal, AbortSignal.timeout(parts.requestMs)]);
  const answered = (answer: Omit<Answer, "milliseconds">): Answer => ({
    ...answer,
    milliseconds: Math.round(performance.now() - start),
  });
  try {
    const { message, response } = await exchange(parts, delivery, over);
    const status = message.statusCode ?? 0;
    const { "retry-after": retryAfter } = message.headers;
    return answered({
      isDelivered: status >= 200 && status < 300,
      status,
      error: undefined,
      response,
      retryAfterMs: busyStatuses.has(status) ? retryAfterOf(retryAfter, parts.now()) : 0,
    });
  } catch (error) {
    if (signal.aborted) return undefined;
    const why = over.aborted
      ? `The receiver did not respond within ${parts.requestMs / 1_000} seconds.`
      : reasonOf(error as NodeJS.ErrnoException);
    return answered({ isDelivered: false, status: undefined, error: why, response: "", retryAfterMs: 0 });
  }
}

function reasonOf({ name, code, message }: NodeJS.ErrnoException): string {
  if (name === "NotAllowed") return message;
  return `The receiver could not be reached: ${code ?? message}.`;
}

async function exchange(
  parts: SendParts,
  { url, headers, body }: Delivery,
  signal: AbortSignal,
): Promise<{ message: IncomingMessage; response: string }> {
  const target = new URL(url);
  const address = await untilAborted(allowedAddressOf(target, parts), signal);
  const content = Buffer.from(body);
  const options: RequestOptions = {
    method: "POST",
    agent: false, // no proxy of the environment, and no connection that others use
    signal,
    // The connection goes to the address that was checked, even if the name has another one by now.
    lookup: (_host, { all }, done) => {
      const family = isIP(address);
      if (all === true) done(null, [{ address, family }]);
      else done(null, address, family);
    },
    headers: {
      ...headers,
      "content-type": "application/cloudevents+json",
      "content-length": content.length,
      "user-agent": `Holdfast/${about.version}`,
    },
  };
  return new Promise((resolve, reject) => {
    const secure = target.protocol === "https:";
    const request = secure
      ? httpsRequest(target, {
          ...options,
          servername: isIP(hostOf(target.hostname)) === 0 ? target.hostname : "",
        })
      : httpRequest(target, options);
    request.once("error", reject);
    request.once("response", (message) => {
      readSome(message).then((response) => {
        request.destroy();
        resolve({ message, response });
      }, reject);
    });
    request.end(content);
  });
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
