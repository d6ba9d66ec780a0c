/** The service: everything that the path of a request depends on. It has no state of single requests. */

import type { Logger } from "pino";
import type { Access } from "../access/access.ts";
import type { Action } from "../access/access-declaration.ts";
import type { Authenticate, Authenticator } from "../access/authenticate.ts";
import type { FirstKey } from "../access/first-key.ts";
import type { Principal } from "../access/principal.ts";
import type { Tags } from "../access/tags.ts";
import type { CommitWatch } from "../changes/commit-watch.ts";
import type { FeedParts, Frames } from "../changes/feed.ts";
import type { Lags } from "../changes/lags.ts";
import type { SharedReads } from "../changes/shared-reads.ts";
import { type Collection, collectionName, openCollection } from "../collection/collection.ts";
import type { WriteHooks } from "../collection/write-hooks.ts";
import type { Expired } from "../expiry/expired.ts";
import type { KeyedQueue } from "../store/core/keyed-queue.ts";
import type { TurnBudget } from "../store/core/turn-budget.ts";
import type { KeptReceipt } from "../store/port/commit.ts";
import type { Keys } from "../store/port/keys.ts";
import type { HistoryStore, ServingStore, StoreAdministration } from "../store/port/store.ts";
import type { Stored } from "../store/port/stored.ts";
import type { Tasks } from "../tasks/task-loop.ts";
import type { Counts } from "./admission/counts.ts";
import type { Counting } from "./admission/exact-counts.ts";
import type { JoinCommit, Participant } from "./participant.ts";
import type { HttpRequest } from "./protocol/message.ts";
import type { HttpSettings } from "./settings.ts";

/** The part of the logger that requests use. */
export type Log = Pick<Logger, "info" | "warn" | "error">;

/** The state of a resource that a commit in progress makes. */
export interface Pending {
  state: Stored;
  /** Whether the commit succeeds. The promise never rejects. */
  committed: Promise<boolean>;
  /** A series: each commit was decided from the state of the previous one. If one fails, all later ones fail too. */
  series: { hasFailed: boolean };
}

/** Makes a span of each request, for traces. */
export interface RequestTracer {
  start(request: HttpRequest): RequestSpan;
}

/** The span of one request. */
export interface RequestSpan {
  readonly traceId: string;
  /** Does the work. Spans that start in it belong to this one. */
  run<T>(work: () => T): T;
  /** Ends the span; without a response, because the service failed. Later calls do nothing. */
  end(response?: { template?: string; status: number }): void;
}

/** Counts requests, for the metrics. */
export interface RequestMeter {
  /** Counts a response. `template`: that of its route, if the path is known. */
  note(request: { method: string }, response: { template?: string; status: number }, seconds: number): void;
  /** Sets what is read for the requests in progress. */
  watch(counts: Pick<Counts, "requests" | "held">): void;
}

/** The metrics as a text. */
export interface Metrics {
  exposition(): Promise<{ type: string; text: string }>;
}

/**
 * Who can use an endpoint: every request, also without a caller (`public`); every caller; callers who can write something;
 * administrators; callers who can do one of the actions with any resource of the collection; or callers with one of these roles, or
 * with any credential. For all others, the paths of administrators do not exist.
 */
export type Who =
  | "public"
  | "everyone"
  | "writers"
  | "administrators"
  | { readonly action: readonly Action[] }
  | { readonly roles: readonly string[] | "any" };

/** What the steps of a request know of an endpoint. */
export interface EndpointMethod {
  readonly who: Who;
  /** The query parameters `limit` and `after`. Absent: the endpoint has no query parameters, or reads them itself. */
  readonly page?: {
    usual: number;
    most: number;
    hasAfter: boolean;
    filters?: readonly string[];
    what?: string;
  };
  /** Absent if requests have no body. */
  readonly body?: unknown;
  /** The content of requests, if it is not what its method always takes. */
  readonly content?: ContentRule;
  /** What Accept must allow: a format of lists, or anything if the endpoint checks Accept itself or sends no body. @default JSON */
  readonly formats?: "list" | "any";
  /** Whether it reads no header of a request before it parses. @default false */
  readonly ignoresHeaders?: true;
  /** Whether it works before the store is reached. @default false */
  readonly isAlwaysReady?: true;
  /** Whether it uses the Idempotency-Key of a request. @default false */
  readonly isKeyed?: true;
  /**
   * Whether a request with `If-None-Match: *` creates the resource in a collection. It then needs the right to create, or its usual
   * right, and uses an Idempotency-Key. @default false
   */
  readonly createsWithId?: true;
  /** Whether a batch can have such an operation. @default false */
  readonly isInBatch?: true;
  /** Whether it works in a session whose user must first set up a second factor. @default false */
  readonly isForSetUp?: true;
}

