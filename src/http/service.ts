/** What a request is answered from: the service as the wire sees it. */
import type { Logger } from "pino";
import type { Access } from "../access/access.ts";
import type { Authenticate } from "../access/authenticate.ts";
import { type Collection, collectionName, openCollection } from "../collection/collection.ts";
import type { KeyedQueue } from "../store/keyed-queue.ts";
import type { Pace } from "../store/pace.ts";
import type { Store } from "../store/store.ts";
import type { Quotas } from "./caller/quota.ts";
import type { Tags } from "./caller/tags.ts";
import type { HttpSettings } from "./settings.ts";

/** What is written to the log. */
export type Log = Pick<Logger, "info" | "warn" | "error">;

/** Everything that `handle` depends on. */
export interface Service {
  store: Store;
  /** The declared collections. */
  collections: ReadonlyMap<string, Collection>;
  /** Whether collections that nobody declared spring into being. */
  openCollections: boolean;
  settings: HttpSettings;
  /** Whether it is part of another application. Then the paths outside the prefix belong to the application. */
  isEmbedded: boolean;
  /** Whether it refuses all writes. */
  readOnly: boolean;
  /** Absent where nobody is asked who they are. */
  authenticate?: Authenticate | undefined;
  /** What everybody may still ask for; absent where nobody is limited. */
  quotas?: Quotas;
  /** Who may do what; absent where everybody may everything. */
  access?: Access | undefined;
  /** Writes to one resource wait for each other here. */
  writes: KeyedQueue;
  /** Idempotency-Keys, with what they belong to, whose first request has no answer yet. */
  keysUnderWay: Set<string>;
  /** How many writes one turn of the event loop takes on. */
  pace: Pace;
  newUuid: () => string;
  /** Unix time in milliseconds. */
  now: () => number;
  log: Log;
  /** Whether the service has begun to stop; readiness is off then. */
  isDraining: () => boolean;
  /** Whether the store has been reached and held to the configuration; until then nothing but its health is answered. */
  hasBegun: () => boolean;
  /** Whether a Host field's value names this service. */
  isOwnHost: (host: string) => boolean;
  /** Makes the texts that callers get instead of values that they may not know. */
  tags: Tags;
  /** Tells list ETags of differently configured services apart. */
  configurationHash: string;
}

/** The collection that a path segment names, or `undefined` if the service has none of that name. */
export function findCollection(service: Service, name: string): Collection | undefined {
  const declared = service.collections.get(name);
  if (declared !== undefined) return declared;
  return service.openCollections && collectionName.test(name) ? openCollection(name) : undefined;
}
