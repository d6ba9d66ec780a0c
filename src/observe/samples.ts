/** Turns what was counted and read into the samples of each metric. */
import { about } from "../about.ts";
import type { Histogram } from "../counters.ts";
import type { StoreHealth, StoreStatistics } from "../store/port/store.ts";
import type { MailQueue } from "../users/mail/mail-queue.ts";
import type { Backlog } from "../webhooks/webhooks.ts";
import type { FamilyName } from "./families.ts";
import type { Labelled } from "./meters.ts";
import type { Meters } from "./metrics.ts";

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
  /** `undefined` if the store could not be read in time. Absent in a thread that does not deliver. */
  backlog?: Backlog | undefined;
  /** What this thread knows of people: passwords that wait, and mails since the start. Absent in a service without users. */
  people?: { waiting: number; mails: MailQueue["counts"] };
  /** `undefined` if the store could not be read in time. Absent in a service without users, and in other threads. */
  stateOfPeople?: StateOfPeople | undefined;
  /** Unix time in milliseconds. */
  now: number;
}

/** What the store has of people: sessions, mails that wait, and when the oldest of these was queued. */
export interface StateOfPeople {
  sessions: number;
  waiting: number;
  oldestAt: number | undefined;
}

/** One value. `metricName` is set for the parts of a histogram. */
export interface Sample {
  labels: Readonly<Record<string, string | number>>;
  value: number;
  metricName?: string;
}

/** The states of a store, the worst last. */
export const healthKinds: readonly StoreHealth["kind"][] = ["ok", "degraded", "unreachable", "failed"];

/** The samples of every metric. A metric without samples does not exist for this store, or could not be read. */
export function samplesOf(readings: Readings): Record<FamilyName, readonly Sample[]> {
  const { meters, thread, storeKind, health, isDamaged, statistics, subscribers, backlog, now } = readings;
  const { requests, commits, attempts, lags } = meters;
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
    ...webhookSamples(backlog, now),
    ...peopleSamples(readings),
    holdfast_webhook_attempt_duration_seconds: attempts.all.flatMap(
      histogramSamples("holdfast_webhook_attempt_duration_seconds"),
    ),
    holdfast_metrics_source_up: labelled("source", {
      store: statistics === undefined ? 0 : 1,
      ...("backlog" in readings && { webhooks: backlog === undefined ? 0 : 1 }),
      ...("stateOfPeople" in readings && { users: readings.stateOfPeople === undefined ? 0 : 1 }),
    }),
  };
}

function webhookSamples(backlog: Backlog | undefined, now: number) {
  if (backlog === undefined)
    return {
      holdfast_webhooks: [],
      holdfast_webhook_deliveries: [],
      holdfast_webhook_oldest_pending_age_seconds: [],
    };
  const { enabled, disabled, waiting, retrying, dead, oldestAt = now } = backlog;
  return {
    holdfast_webhooks: labelled("state", { enabled, disabled }),
    holdfast_webhook_deliveries: labelled("state", { waiting, retrying, dead }),
    holdfast_webhook_oldest_pending_age_seconds: [plain(Math.max(0, now - oldestAt) / 1_000)],
  };
}

function peopleSamples({ people, stateOfPeople, meters, now }: Readings) {
  if (people === undefined)
    return {
      holdfast_sign_ins_total: [],
      holdfast_sessions: [],
      holdfast_password_hash_seconds: [],
      holdfast_password_waiting: [],
      holdfast_password_unasked_total: [],
      holdfast_guess_limits_total: [],
      holdfast_mail: [],
      holdfast_mail_oldest_age_seconds: [],
    };
  const { signIns, hashes, refusals, unasked } = meters.people;
  const { sessions, waiting, oldestAt = now } = stateOfPeople ?? {};
  return {
    holdfast_sign_ins_total: [...signIns].flatMap(([method, results]) =>
      labelled("result", results).map(({ labels, value }) => ({ labels: { method, ...labels }, value })),
    ),
    holdfast_sessions: optional(sessions),
    holdfast_password_hash_seconds: alone("holdfast_password_hash_seconds", hashes),
    holdfast_password_waiting: [plain(people.waiting)],
    holdfast_password_unasked_total: [plain(unasked)],
    holdfast_guess_limits_total: labelled("policy", Object.fromEntries(refusals)),
    holdfast_mail: labelled("state", { ...(waiting !== undefined && { waiting }), ...people.mails }),
    holdfast_mail_oldest_age_seconds: stateOfPeople ? [plain(Math.max(0, now - oldestAt) / 1_000)] : [],
  };
}

function countOf(durations: readonly Labelled[]): number {
  return durations.reduce((sum, { histogram }) => histogram.counts.reduce((all, each) => all + each, sum), 0);
}

function plain(value: number): Sample {
  return { labels: {}, value };
}

function optional(value: number | undefined): Sample[] {
  return value === undefined ? [] : [plain(value)];
}

function labelled(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

function alone(name: FamilyName, histogram: Histogram): Sample[] {
  return histogramSamples(name)({ labels: {}, histogram });
}

/** The count of each range and of all smaller ones, the sum and the count, as Prometheus wants them. */
function histogramSamples(name: FamilyName): (each: Labelled) => Sample[] {
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
