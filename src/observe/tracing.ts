/** The traces of one service: what makes spans in each room. It is loaded only if an OpenTelemetry SDK is registered. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Tracer, type TracerProvider, trace } from "@opentelemetry/api";
import { about } from "../about.ts";
import type { RequestTracer } from "../http/service.ts";
import type { Store } from "../store/port/store.ts";
import { Origins, type WorkTracing } from "./origins.ts";
import { createRequestTracer } from "./request-spans.ts";
import { tracedStore } from "./store-spans.ts";

/** What makes spans. Each member is given to the room that does the work. */
export interface Tracing {
  requests: RequestTracer;
  /** For work in the background. */
  work: WorkTracing;
  /** The same store, but what requests do in it has spans. */
  storeWithSpans(store: Store): Store;
  /** Sends all spans that have ended. */
  flush(): Promise<void>;
}

/** The name of the instrumentation in its spans. */
const scope = "holdfast";

/** The provider that an SDK has registered. It can be of another copy of the package, so no class identifies it. */
interface Provider extends TracerProvider {
  /** A proxy has this. The result is `undefined` if no SDK has registered a provider. */
  getDelegateTracer?(name: string, version: string): Tracer | undefined;
  getDelegate?(): TracerProvider;
}

/** The providers of the SDK have this. */
interface Flushable extends TracerProvider {
  forceFlush?(): Promise<void>;
}

/** The longest wait for the spans to be sent, in milliseconds. */
const flushMs = 3_000;

/** The traces; `undefined`, with a warning, if the SDK cannot be used. */
export function createTracing(storeKind: string, warn: (text: string) => void): Tracing | undefined {
  const provider: Provider = trace.getTracerProvider();
  const tracer =
    provider.getDelegateTracer === undefined
      ? provider.getTracer(scope, about.version)
      : provider.getDelegateTracer(scope, about.version);
  if (tracer === undefined) {
    warn(
      "OpenTelemetry is loaded, but the service makes no traces. The module that --import loads must register a provider of traces, with version 1.9 or later of @opentelemetry/api.",
    );
    return undefined;
  }
  const origins = new Origins();
  const registered: Flushable = provider.getDelegate?.() ?? provider;
  return {
    requests: createRequestTracer(tracer),
    work: { tracer, origins },
    storeWithSpans: (store) => tracedStore(store, { tracer, origins, storeKind }),
    flush: async () => {
      const over = new AbortController();
      const flushed = registered.forceFlush?.().catch((error: unknown) => warn(`traces: ${error}`));
      await Promise.race([flushed, sleep(flushMs, undefined, { signal: over.signal })]);
      over.abort();
    },
  };
}