/** What the content of a request can be. */
export interface ContentRule {
  /** The media types, as the value of a header. */
  readonly types: string;
  /** Throws UNSUPPORTED_CONTENT_CODING and UNSUPPORTED_MEDIA_TYPE. */
  require(request: HttpRequest): void;
  /** The limit of its length. */
  readonly limit: "bodyBytes" | "importBytes";
}

/** A path of the table of endpoints. */
export interface EndpointPath {
  /** The path, such as `/_keys/{id}`. */
  readonly template: string;
  /** Whether it is outside the prefix; in an application, below its pages. */
  readonly isOutside: boolean;
  /** Whether its last segment is the name of a relation. */
  readonly isNested: boolean;
  /** Whether its methods need no caller. */
  readonly isPublic: boolean;
  /** Whether it exists only for administrators. */
  readonly isAdministrative: boolean;
  /** By the method of a request. HEAD has the endpoint of GET. */
  readonly methods: ReadonlyMap<string, EndpointMethod>;
  readonly allow: string;
  /** The headers that say which media types a request can have. */
  readonly accept: Readonly<Record<string, string>>;
}

/** A path of the table, and the values in it. */
export interface FoundPath {
  path: EndpointPath;
  names: Readonly<Record<string, string>>;
}

/** The paths of the table of endpoints. */
export interface EndpointPaths {
  /** The path of the service itself with these segments below the prefix; `undefined` if the service does not have it. */
  find(service: Service, segments: readonly string[]): FoundPath | undefined;
  /** Whether paths of the service itself begin with this segment, so that no collection has this name. */
  reserves(first: string): boolean;
  /** The path in this collection; `undefined` if the service does not have it. The first segment is the collection. */
  findIn(
    service: Service,
    collection: Collection,
    segments: readonly string[],
    query: string,
  ): EndpointPath | undefined;
  /** The path outside the prefix; `undefined` if the service does not have it. */
  findOutside(service: Service, path: string): FoundPath | undefined;
  /** The root outside the prefix, which exists only for browsers. */
  readonly forBrowsers: EndpointPath | undefined;
  /** What responds if nothing exists at a path. */
  readonly absence: EndpointMethod;
  /** What responds to OPTIONS. */
  readonly options: EndpointMethod;
}

/** What requests read and write. */
export interface Data {
  store: ServingStore & HistoryStore;
  /** Starts an import (`StoreAdministration`). */
  load: StoreAdministration["load"];
  /** Does work while nothing else writes (`StoreAdministration`). */
  exclusively: StoreAdministration["exclusively"];
  /** The declared collections now, by name. */
  collections(): ReadonlyMap<string, Collection>;
  /** The expired resources that the database still has, and `store` does not show. */
  expired: Expired;
  /** Internal collections that administrators use with the paths of a collection. Absent in a batch. */
  ownCollections?: ReadonlyMap<string, Collection> | undefined;
  /** What takes part in the writes of a collection, by the name of the collection. */
  participants: ReadonlyMap<string, Participant>;
  /** Functions of the operator that take part in the writes of declared collections. Absent without any. */
  hooks?: WriteHooks | undefined;
  /** Adds changes to each commit. Absent if nothing does. */
  joinCommit?: JoinCommit | undefined;
  /** Whether the first create of a resource creates its collection. */
  openCollections: boolean;
  /** Whether it refuses all writes. */
  readOnly: boolean;
  /** Writes to the same resource wait for each other here. */
  writes: KeyedQueue;
  /** The pending states, by the names of the resources. The next change of a resource is decided from it. Absent in a batch. */
  pending?: Map<string, Pending> | undefined;
  /**
   * The Idempotency-Keys of requests in progress, each with the caller and the request that it belongs to. The value is the
   * stored response, which retries at the same time share; `undefined` if the request is the first one.
   */
  keysInProgress: Map<string, Promise<KeptReceipt | undefined>>;
}

/** Who sends requests, and what they can do and see. */
export interface Callers {
  /** Absent if the service does not ask for credentials. */
  authenticate?: Authenticate | undefined;
  /** What a further kind of credential adds (`Authenticator`). */
  identify?: Authenticator["identify"] | undefined;
  requireReady?: Authenticator["requireReady"] | undefined;
  principalNow?: Authenticator["principalNow"] | undefined;
  /** The rules of all collections; absent if every caller can do everything. */
  access?: Access | undefined;
  /** Makes the texts that callers get instead of secret values. */
  tags: Tags;
}

