/**
 * Consumers of the change log: parts of the program that handle the events of some collections, at least once, and in order for each resource
 * while nothing fails. `engine.ts` runs them in one instance.
 */
import type { Clock } from "../../clock.ts";
import { otherCollections } from "../../store/core/log-plans.ts";
import type { ChangeKind } from "../../store/port/change-log.ts";
import type { Change } from "../../store/port/commit.ts";
import type { HistoryStore, ServingStore, Store } from "../../store/port/store.ts";
import type { CommitWatch } from "../commit-watch.ts";
import type { View } from "../event.ts";
import type { FeedParts } from "../feed.ts";
import type { ConsumerRecords, ConsumerState, DeliveryRecord } from "./consumer-records.ts";

/** The name for every collection. It includes collections that do not exist yet. */
export const everyCollection = otherCollections;

/** One consumer, as it is in one version. */
export interface Consumer {
  /** Its id among all consumers of the store. */
  readonly id: string;
  /** The version of what declares it. The engine starts it again if this changes. */
  readonly version: number;
  /** How the log of the service names it, such as `the webhook 7`. */
  readonly label: string;
  /** The collections whose changes it gets: names, or `everyCollection` alone. */
  readonly collections: readonly string[];
  readonly types: readonly ChangeKind[];
  /** What it sees of a collection; `undefined`: nothing. */
  viewOf(collection: string): View | undefined;
  /** Whether it gets no event of a change, because of the `principal` of the change. @default it gets all */
  skips?(principal: string | undefined): boolean;
}

/** The change of an event, before or after attempts to handle it. */
export type Attempted = Pick<
  DeliveryRecord,
  "consumer" | "event" | "type" | "collection" | "sequence" | "kind" | "attempts"
>;

/** The result of one attempt to handle an event. */
export interface Outcome {
  isDelivered: boolean;
  milliseconds: number;
  /** Why it failed; `null` if it did not, or if the details say it. */
  error: string | null;
  /** Whether no attempt follows a failure. @default false */
  isFinal?: boolean | undefined;
  /** The least time until the next attempt, in milliseconds. @default the usual one */
  retryAfterMs?: number | undefined;
  /** What else is kept of it. */
  details: Details;
}

/** What one kind of consumers keeps of an attempt. */
export type Details = Readonly<Record<string, unknown>>;

/** An event for a consumer. */
export interface Handed {
  event: Attempted;
  body: string;
  /** The `principal` of the change. */
  principal: string | undefined;
  state: ConsumerState | undefined;
  /** Whether the attempt may start: the consumer is still as it knows it. If not, the worker ends, and the event is handed out again later. */
  mayStart(): Promise<boolean>;
  /** Aborted when another instance can hand out the same event. The reason is an Error with a sentence. */
  leaseLost: AbortSignal;
}

/** The feed that consumers read. */
export type ConsumedFeed = FeedParts & { watch: CommitWatch };

/** The consumers of one kind, such as webhooks. */
export interface ConsumerKind<C extends Consumer = Consumer> {
  /** The name of its lease, and the start of its messages. */
  readonly name: string;
  /** The consumers that run. Throws the errors of the store. */
  all(): Promise<readonly C[]>;
  /** Whether a consumer still exists in this version. Throws the errors of the store. */
  isCurrent(consumer: C): Promise<boolean>;
  /** Why a consumer cannot get its events now, in sentences; `undefined` if it can. */
  misfitOf(consumer: C): string | undefined;
  /** Handles an event. `undefined` if the signal was aborted before the result. */
  handle(consumer: C, handed: Handed, stopped: AbortSignal): Promise<Outcome | undefined>;
  /** Why a consumer is disabled after an attempt; `undefined` if it goes on. */
  reasonToDisable(state: ConsumerState, outcome: Outcome, at: number): string | undefined;
  /** The changes that disable it. They come in the commit that says so. */
  disable(consumer: C): readonly Change[];
}

/** Everything that the consumers of one kind depend on. */
export interface ConsumeParts {
  kind: ConsumerKind;
  store: ServingStore & HistoryStore & Pick<Store, "time">;
  records: ConsumerRecords;
  /** Absent if the store keeps no history. */
  feed: ConsumedFeed | undefined;
  clock: Clock;
  /** From 0 to 1. */
  random: () => number;
  /** The names of all collections. */
  collectionNames: () => readonly string[];
  /** Whether the store can be used. */
  isReady: () => boolean;
  /** Whether several instances can use the store at the same time. */
  isShared: boolean;
  newUuid: () => string;
  warn: (message: string) => void;
}

/** The collections that a consumer gets now, by name. */
export function collectionsOf(
  { collections }: Pick<Consumer, "collections">,
  { collectionNames }: Pick<ConsumeParts, "collectionNames">,
): readonly string[] {
  return collections.includes(everyCollection) ? collectionNames() : collections;
}

/** An attempt that failed before it began. */
export function notHandled(error: string): Outcome {
  return { isDelivered: false, milliseconds: 0, error, details: {} };
}
