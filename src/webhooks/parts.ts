/** What the delivery of webhooks depends on. */
import type { CommitWatch } from "../changes/commit-watch.ts";
import type { FeedParts } from "../changes/feed.ts";
import type { HistoryStore, ServingStore } from "../store/port/store.ts";
import type { ConnectionParts } from "./connections.ts";
import type { WebhookRecords } from "./records.ts";
import type { WebhookRules } from "./rules.ts";
import type { AttemptResult, SendParts } from "./send.ts";

/** A clock, which tests replace. */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
  /** Resolves at this time, or when the signal is aborted. */
  until(at: number, signal: AbortSignal): Promise<void>;
}

/** The change that an event is about. */
export interface EventOrigin {
  collection: string;
  sequence: number;
}

/** Makes spans of the requests to receivers. */
export interface DeliveryTracer {
  /** Sends a request in a span. `send` gets the headers that continue the trace. `origin` is absent for test events. */
  deliver(
    request: { url: string; origin: EventOrigin | undefined },
    send: (headers: Record<string, string>) => Promise<AttemptResult | undefined>,
  ): Promise<AttemptResult | undefined>;
}

/** The feed that webhooks read. */
export type WebhookFeed = FeedParts & { watch: CommitWatch };

/** Everything that the webhooks of one service depend on. */
export interface WebhookParts extends WebhookRules, SendParts {
  store: ServingStore & HistoryStore;
  records: WebhookRecords;
  /** Absent if the store keeps no history. */
  feed: WebhookFeed | undefined;
  clock: Clock;
  /** From 0 to 1. */
  random: () => number;
  /** The path of the collections. */
  prefix: string;
  /** The names of all collections, for webhooks with `["*"]`. */
  collectionNames: () => readonly string[];
  /** Whether the store can be used. */
  isReady: () => boolean;
  /** Whether several instances can use the store at the same time. */
  isShared: boolean;
  newUuid: () => string;
  /** Makes a span of each attempt. @default there are no spans */
  tracer?: DeliveryTracer | undefined;
  /** Called with the result of each attempt. @default nothing is counted */
  onAttempt?: ((result: Pick<AttemptResult, "isDelivered" | "milliseconds">) => void) | undefined;
  warn: (message: string) => void;
}

/** What a service gives: the connections are made from `allow` and `resolve`. */
export type WebhookOptions = Omit<WebhookParts, "connections"> & ConnectionParts;

/** The clock of this machine. */
export function systemClock(now: () => number): Clock {
  return {
    now,
    until: (at, signal) =>
      new Promise((resolve) => {
        // A longer timer would fire at once. Callers look at the clock again.
        const timer = setTimeout(end, Math.min(Math.max(0, at - now()), 2 ** 31 - 1));
        function end() {
          clearTimeout(timer);
          signal.removeEventListener("abort", end);
          resolve();
        }
        if (signal.aborted) end();
        else signal.addEventListener("abort", end);
      }),
  };
}
