/** Writes the metrics in the text format of Prometheus. This is the only file that imports `prom-client`. */
import { AggregatorRegistry, collectDefaultMetrics, type PrometheusContentType, Registry } from "prom-client";
import type { StoreHealth } from "../store/port/store.ts";
import { families, processMetrics } from "./families.ts";
import type { Family } from "./metrics-source.ts";
import { healthKinds, type Readings, samplesOf } from "./samples.ts";

let threadRegistry: Registry | undefined;

/** The metrics of Node in this thread, and of the process. They are the same for all services in the thread. */
function registryOfThread(): Registry {
  if (threadRegistry !== undefined) return threadRegistry;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray())
    if (!Object.hasOwn(processMetrics, name)) registry.removeSingleMetric(name);
  threadRegistry = registry;
  return registry;
}

/** Starts to measure this thread and the process. */
export function measureProcess(): void {
  registryOfThread();
}

/** The metrics of one thread, as data that threads can send. */
export interface ThreadMetrics {
  health: StoreHealth["kind"];
  /** Each metric with its samples, as `prom-client` adds it to those of other threads. */
  metrics: object[];
}

/** The metrics of this thread, for the text of all threads. */
export async function metricsOfThread(readings: Readings): Promise<ThreadMetrics> {
  const samples = samplesOf(readings);
  const added = readings.added.flatMap((each) => Object.entries(each.families));
  const own = [...Object.entries<Family>(families), ...added].map(([name, { type, across, help }]) => ({
    name,
    type,
    help: `${help}.`,
    aggregator: across,
    values: samples[name] ?? [],
  }));
  const ofNode = await registryOfThread().getMetricsAsJSON();
  return {
    health: readings.health,
    metrics: [
      ...own.filter(({ values }) => values.length > 0),
      ...ofNode.map((metric) => ({
        ...metric,
        aggregator: processMetrics[metric.name as keyof typeof processMetrics],
      })),
    ],
  };
}

/** The metrics of all threads as a text. The readings are those of the main thread. */
export async function expositionOf(
  readings: Readings,
  others: readonly ThreadMetrics[],
): Promise<{ type: string; text: string }> {
  const kinds = [readings.health, ...others.map(({ health }) => health)];
  const health = healthKinds.findLast((kind) => kinds.includes(kind)) ?? readings.health;
  const { metrics } = await metricsOfThread({ ...readings, health });
  const registry = AggregatorRegistry.aggregate<PrometheusContentType>([
    metrics,
    ...others.map((other) => other.metrics),
  ]);
  return { type: registry.contentType, text: await registry.metrics() };
}