/** The service as its clients see it from outside. */
export interface Surface {
  endpoints: EndpointPaths;
  settings: HttpSettings;
  /** Whether it is the service as the operations of a batch see it. @default false */
  isBatch?: boolean;
  /** Whether it is part of another application. Then the paths outside the prefix belong to the application. */
  isEmbedded: boolean;
  /** Whether it refuses requests that did not come to a loopback address of this machine. @default false */
  isForLoopback?: boolean;
  /**
   * Its address for its users, without a path; `undefined` if it does not know it. A request never decides it: `Host` can be
   * forged. It is complete when the service listens.
   */
  publicUrl: string | undefined;
  /** Whether the value of a Host header names this service. */
  isOwnHost: (host: string) => boolean;
  /** A hash of the configuration. It is part of the ETags of lists, so they change with the configuration. */
  configurationHash: string;
  /** Whether the service is stopping. It is not ready then. */
  isDraining: () => boolean;
  /** The names of the capabilities that cannot work now. */
  failing: () => readonly string[];
  /** Whether the store was reached and fits the configuration. Until then, only health checks work. */
  hasStarted: () => boolean;
}

/** Times, new ids, and the log. */
export interface Clock {
  newUuid: () => string;
  /** Unix time in milliseconds. */
  now: () => number;
  /** A clock in milliseconds that never goes back, for the ages of what was checked. */
  elapsed: () => number;
  log: Log;
}

/** What only administrators use, and tasks. */
export interface Administration {
  /** The changes of many resources that do not fit one commit. Absent in a batch. */
  tasks?: Tasks | undefined;
  /** Absent if the service accepts no API keys, or has no administrators. */
  keys?: KeyAdministration | undefined;
  /** Absent unless the start printed a link to create the first API key. */
  firstKey?: FirstKey;
  configuration: ShownConfiguration;
  /** Absent unless metrics are on. */
  metrics?: Metrics;
}

/** How requests are measured. */
export interface Observation {
  /** Absent unless metrics are on. */
  meter?: RequestMeter;
  /** Absent unless an OpenTelemetry SDK is registered. */
  tracer?: RequestTracer;
  /** Whether responses have the templates of their routes, because requests are metered or traced. */
  isObserved: boolean;
}

/** Everything that requests depend on. A function names the parts that it uses. */
export interface Service extends Counting, Data, Callers, Surface, Clock, Administration, Observation {
  /** The feed of changes; absent if the store keeps no history. */
  feed?: Feed;
  /** How many writes start in one turn of the event loop. */
  turnBudget: TurnBudget;
}

/** The effective configuration as administrators see it, without secrets. */
export interface ShownConfiguration {
  /** The configuration file; `undefined` without one. */
  file: string | undefined;
  /** Each option: its name, its value, and where the value comes from. */
  options: readonly { name: string; value: unknown; source: string; from?: string }[];
}

/** What an administrator did with an API key. */
export type KeyEvent = "apiKeyCreated" | "apiKeyRotated" | "apiKeyRevoked";

/** What administrators need to manage API keys. */
export interface KeyAdministration {
  store: Keys;
  /** Records what an administrator did with the key of a prefix. Absent if nothing keeps records. */
  note?(
    event: KeyEvent,
    prefix: string,
    by: { request: HttpRequest; principal: Principal | undefined },
  ): Promise<void>;
  /** The roles that they can give to keys. */
  roles: readonly string[];
  /** The subjects that they cannot give to keys, because these subjects administer the service. */
  reservedSubjects: readonly string[];
  /** Whether a subject is the id of a user, or of one that was deleted. Absent if the service has none. */
  isOfUser?(subject: string): Promise<boolean>;
}

/** What the feed of changes needs. */
export interface Feed extends FeedParts {
  watch: CommitWatch;
  /** The frames of streams, by position and view. */
  frames: SharedReads<Frames>;
  /** Absent unless metrics are on. */
  lags?: Lags;
  /** The time between two positions that a quiet stream sends, in milliseconds. */
  heartbeatMs: number;
  /** Aborted when the service stops: streams end, and pages no longer wait. */
  stopping: AbortSignal;
}

/** The names of the collections: all declared ones, and in open mode all that exist. */
export async function servedNames({ collections, openCollections, store }: Data): Promise<string[]> {
  const stored = openCollections ? await store.collectionNames() : [];
  return [
    ...new Set([...collections().keys(), ...stored.filter((name) => collectionName.test(name))]),
  ].sort();
}

/** The collection with this name; `undefined` if the service has none. */
export function findCollection(
  service: Pick<Data, "collections" | "openCollections">,
  name: string,
): Collection | undefined {
  const declared = service.collections().get(name);
  if (declared !== undefined) return declared;
  return service.openCollections && collectionName.test(name) ? openCollection(name) : undefined;
}
