/** The table of the core's own metrics. Capabilities add theirs. The page `docs/reference/metrics.md` and the dashboard are held against it. */
import type { Across, Family } from "./metrics-source.ts";

/**
 * Every metric of the core, by name. Units are seconds and bytes. No label has a value that a client can choose: `route` is a template of
 * the OpenAPI document.
 */
export const families = {
  holdfast_build_info: {
    type: "gauge",
    across: "first",
    labels: ["version", "store"],
    help: "The version of Holdfast, and the kind of the store; always 1",
  },
  holdfast_http_request_duration_seconds: {
    type: "histogram",
    across: "sum",
    labels: ["method", "route", "status"],
    help: "The time from the headers of a request until its response starts",
  },
  holdfast_http_requests_in_progress: {
    type: "gauge",
    across: "first",
    labels: [],
    help: "Requests in progress, without event streams and waiting pages of events",
  },
  holdfast_thread_requests_total: {
    type: "counter",
    across: "sum",
    labels: ["thread"],
    help: "Responses by the thread that made them; 0 is the main thread",
  },
  holdfast_http_held_bytes: {
    type: "gauge",
    across: "first",
    labels: [],
    help: "Memory for request bodies, and for responses that clients have not read yet",
  },
  holdfast_store_state: {
    type: "gauge",
    across: "first",
    labels: ["state"],
    help: "1 for the present state of the store: ok, degraded, unreachable or failed; 0 for the others",
  },
  holdfast_store_damaged: {
    type: "gauge",
    across: "max",
    labels: [],
    help: "1 if some of the stored data is damaged, 0 otherwise",
  },
  holdfast_store_commits_total: {
    type: "counter",
    across: "sum",
    labels: ["result"],
    help: "Commits by result: written, refused (for example because of a version) or failed",
  },
  holdfast_store_transaction_commits: {
    type: "histogram",
    across: "sum",
    labels: [],
    help: "Commits that share one transaction",
  },
  holdfast_store_commit_wait_seconds: {
    type: "histogram",
    across: "sum",
    labels: [],
    help: "The time that commits wait until their transaction starts",
  },
  holdfast_store_flush_seconds: {
    type: "histogram",
    across: "sum",
    labels: [],
    help: "The time of the commit of a transaction, which flushes it to the disk",
  },
  holdfast_store_checkpoint_seconds: {
    type: "histogram",
    across: "sum",
    labels: [],
    help: "The time of a checkpoint, which moves pages from the log of SQLite into the database",
  },
  holdfast_store_size_bytes: {
    type: "gauge",
    across: "first",
    labels: [],
    help: "The size of the SQLite file, or of the whole PostgreSQL database",
  },
  holdfast_store_log_size_bytes: {
    type: "gauge",
    across: "first",
    labels: [],
    help: "The size of the write-ahead log of SQLite",
  },
  holdfast_store_log_waiting_bytes: {
    type: "gauge",
    across: "first",
    labels: [],
    help: "The part of the write-ahead log of SQLite that no checkpoint has moved into the database yet",
  },
  holdfast_store_connections: {
    type: "gauge",
    across: "sum",
    labels: ["pool", "state"],
    help: "Open connections to PostgreSQL, by pool and state (idle or busy)",
  },
  holdfast_store_connections_max: {
    type: "gauge",
    across: "sum",
    labels: ["pool"],
    help: "The most connections that a pool opens",
  },
  holdfast_store_connections_waiting: {
    type: "gauge",
    across: "sum",
    labels: ["pool"],
    help: "Work that waits for a connection of a pool",
  },
  holdfast_feed_subscribers: {
    type: "gauge",
    across: "first",
    labels: [],
    help: "Open event streams, and pages of events that wait",
  },
  holdfast_feed_lag_seconds: {
    type: "gauge",
    across: "max",
    labels: [],
    help: "How long the slowest event stream has had events to send; 0 if all streams are up to date",
  },
  holdfast_metrics_source_up: {
    type: "gauge",
    across: "min",
    labels: ["source"],
    help: "Whether a source of metrics was read in time: store, webhooks, users, code or consumers; its metrics are missing otherwise",
  },
} as const satisfies Record<string, Family>;

/** The name of a metric of the core. */
export type FamilyName = keyof typeof families;

/** The metrics of the process and of Node that are exposed too, as `prom-client` names them. */
export const processMetrics = {
  process_cpu_user_seconds_total: "first",
  process_cpu_system_seconds_total: "first",
  process_cpu_seconds_total: "first",
  process_start_time_seconds: "first",
  process_resident_memory_bytes: "first",
  process_open_fds: "first",
  process_max_fds: "first",
  nodejs_eventloop_lag_seconds: "max",
  nodejs_eventloop_lag_mean_seconds: "max",
  nodejs_eventloop_lag_max_seconds: "max",
  nodejs_eventloop_lag_p50_seconds: "max",
  nodejs_eventloop_lag_p90_seconds: "max",
  nodejs_eventloop_lag_p99_seconds: "max",
  nodejs_heap_size_total_bytes: "sum",
  nodejs_heap_size_used_bytes: "sum",
  nodejs_external_memory_bytes: "sum",
  nodejs_gc_duration_seconds: "sum",
  nodejs_version_info: "first",
} as const satisfies Record<string, Across>;
