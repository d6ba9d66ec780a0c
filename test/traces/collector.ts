/** A collector of traces: gets OTLP with JSON over HTTP, as the exporters of OpenTelemetry send it. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** One span. */
export interface CollectedSpan {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  attributes: Readonly<Record<string, string | number>>;
  links: readonly { traceId: string; spanId: string }[];
  /** 2: an error. */
  status: number;
  /** The name of the instrumentation. */
  scope: string;
}

/** The kinds of spans in OTLP. */
export const kinds = { internal: 1, server: 2, client: 3 } as const;

export interface Collector {
  /** Where exporters send to, with the path. */
  url: string;
  spans: CollectedSpan[];
  close(): Promise<void>;
}

interface Otlp {
  resourceSpans: {
    scopeSpans: {
      scope: { name: string };
      spans: (Omit<CollectedSpan, "attributes" | "status" | "links" | "scope"> & {
        attributes?: { key: string; value: Record<string, string | number> }[];
        links?: { traceId: string; spanId: string }[];
        status?: { code?: number };
      })[];
    }[];
  }[];
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return; // the sender has ended the connection
    spans.push(...spansIn(JSON.parse(body) as Otlp));
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    spans,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function spansIn({ resourceSpans }: Otlp): CollectedSpan[] {
  return resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map(({ attributes = [], links = [], status, ...span }) => ({
        ...span,
        scope: scope.name,
        attributes: Object.fromEntries(
          attributes.map(({ key, value }) => {
            const [[kind, given] = ["", ""]] = Object.entries(value);
            return [key, kind === "intValue" ? Number(given) : given];
          }),
        ),
        links: links.map(({ traceId, spanId }) => ({ traceId, spanId })),
        status: status?.code ?? 0,
      })),
    ),
  );
}
