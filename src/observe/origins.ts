/** What makes spans of work in the background, which can link to the span of the request that has caused the work. */
import type { SpanContext, Tracer } from "@opentelemetry/api";
import type { LogPlace } from "../store/port/log-place.ts";

/** The tracer of the service, and the spans to which work can link. */
export interface WorkTracing {
  tracer: Tracer;
  origins: Origins;
}

/** A change, by its place in the log of its collection. */
export interface ChangeOrigin {
  collection: string;
  sequence: LogPlace;
}

/** The most changes that are remembered: some megabytes. */
const maxChanges = 10_000;

/** Which span made each of the latest changes of this process, so that later work can link to it. It is in memory only. */
export class Origins {
  /** In the order of the changes. */
  readonly #spans = new Map<string, SpanContext>();

  /** Remembers the span of a change. */
  note(change: ChangeOrigin, span: SpanContext): void {
    this.#spans.set(keyOf(change), span);
    if (this.#spans.size <= maxChanges) return;
    const [oldest] = this.#spans.keys();
    if (oldest !== undefined) this.#spans.delete(oldest);
  }

  /** The span of a change; `undefined` if it is forgotten, or another process made the change. */
  spanOf(change: ChangeOrigin): SpanContext | undefined {
    return this.#spans.get(keyOf(change));
  }
}

function keyOf({ collection, sequence }: ChangeOrigin): string {
  return `${collection}/${String(sequence)}`;
}
