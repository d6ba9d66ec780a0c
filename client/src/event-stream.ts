/** A stream of events, which connects again if its connection ends. */
import { abortable } from "./abortable.ts";
import { HoldfastError, ProblemError } from "./errors.ts";
import { type Frame, FrameReader } from "./event-frames.ts";
import type { EventAttributes, FeedOptions } from "./event-types.ts";
import { type AnyQuery, toQueryString } from "./list.ts";
import { sleep } from "./retry.ts";
import { withTag } from "./tags.ts";
import type { Answer, Send } from "./transport.ts";

/** The feed of a stream. */
export interface FeedSource {
  readonly send: Send;
  /** The path of the feed. */
  readonly path: string;
  readonly query: AnyQuery & { readonly collection?: string | undefined };
  /** Whether to repeat also the first connection until it succeeds. @default false */
  readonly isPatient?: boolean;
}

/** Events that arrived together. */
export interface EventBatch<E> {
  readonly events: readonly E[];
  /** The position after these events. */
  readonly position: string;
}

const defaultIdleTimeoutMs = 45_000;

/** The wait before the next connection, in milliseconds, until the service sends another one. */
const defaultRetryMs = 3_000;

/** The shortest wait before the next connection, in milliseconds. */
const leastRetryMs = 100;

/**
 * The events of a feed, for `for await`. Throws ProblemError if the service refuses the request, NetworkError if the first
 * connection fails, and the reason of the signal if the signal is aborted. After the first connection, the stream waits until the
 * service can be reached again.
 */
export class EventStream<E extends EventAttributes> implements AsyncIterable<E> {
  readonly #source: FeedSource;
  readonly #options: FeedOptions;
  #since: string;
  #position: string | undefined;
  #retryMs = defaultRetryMs;
  /** Why the log cannot continue from the position. The next event reports it. */
  #gone: string | undefined;

  constructor(source: FeedSource, options: FeedOptions) {
    this.#source = source;
    this.#options = options;
    this.#since = options.since ?? "now";
  }

  /**
   * The position after the last event that the loop received, as a value of `since`. It also advances while no event matches.
   * `undefined` until the first connection.
   */
  get position(): string | undefined {
    return this.#position;
  }

  /** Each event, at least once. A second loop continues after the last event of the first one. */
  [Symbol.asyncIterator](): AsyncGenerator<E, void, undefined> {
    return abortable(this.#options.signal, (signal) => this.#events(signal));
  }

  async *#events(signal: AbortSignal): AsyncGenerator<E, void, undefined> {
    for await (const { events } of this.batches(signal)) {
      for (const event of events) {
        signal.throwIfAborted();
        this.#position = event.position;
        yield event;
      }
    }
  }

  /** The events, in the batches in which they arrive. A batch counts as read when the loop asks for the next one. */
  async *batches(signal: AbortSignal): AsyncGenerator<EventBatch<E>, void, undefined> {
    for (let isPatient = this.#source.isPatient ?? false; ; isPatient = true) {
      yield* this.#connection(signal, isPatient);
      // The wait is random, so that clients that lost their connections together do not return together.
      await sleep(this.#retryMs * (1 + Math.random() / 2), signal);
    }
  }

  /** The events of one connection, until it ends or breaks. */
  async *#connection(
    signal: AbortSignal,
    isPatient: boolean,
  ): AsyncGenerator<EventBatch<E>, void, undefined> {
    const { idleTimeoutMs = defaultIdleTimeoutMs } = this.#options;
    const frames = new FrameReader();
    const reader = await this.#open(signal, isPatient);
    const { onConnection } = this.#options;
    onConnection?.(true);
    try {
      for (;;) {
        const bytes = await readWithin(reader, idleTimeoutMs);
        signal.throwIfAborted();
        if (bytes === undefined) return;
        const { events, position } = this.#toBatch(frames.read(bytes));
        this.#retryMs = Math.max(leastRetryMs, frames.retryMs ?? this.#retryMs);
        if (position === undefined) continue;
        if (events.length > 0) yield { events, position };
        this.#position = position;
      }
    } finally {
      onConnection?.(false);
      void reader.cancel().catch(() => {});
    }
  }

  async #open(signal: AbortSignal, isPatient: boolean): Promise<ByteReader> {
    const { send, path, query } = this.#source;
    const { timeoutMs } = this.#options;
    const last = this.#position === undefined ? {} : { "Last-Event-ID": this.#position };
    try {
      const answer = await send({
        signal,
        ...(timeoutMs !== undefined && { timeoutMs }),
        method: "GET",
        path: `${path}${toQueryString({ ...query, since: this.#since })}`,
        headers: { Accept: "text/event-stream", ...last },
        isRepeatable: true,
        isStream: true,
        isPatient,
      });
      return readerOf(answer);
    } catch (error) {
      const isGone = error instanceof ProblemError && error.status === 410 && this.#gone === undefined;
      if (!isGone) throw error;
      this.#gone = error.message;
      this.#since = "now";
      this.#position = undefined;
      return this.#open(signal, isPatient);
    }
  }

  #toBatch(frames: readonly Frame[]): { events: E[]; position: string | undefined } {
    const events: E[] = [];
    for (const { id, data } of frames) {
      if (this.#gone !== undefined) events.push(resyncEvent(id, this.#gone) as unknown as E);
      this.#gone = undefined;
      if (data !== undefined) events.push(toEvent(JSON.parse(data), id, this.#source.query) as E);
    }
    return { events, position: frames.at(-1)?.id || undefined };
  }
}

type ByteReader = ReadableStreamDefaultReader<Uint8Array>;

function readerOf({ headers, body }: Answer): ByteReader {
  const type = headers.get("content-type") ?? "no Content-Type";
  if (type.startsWith("text/event-stream") && body !== null)
    return (body as ReadableStream<Uint8Array>).getReader();
  throw new HoldfastError(`The response must be a stream of events (text/event-stream), but it is ${type}.`);
}

/** The next bytes; `undefined` if the connection has ended, is broken, or sent nothing for `ms` milliseconds. */
async function readWithin(reader: ByteReader, ms: number): Promise<Uint8Array | undefined> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), ms);
  try {
    return (await reader.read()).value;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** An event in the form in which the service sends it. */
export type SentEvent = Omit<EventAttributes, "position"> & { data?: { id?: unknown }; etag?: string };

/** The event of the client: with its position, and with the ETag on its resource. */
export function toEvent(event: SentEvent, position: string, { fields }: AnyQuery): EventAttributes {
  const { source, data, etag = null } = event;
  const path = `${source.slice(source.lastIndexOf("/"))}/${encodeURIComponent(String(data?.id))}`;
  withTag(data, path, { etag, isWhole: fields === undefined });
  return { ...event, position };
}

function resyncEvent(position: string, reason: string): EventAttributes & { type: string; data: object } {
  return {
    specversion: "1.0",
    id: position,
    source: "/",
    type: "holdfast.resync",
    time: new Date().toISOString(),
    datacontenttype: "application/json",
    position,
    data: { reason },
  };
}
