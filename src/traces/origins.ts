/** Remembers which span made each of the latest changes, so that deliveries can link to it. */
import type { SpanContext } from "@opentelemetry/api";
import type { EventOrigin } from "../webhooks/delivery.ts";

/** The most changes that are remembered: some megabytes. */
const maxChanges = 10_000;

/** The spans of changes that this process made. They are in memory only. */
export class Origins {
  /** In the order of the changes. */
  readonly #spans = new Map<string, SpanContext>();

  /** Remembers the span of a change. */
  note(change: EventOrigin, span: SpanContext): void {
    this.#spans.set(keyOf(change), span);
    if (this.#spans.size <= maxChanges) return;
    const [oldest] = this.#spans.keys();
    if (oldest !== undefined) this.#spans.delete(oldest);
  }

  /** The span of a change; `undefined` if it is forgotten, or another process made the change. */
  spanOf(change: EventOrigin): SpanContext | undefined {
    return this.#spans.get(keyOf(change));
  }
}

function keyOf({ collection, sequence }: EventOrigin): string {
  return `${collection}/${sequence}`;
}
