/** The metrics of one service: what counts while it runs, and the text that a monitor reads. It is loaded only if metrics are on. */
import { about } from "../about.ts";
import { Lags } from "../changes/lags.ts";
import type { Feed, Metrics } from "../http/service.ts";
import { CommitMeter } from "../store/commit-meter.ts";
import type { Store } from "../store/store.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import { expositionOf, measureProcess } from "./exposition.ts";
import { AttemptDurations, RequestDurations } from "./meters.ts";
import { Recent } from "./recent.ts";

/** What is read when a monitor asks. */
export interface MetricsSources {
  storeKind: string;
  store: Pick<Store, "health" | "statistics">;
  webhooks: Pick<Webhooks, "backlog">;
  /** Absent if the store keeps no history. */
  feed: Pick<Feed, "counts"> | undefined;
  /** Whether the store was reached. */
  hasStarted: () => boolean;
  /** Unix time in milliseconds. */
  now: () => number;
}

/** How old a text can be, in milliseconds. A monitor that asks all the time does not slow the service down. */
const textBounds = { maxAgeMs: 1_000, timeoutMs: 10_000 };

/** The same for what needs a query of the store. A slow store delays no monitor longer than this. */
const queryBounds = { maxAgeMs: 5_000, timeoutMs: 2_000 };

/** What the service counts with. Each member is given to the room that counts. */
export class Meters {
  readonly requests = new RequestDurations();
  readonly commits = new CommitMeter();
  readonly attempts = new AttemptDurations();
  readonly lags = new Lags();

  constructor() {
    measureProcess();
  }
}

/** The metrics of a service that counts with these meters. */
export function createMetrics(meters: Meters, sources: MetricsSources): Metrics {
  const { store, webhooks, feed, hasStarted, now } = sources;
  const statistics = new Recent(() => store.statistics(), queryBounds);
  const backlog = new Recent(() => webhooks.backlog(), queryBounds);
  const text = new Recent(async () => {
    const isReachable = hasStarted();
    const [read, pending] = await Promise.all(
      isReachable ? [statistics.get(), backlog.get()] : [undefined, undefined],
    );
    return expositionOf({
      version: about.version,
      storeKind: sources.storeKind,
      durations: meters.requests.all,
      inProgress: meters.requests.inProgress,
      health: store.health().kind,
      commits: meters.commits,
      statistics: read,
      ...(feed && { feed: { subscribers: feed.counts.count, lagSeconds: meters.lags.longest } }),
      backlog: pending,
      attempts: meters.attempts.all,
      now: now(),
    });
  }, textBounds);
  return {
    exposition: async () => {
      const made = await text.get();
      if (made === undefined)
        throw new Error("The metrics could not be made in time.", { cause: text.failure });
      return made;
    },
  };
}
