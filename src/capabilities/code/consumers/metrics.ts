/** The metrics of consumers. */
import type { Family, Samples } from "../../../observe/metrics-source.ts";
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

/** Reads the samples from the store. */
export async function readConsumerSamples(
  consumers: Pick<Consumers, "lags"> | undefined,
): Promise<Samples<keyof typeof consumerFamilies>> {
  const lags = [...((await consumers?.lags()) ?? [])];
  return { holdfast_consumer_lag_seconds: lags.map(([name, value]) => ({ labels: { name }, value })) };
}
