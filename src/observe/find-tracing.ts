/** Finds out whether the program has an OpenTelemetry SDK. Without one, nothing of OpenTelemetry is loaded. */
import type { Tracing } from "./tracing.ts";

/** Where every copy of the package `@opentelemetry/api` 1.x keeps what an SDK has registered. */
const registered = Symbol.for("opentelemetry.js.api.1");

/** The traces; `undefined` without an SDK. Call this once, at the start: an SDK that is registered later is not used. */
export async function findTracing(
  storeKind: string,
  warn: (text: string) => void,
): Promise<Tracing | undefined> {
  if (!(registered in globalThis)) return undefined;
  const { createTracing } = await import("./tracing.ts");
  return createTracing(storeKind, warn);
}
