/** Sends requests: credentials, time-outs, retries, and errors for what is no success. */
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

/** How the service is reached. */
export interface ClientOptions {
  /** The address that the collections live under, such as `http://localhost:3000/api/v1`. */
  readonly baseUrl: string;
  /** An API key or a JSON Web Token; or what gives one, which is asked before every try. */
  readonly token?: string | (() => string | Promise<string>);
  /** What sends requests. @default the global `fetch` */
  readonly fetch?: typeof globalThis.fetch;
  /** Until the answer to one try must be there, in milliseconds. @default 30000 */
  readonly timeoutMs?: number;
  readonly retry?: Partial<RetryOptions>;
}

/** What each call may say. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Until the answer to one try must be there, in milliseconds. @default that of the client */
  readonly timeoutMs?: number;
}

/** A request, and whether a second effect of it would be harmless. */
export interface Call extends CallOptions {
  readonly method: string;
  /** Below the base address, with the query string. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: unknown;
  readonly isRepeatable: boolean;
  /** The body of the response is a stream. The time-out ends with its headers. */
  readonly isStream?: boolean;
  /** Failures that can pass do not end the call: it is tried until it succeeds or is aborted. */
  readonly isPatient?: boolean;
}

/** A success. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** What its JSON says; `undefined` without content. For a stream, the `ReadableStream`, or null. */
  readonly body: unknown;
  /** Whether an earlier try, whose answer was lost, may have taken effect. */
  readonly afterLostAnswer: boolean;
}

export type Send = (call: Call) => Promise<Answer>;

/** What sends; it throws ProblemError, NetworkError, or the reason of the signal that was aborted. */
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

/** `undefined` where it is not to be sent again. */
function waitBefore(
  tried: Tried,
  { isRepeatable, isPatient = false }: Call,
  { failures, retry }: { failures: number; retry: RetryOptions },
): number | undefined {
  if (!isWorthRetrying(tried, isRepeatable)) return undefined;
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
  const send = options.fetch ?? globalThis.fetch;
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), call.timeoutMs ?? options.timeoutMs ?? 30_000);
  const signal = call.signal === undefined ? timeout.signal : AbortSignal.any([call.signal, timeout.signal]);
  const headers = await headersOf(options, call);
  const body = call.content === undefined ? {} : { body: JSON.stringify(call.content) };
  try {
    const response = await send(addressOf(options, call), { method: call.method, headers, signal, ...body });
    if (call.isStream && response.ok) return toStream(response);
    return toAnswer(response, await response.text());
  } catch (cause) {
    call.signal?.throwIfAborted();
    const what = `${call.method} ${addressOf(options, call)}`;
    const error = timeout.signal.aborted
      ? new TimeoutError(`No response to ${what} in time.`, { cause })
      : new NetworkError(`No response to ${what}: ${cause instanceof Error ? cause.message : cause}`, {
          cause,
        });
    return { kind: "network", error };
  } finally {
    clearTimeout(timer);
  }
}

function addressOf({ baseUrl }: ClientOptions, { path }: Call): string {
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

function toStream({ status, headers, body }: Response): Tried {
  return { kind: "answer", status, headers, body, code: undefined };
}

function toAnswer({ status, headers }: Response, text: string): Tried {
  if (status < 400)
    return {
      kind: "answer",
      status,
      headers,
      body: text === "" ? undefined : JSON.parse(text),
      code: undefined,
    };
  const body = parseProblem(text);
  return { kind: "answer", status, headers, body, code: body?.code };
}

/** What a proxy answers may be anything. */
function parseProblem(text: string): { code?: string } | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
