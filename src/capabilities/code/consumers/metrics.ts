/** The metrics of consumers. */
import type { Family, MetricsSource } from "../../../observe/metrics-source.ts";
import type { Consumers } from "./consumers.ts";

/** Every metric, by name. */
export const consumerFamilies = {
  holdfast_consumer_lag_seconds: {
    type: "gauge",
    across: "first",
    labels: ["name"],
    help: "The age of the oldest change that a consumer has not handled, by its name; 0 without one",
  },
} as const satisfies Record<string, Family>;

/** What a monitor reads of consumers. */
export function metricsOfConsumers(consumers: Pick<Consumers, "lags">): MetricsSource {
  return {
    name: "consumers",
    families: consumerFamilies,
    counted: () => ({ holdfast_consumer_lag_seconds: [] }),
    stored: async () => {
      const lags = [...(await consumers.lags())];
      return () => ({
        holdfast_consumer_lag_seconds: lags.map(([name, value]) => ({ labels: { name }, value })),
      });
    },
  };
}
