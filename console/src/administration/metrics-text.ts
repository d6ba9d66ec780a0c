/** Reads the text format of Prometheus, and computes the figures of the health page from it. */

/** One series: its labels and its value. */
interface Series {
  labels: Readonly<Record<string, string>>;
  value: number;
}

export type Metrics = ReadonlyMap<string, readonly Series[]>;

const line = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const label = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Reads the text. Lines that are no series are left out. */
export function readMetrics(text: string): Metrics {
  const all = new Map<string, Series[]>();
  for (const each of text.split("\n")) {
    const [, name, inner = "", value] = (each.startsWith("#") ? null : line.exec(each)) ?? [];
    if (name === undefined || value === undefined) continue;
    const labels = Object.fromEntries(
      Array.from(inner.matchAll(label), ([, key = "", content = ""]) => [key, unescaped(content)]),
    );
    const series = all.get(name) ?? [];
    series.push({ labels, value: numberOf(value) });
    all.set(name, series);
  }
  return all;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, each: string) => (each === "n" ? "\n" : each));
}

function numberOf(text: string): number {
  return Number(text.replace(/^\+?Inf$/, "Infinity").replace(/^-Inf$/, "-Infinity"));
}

/** The sum of the series with these labels; `undefined` if the metric is missing. */
export function sumOf(
  metrics: Metrics,
  name: string,
  matches: (labels: Readonly<Record<string, string>>) => boolean = () => true,
): number | undefined {
  const found = metrics.get(name);
  return found?.filter(({ labels }) => matches(labels)).reduce((sum, { value }) => sum + value, 0);
}

/** The figures of a moment. A figure is `undefined` if the service does not have it, or if it needs a second sample. */
export type Figures = ReturnType<typeof figuresOf>;

export interface Sample {
  /** Milliseconds of a clock that never goes back. */
  time: number;
  metrics: Metrics;
}

const requestSeconds = "holdfast_http_request_duration_seconds";
const metricsRoute = "/metrics";

/** The figures of a sample. Rates are those since the sample before it. */
export function figuresOf(now: Sample, before: Sample | undefined) {
  const { metrics } = now;
  const rate = (matches: (status: number) => boolean) => rateOf(now, before, matches);
  const backlog = (state: string) =>
    sumOf(metrics, "holdfast_webhook_deliveries", (labels) => labels.state === state);
  const loop = sumOf(metrics, "nodejs_eventloop_lag_mean_seconds");
  return {
    requests: rate(() => true),
    errors: rate((status) => status >= 500),
    refused: rate((status) => status >= 400 && status < 500),
    /** The time in which 95 % of the requests were answered, in milliseconds. */
    slow: slowOf(now, before),
    running: sumOf(metrics, "holdfast_http_requests_in_progress"),
    size: sumOf(metrics, "holdfast_store_size_bytes"),
    log: sumOf(metrics, "holdfast_store_log_size_bytes"),
    streams: sumOf(metrics, "holdfast_feed_subscribers"),
    lag: sumOf(metrics, "holdfast_feed_lag_seconds"),
    waiting: backlog("waiting"),
    retrying: backlog("retrying"),
    dead: backlog("dead"),
    memory: sumOf(metrics, "process_resident_memory_bytes"),
    /** The mean delay of the event loop, in milliseconds. */
    loop: loop === undefined || Number.isNaN(loop) ? undefined : loop * 1_000,
  };
}

/** The requests since the sample before, except those of this page itself for the metrics. */
function isCounted({ route }: Readonly<Record<string, string>>): boolean {
  return route !== metricsRoute;
}

function rateOf(now: Sample, before: Sample | undefined, matches: (status: number) => boolean) {
  if (before === undefined || now.time <= before.time) return undefined;
  const count = ({ metrics }: Sample) =>
    sumOf(
      metrics,
      `${requestSeconds}_count`,
      (labels) => isCounted(labels) && matches(Number(labels.status)),
    ) ?? 0;
  const more = count(now) - count(before);
  // After a restart, the counters start again at zero.
  return more < 0 ? undefined : (more * 1_000) / (now.time - before.time);
}

/** The upper end of the range that has the 95th percentile. */
function slowOf(now: Sample, before: Sample | undefined): number | undefined {
  if (before === undefined) return undefined;
  const after = bucketsOf(now);
  const earlier = bucketsOf(before);
  const more = [...after].map(([le, count]) => [le, count - (earlier.get(le) ?? 0)] as const);
  more.sort(([a], [b]) => a - b);
  const total = more.at(-1)?.[1] ?? 0;
  if (total <= 0) return undefined;
  const found = more.find(([, count]) => count >= total * 0.95)?.[0];
  return found === undefined || found === Number.POSITIVE_INFINITY ? undefined : found * 1_000;
}

function bucketsOf({ metrics }: Sample): Map<number, number> {
  const sums = new Map<number, number>();
  for (const { labels, value } of metrics.get(`${requestSeconds}_bucket`) ?? []) {
    if (!isCounted(labels)) continue;
    const le = numberOf(labels.le ?? "");
    sums.set(le, (sums.get(le) ?? 0) + value);
  }
  return sums;
}

/** The path of a line through values, in a box. Missing values leave a gap. */
export function sparkPath(
  values: readonly (number | undefined)[],
  { width, height, most }: { width: number; height: number; most: number },
): string {
  const known = values.filter((each) => each !== undefined);
  const top = Math.max(...known, 0);
  const scale = top === 0 ? 0 : (height - 2) / top;
  const step = width / Math.max(1, most - 1);
  const start = width - (values.length - 1) * step;
  let isDrawing = false;
  return values
    .map((value, n) => {
      if (value === undefined) {
        isDrawing = false;
        return "";
      }
      const command = isDrawing ? "L" : "M";
      isDrawing = true;
      return `${command}${(start + n * step).toFixed(1)} ${(height - 1 - value * scale).toFixed(1)}`;
    })
    .join("");
}
