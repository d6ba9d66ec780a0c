/** The SDK of OpenTelemetry with a real exporter, which sends the spans of this process to a collector. */
import { after } from "node:test";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { until } from "../until.ts";
import { type CollectedSpan, startCollector } from "./collector.ts";

/** The spans of this process. */
export interface Tracing {
  /** All spans that were collected. */
  spans: readonly CollectedSpan[];
  /** Sends the spans that have ended. */
  flush(): Promise<void>;
  /** Waits for a span that the service made. */
  spanOf(isIt: (span: CollectedSpan) => boolean): Promise<CollectedSpan>;
}

/** Starts traces for all tests of a file. */
export async function startTracing(): Promise<Tracing> {
  const collector = await startCollector();
  const exporter = new OTLPTraceExporter({ url: collector.url });
  const provider = new NodeTracerProvider({
    spanProcessors: [new BatchSpanProcessor(exporter, { maxQueueSize: 10_000 })],
  });
  provider.register();
  after(async () => {
    await provider.shutdown();
    await collector.close();
  });
  const { spans } = collector;
  return {
    spans,
    flush: () => provider.forceFlush(),
    async spanOf(isIt) {
      const find = () => spans.find((span) => span.scope === "holdfast" && isIt(span));
      await until("the span is collected", async () => {
        await provider.forceFlush();
        return find() !== undefined;
      });
      return find() as CollectedSpan;
    },
  };
}
