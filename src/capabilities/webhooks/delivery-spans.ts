/** Spans of the requests to receivers of webhooks. Each links to the span of the request that made the change. */
import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { WorkTracing } from "../../observe/origins.ts";
import type { DeliveryTracer } from "./delivery.ts";
import type { AttemptResult } from "./send.ts";

/** Makes a span of each request. It starts a trace, unless an administrator asked for the delivery. */
export function createDeliveryTracer({ tracer, origins }: WorkTracing): DeliveryTracer {
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
