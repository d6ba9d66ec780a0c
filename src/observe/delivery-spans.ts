/** Spans of the requests to receivers of webhooks. Each links to the span of the request that made the change. */
import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { DeliveryTracer, EventOrigin } from "../webhooks/delivery.ts";
import type { AttemptResult } from "../webhooks/send.ts";

/** Makes a span of each request. It starts a trace, unless an administrator asked for the delivery. */
export function createDeliveryTracer(tracer: Tracer, origins: Origins): DeliveryTracer {
  return {
    async deliver({ url, origin }, send) {
      const link = origin && origins.spanOf(origin);
      const around = trace.getActiveSpan()?.isRecording() ? context.active() : ROOT_CONTEXT;
      const options = {
        kind: SpanKind.CLIENT,
        attributes: attributesOf(url),
        links: link === undefined ? [] : [{ context: link }],
      };
      const span = tracer.startSpan("POST", options, around);
      const inside = trace.setSpan(around, span);
      const headers: Record<string, string> = {};
      propagation.inject(inside, headers);
      try {
        const result = await context.with(inside, () => send(headers));
        if (result !== undefined) note(span, result);
        return result;
      } finally {
        span.end();
      }
    },
  };
}

function note(span: Span, { isDelivered, status }: AttemptResult): void {
  if (status !== null) span.setAttribute("http.response.status_code", status);
  if (isDelivered) return;
  span.setAttribute("error.type", String(status ?? "no_response"));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The path of a receiver can contain a secret, so it is left out. */
function attributesOf(url: string): Attributes {
  const { origin, hostname, port, protocol } = new URL(url);
  return {
    "http.request.method": "POST",
    "url.full": `${origin}/REDACTED`,
    "server.address": hostname,
    "server.port": Number(port || (protocol === "https:" ? 443 : 80)),
  };
}

/** The most changes that are remembered: some megabytes. */
const maxChanges = 10_000;

/** Which span made each of the latest changes of this process, so that deliveries can link to it. It is in memory only. */
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
