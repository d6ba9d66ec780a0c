/** Turns what was counted and read into the samples of each metric. */
import { about } from "../about.ts";
import type { Histogram } from "../counters.ts";
import type { StoreHealth, StoreStatistics } from "../store/port/store.ts";
import type { FamilyName } from "./families.ts";
import type { Meters } from "./metrics.ts";
import {
  histogramSamples,
  type Labelled,
  labelled,
  type MetricsSource,
  plain,
  type Sample,
  type Samples,
} from "./metrics-source.ts";

/** Everything that the metrics are made of. With several threads, these are the readings of one of them. */
export interface Readings {
  /** The number of the thread; 0 is the main thread. */
  thread: number;
  storeKind: string;
  meters: Meters;
  health: StoreHealth["kind"];
  /** Whether damage to the stored data is known. */
  isDamaged: boolean;
  /** `undefined` if the store could not be read in time. */
  statistics: StoreStatistics | undefined;
  /** Absent if the store keeps no history. */
  subscribers?: number;
  /** Of each capability with metrics. */
  added: readonly ReadSource[];
}

/** What a monitor gets of a capability. */
export interface ReadSource extends Pick<MetricsSource, "name" | "families" | "counted"> {
  /** `undefined` if the store could not be read in time. Absent if nothing was read, as in other threads. */
  stored?: (() => Samples) | undefined;
}

/** The states of a store, the worst last. */
export const healthKinds: readonly StoreHealth["kind"][] = ["ok", "degraded", "unreachable", "failed"];

/** The samples of every metric. A metric without samples does not exist for this store, or could not be read. */
export function samplesOf(readings: Readings): Samples<FamilyName> & Samples {
  const { meters, thread, storeKind, health, isDamaged, statistics, subscribers, added } = readings;
  const { requests, commits, lags } = meters;
  const { inProgress } = requests;
  const { logBytes, logWaitingBytes, pools = {} } = statistics ?? {};
  const byPool = Object.entries(pools);
  const isSqlite = storeKind === "sqlite";
  return {
    holdfast_build_info: [{ labels: { version: about.version, store: storeKind }, value: 1 }],
    holdfast_http_request_duration_seconds: requests.all.flatMap(
      histogramSamples("holdfast_http_request_duration_seconds"),
    ),
    holdfast_http_requests_in_progress: [plain(inProgress.requests)],
    holdfast_thread_requests_total: [{ labels: { thread: String(thread) }, value: countOf(requests.all) }],
    holdfast_http_held_bytes: [plain(inProgress.held)],
    holdfast_store_state: healthKinds.map((state) => ({
      labels: { state },
      value: state === health ? 1 : 0,
    })),
    holdfast_store_damaged: [plain(Number(isDamaged))],
    holdfast_store_commits_total: labelled("result", commits.results),
    holdfast_store_transaction_commits: alone("holdfast_store_transaction_commits", commits.groups),
    holdfast_store_commit_wait_seconds: alone("holdfast_store_commit_wait_seconds", commits.waits),
    holdfast_store_flush_seconds: alone("holdfast_store_flush_seconds", commits.flushes),
    holdfast_store_checkpoint_seconds: isSqlite
      ? alone("holdfast_store_checkpoint_seconds", commits.checkpoints)
      : [],
    holdfast_store_size_bytes: optional(statistics?.bytes),
    holdfast_store_log_size_bytes: optional(logBytes),
    holdfast_store_log_waiting_bytes: optional(logWaitingBytes),
    holdfast_store_connections: byPool.flatMap(([pool, { open, idle }]) => [
      { labels: { pool, state: "idle" }, value: idle },
      { labels: { pool, state: "busy" }, value: open - idle },
    ]),
    holdfast_store_connections_max: byPool.map(([pool, { max }]) => ({ labels: { pool }, value: max })),
    holdfast_store_connections_waiting: byPool.map(([pool, { waiting }]) => ({
      labels: { pool },
      value: waiting,
    })),
    holdfast_feed_subscribers: optional(subscribers),
    holdfast_feed_lag_seconds: optional(subscribers === undefined ? undefined : lags.longest),
    ...Object.assign({}, ...added.map(({ counted, stored }) => ({ ...counted(), ...stored?.() }))),
    holdfast_metrics_source_up: labelled("source", {
      store: statistics === undefined ? 0 : 1,
      ...Object.fromEntries(
        added.flatMap((each) => ("stored" in each ? [[each.name, each.stored === undefined ? 0 : 1]] : [])),
      ),
    }),
  };
}

function countOf(durations: readonly Labelled[]): number {
  return durations.reduce((sum, { histogram }) => histogram.counts.reduce((all, each) => all + each, sum), 0);
}

function optional(value: number | undefined): Sample[] {
  return value === undefined ? [] : [plain(value)];
}

function alone(name: FamilyName, histogram: Histogram): Sample[] {
  return histogramSamples(name)({ labels: {}, histogram });
}
