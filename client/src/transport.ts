/** Sends requests: adds the credential, applies timeouts and retries, and turns failures into errors. */
import { NetworkError, NotFoundError, ProblemError, TimeoutError } from "./errors.ts";
import {
  askedMs,
  backOffMs,
  defaultRetry,
  type Failure,
  isWorthRetrying,
  mayHaveHappened,
  type RetryOptions,
  sleep,
  waitMs,
} from "./retry.ts";
import type { AuthOptions } from "./session-keeper.ts";

/** The options of a client. */
export interface ClientOptions {
  /** The address of the service with its prefix, such as `http://localhost:3000/api/v1`. */
  readonly baseUrl: string;
  /** An API key or a JSON Web Token, or a function that returns one. The client calls it before every attempt. */
  readonly token?: string | (() => string | Promise<string>);
  /** How the session of a user who has signed in is kept. Its token comes before `token`. */
  readonly auth?: AuthOptions;
  /** The function that sends requests. @default the global `fetch` */
  readonly fetch?: typeof globalThis.fetch;
  /** The time limit for the response to one attempt, in milliseconds. @default 30000 */
  readonly timeoutMs?: number;
  readonly retry?: Partial<RetryOptions>;
}

/** The options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The time limit for the response to one attempt, in milliseconds. @default the time limit of the client */
  readonly timeoutMs?: number;
}

/** An exact body. A stream is sent once: its request is never repeated. */
export type Body = string | Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** A request to send. */
export interface Call extends CallOptions {
  readonly method: string;
  /** The path below the base address, with the query string. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: unknown;
  /** The exact body, instead of `content`. `headers` has its type. */
  readonly body?: Body;
  /** Whether a second effect of the request would do no harm. */
  readonly isRepeatable: boolean;
  /** Whether the body of the response is a stream. The time limit then ends with the headers. */
  readonly isStream?: boolean;
  /** Whether to repeat the request after temporary failures until it succeeds or is aborted. */
  readonly isPatient?: boolean;
}

/** The media type of update operators. */
export const updateType = "application/vnd.holdfast.update+json";

/** A successful response. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON value of the body; `undefined` without a body. For a stream, the `ReadableStream` or null. */
  readonly body: unknown;
  /** The Authorization header of the request. */
  readonly credential: string | undefined;
  /** Whether an earlier attempt may have taken effect, because its response was lost. */
  readonly afterLostAnswer: boolean;
}

export type Send = (call: Call) => Promise<Answer>;

/** Creates the function that sends requests. It throws ProblemError, NetworkError, or the reason of an aborted signal. */
export function createTransport(options: ClientOptions): Send {
  const retry = { ...defaultRetry, ...options.retry };
  return async (call) => {
    let afterLostAnswer = false;
    for (let failures = 1; ; failures++) {
      const tried = await attempt(options, call);
      if (tried.kind === "answer" && tried.status < 400) return { ...tried, afterLostAnswer };
      const wait = waitBefore(tried, call, { failures, retry });
      if (wait === undefined) throw errorOf(tried, afterLostAnswer);
      afterLostAnswer ||= mayHaveHappened(tried);
      await sleep(wait, call.signal);
    }
  };
}

type Tried =
  | (Failure & { kind: "network"; error: NetworkError })
  | (Failure & { kind: "answer" } & Omit<Answer, "afterLostAnswer">);

/** The wait before the next attempt, in milliseconds; `undefined` if no attempt follows. */
function waitBefore(
  tried: Tried,
  { isRepeatable, isPatient = false, body }: Call,
  { failures, retry }: { failures: number; retry: RetryOptions },
): number | undefined {
  if (!isWorthRetrying(tried, isRepeatable) || body instanceof ReadableStream) return undefined;
  const retryAfter = tried.kind === "answer" ? tried.headers.get("retry-after") : null;
  if (isPatient) return askedMs(retryAfter) + backOffMs(failures, retry);
  return failures >= retry.attempts ? undefined : waitMs(failures, retryAfter, retry);
}

function errorOf(tried: Tried, afterLostAnswer: boolean): Error {
  if (tried.kind === "network") return tried.error;
  return new (tried.status === 404 ? NotFoundError : ProblemError)({ ...tried, afterLostAnswer });
}

async function attempt(options: ClientOptions, call: Call): Promise<Tried> {
  call.signal?.throwIfAborted();
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), call.timeoutMs ?? options.timeoutMs ?? 30_000);
  const signal = call.signal === undefined ? timeout.signal : AbortSignal.any([call.signal, timeout.signal]);
  try {
    const headers = await unlessAborted(signal, () => headersOf(options, call));
    if (headers !== undefined) return await exchange(options, call, { headers, signal });
    call.signal?.throwIfAborted();
    throw new TimeoutError(`No token for ${call.method} ${addressOf(options, call)} in time.`);
  } finally {
    clearTimeout(timer);
  }
}

async function exchange(
  options: ClientOptions,
  call: Call,
  { headers, signal }: { headers: Record<string, string>; signal: AbortSignal },
): Promise<Tried> {
  const send = options.fetch ?? globalThis.fetch;
  const content = call.body ?? (call.content === undefined ? undefined : JSON.stringify(call.content));
  const body = content === undefined ? {} : { body: content, duplex: "half" as const }; // a stream needs `duplex`
  try {
    const response = await send(addressOf(options, call), { method: call.method, headers, signal, ...body });
    const { Authorization: credential } = headers;
    if (call.isStream && response.ok) return toStream(response, credential);
    return toAnswer(response, await response.text(), credential);
  } catch (cause) {
    call.signal?.throwIfAborted();
    const what = `${call.method} ${addressOf(options, call)}`;
    const error = signal.aborted
      ? new TimeoutError(`No response to ${what} in time.`, { cause })
      : new NetworkError(`No response to ${what}: ${cause instanceof Error ? cause.message : cause}`, {
          cause,
        });
    return { kind: "network", error };
  }
}

/** The result of some work; `undefined` if the signal is aborted first. */
function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  return Promise.race([work(), aborted]);
}

/** The whole address of a request. */
export function addressOf({ baseUrl }: Pick<ClientOptions, "baseUrl">, { path }: Pick<Call, "path">): string {
  return `${baseUrl.replace(/\/+$/, "")}${path}`;
}

async function headersOf(
  { token }: ClientOptions,
  { content, headers }: Call,
): Promise<Record<string, string>> {
  const bearer = typeof token === "function" ? await token() : token;
  return {
    Accept: "application/json",
    ...(content === undefined ? {} : { "Content-Type": "application/json" }),
    ...(bearer === undefined || bearer === "" ? {} : { Authorization: `Bearer ${bearer}` }),
    ...headers,
  };
}

function toStream({ status, headers, body }: Response, credential: string | undefined): Tried {
  return { kind: "answer", status, headers, body, credential, code: undefined };
}

function toAnswer({ status, headers }: Response, text: string, credential: string | undefined): Tried {
  if (status < 400)
    return {
      kind: "answer",
      status,
      headers,
      body: text === "" ? undefined : JSON.parse(text),
      credential,
      code: undefined,
    };
  const body = parseProblem(text);
  return { kind: "answer", status, headers, body, credential, code: body?.code };
}

/** The problem in a response. A response from a proxy can contain anything. */
function parseProblem(text: string): { code?: string } | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
