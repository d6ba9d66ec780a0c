/** The service: everything that the path of a request depends on. It has no state of single requests. */
import type { Logger } from "pino";
import type { Access } from "../access/access.ts";
import type { Authenticate } from "../access/authenticate.ts";
import type { Tags } from "../access/tags.ts";
import type { CommitWatch } from "../changes/commit-watch.ts";
import type { FeedParts } from "../changes/feed.ts";
import type { Frames } from "../changes/frames.ts";
import type { SharedReads } from "../changes/shared-reads.ts";
import { type Collection, collectionName, openCollection } from "../collection/collection.ts";
import type { KeyedQueue } from "../store/keyed-queue.ts";
import type { Pace } from "../store/pace.ts";
import type { HistoryStore, ServingStore } from "../store/store.ts";
import type { Quotas } from "./limits/rate-limit.ts";
import type { StreamCounts } from "./limits/stream-counts.ts";
import type { HttpSettings } from "./settings.ts";

/** The part of the logger that requests use. */
export type Log = Pick<Logger, "info" | "warn" | "error">;

/** Everything that `handle` depends on. */
export interface Service {
  store: ServingStore & HistoryStore;
  /** The declared collections. */
  collections: ReadonlyMap<string, Collection>;
  /** Whether the first create of a resource creates its collection. */
  openCollections: boolean;
  settings: HttpSettings;
  /** Whether it is part of another application. Then the paths outside the prefix belong to the application. */
  isEmbedded: boolean;
  /** Whether it refuses all writes. */
  readOnly: boolean;
  /** Absent if the service does not ask for credentials. */
  authenticate?: Authenticate | undefined;
  /** Absent without a rate limit. */
  quotas?: Quotas;
  /** The rules of all collections; absent if every caller can do everything. */
  access?: Access | undefined;
  /** Writes to the same resource wait for each other here. */
  writes: KeyedQueue;
  /** The Idempotency-Keys, with all that they belong to, of requests in progress. */
  keysUnderWay: Set<string>;
  /** The feed of changes; absent if the store keeps no history. */
  feed?: Feed;
  /** How many writes start in one turn of the event loop. */
  pace: Pace;
  newUuid: () => string;
  /** Unix time in milliseconds. */
  now: () => number;
  log: Log;
  /** Whether the service is stopping. It is not ready then. */
  isDraining: () => boolean;
  /** Whether the store was reached and fits the configuration. Until then, only health checks work. */
  hasStarted: () => boolean;
  /** Whether the value of a Host header names this service. */
  isOwnHost: (host: string) => boolean;
  /** Makes the texts that callers get instead of secret values. */
  tags: Tags;
  /** Differs between configurations, and so do the ETags of their lists. */
  configurationHash: string;
}

/** What the feed of changes needs. */
export interface Feed extends FeedParts {
  watch: CommitWatch;
  /** The frames of streams, by position and view. */
  frames: SharedReads<Frames>;
  /** The streams and waiting pages of all callers. */
  counts: StreamCounts;
  /** Aborted when the service stops: streams end, and pages no longer wait. */
  stopping: AbortSignal;
}

/** The collection with this name; `undefined` if the service has none. */
export function findCollection(service: Service, name: string): Collection | undefined {
  const declared = service.collections.get(name);
  if (declared !== undefined) return declared;
  return service.openCollections && collectionName.test(name) ? openCollection(name) : undefined;
}
