/** A source of metrics beside the core: what a capability counts, and what it reads when a monitor asks. */
import type { Histogram } from "../counters.ts";

/**
 * How the samples of several threads with the same labels become one: their sum, the largest or the smallest, or the sample of the
 * main thread, because it is about the whole service.
 */
export type Across = "sum" | "max" | "min" | "first";

/** A metric with all its labels. */
export interface Family {
  type: "counter" | "gauge" | "histogram";
  across: Across;
  labels: readonly string[];
  /** One sentence, without the period at its end. */
  help: string;
}

/** One value. `metricName` is set for the parts of a histogram. */
export interface Sample {
  labels: Readonly<Record<string, string | number>>;
  value: number;
  metricName?: string;
}

/** The samples of metrics, by the names of the metrics. */
export type Samples<Name extends string = string> = Readonly<Record<Name, readonly Sample[]>>;

/** The metrics of a capability. */
export interface MetricsSource {
  /** Its name in `holdfast_metrics_source_up`. */
  readonly name: string;
  readonly families: Readonly<Record<string, Family>>;
  /** The samples of what this thread has counted. */
  counted(): Samples;
  /**
   * Reads the store, in the main thread, at most every few seconds and with a time limit. The result makes the samples whenever a monitor asks.
   * They take the place of counted ones with the same names.
   */
  stored?(): Promise<() => Samples>;
}

/** A histogram with the values of its labels. */
export interface Labelled {
  labels: Readonly<Record<string, string>>;
  histogram: Histogram;
}

/** A sample without labels. */
export function plain(value: number): Sample {
  return { labels: {}, value };
}

/** The age of the oldest of something, in seconds; 0 without one. Both times are Unix times in milliseconds. */
export function ageSeconds(oldestAt: number | undefined, now: number): number {
  return Math.max(0, now - (oldestAt ?? now)) / 1_000;
}

/** One sample for each value of a label. */
export function labelled(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

/** The count of each range and of all smaller ones, the sum and the count, as Prometheus wants them. */
export function histogramSamples(name: string): (each: Labelled) => Sample[] {
  return ({ labels, histogram: { bounds, counts, sum } }) => {
    let count = 0;
    const buckets = counts.map((each, n) => {
      count += each;
      return { labels: { ...labels, le: bounds[n] ?? "+Inf" }, value: count, metricName: `${name}_bucket` };
    });
    return [
      ...buckets,
      { labels, value: sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ];
  };
}
