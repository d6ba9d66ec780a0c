/** Writes the metrics in the text format of Prometheus. This is the only file that imports `prom-client`. */
import { AggregatorRegistry, collectDefaultMetrics, type PrometheusContentType, Registry } from "prom-client";
import { families, processMetrics } from "./families.ts";
import { type Readings, samplesOf } from "./samples.ts";

let processRegistry: Registry | undefined;

/** The metrics of this process. They are the same for all services in it. */
function registryOfProcess(): Registry {
  if (processRegistry !== undefined) return processRegistry;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const shown = new Set<string>(processMetrics);
  for (const { name } of registry.getMetricsAsArray())
    if (!shown.has(name)) registry.removeSingleMetric(name);
  processRegistry = registry;
  return registry;
}

/** Starts to measure the process. */
export function measureProcess(): void {
  registryOfProcess();
}

/**
 * The metrics as a text. If several threads serve requests, their metrics are added up here: `aggregate` adds up the samples of
 * counters and histograms with the same labels.
 */
export async function expositionOf(readings: Readings): Promise<{ type: string; text: string }> {
  const samples = samplesOf(readings);
  const own = Object.entries(families).map(([name, { type, help }]) => ({
    name,
    type,
    help: `${help}.`,
    aggregator: "sum",
    values: samples[name as keyof typeof families],
  }));
  const counted = AggregatorRegistry.aggregate<PrometheusContentType>([
    own.filter(({ values }) => values.length > 0),
  ]);
  const registry = Registry.merge([counted, registryOfProcess()]);
  return { type: registry.contentType, text: await registry.metrics() };
}
