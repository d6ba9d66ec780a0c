/** The kinds of operations. An operation is a parsed request: its method, URL and headers, but not its body. */
import type { View } from "../../changes/event.ts";
import type { Collection } from "../../collection/collection.ts";
import type { ListRequest } from "../../query/list-request.ts";
import type { Key } from "../../store/stored.ts";
import type { Caller } from "../caller/admit.ts";
import type { Guard } from "../caller/permission.ts";
import type { FeedType, ListType } from "../protocol/accept.ts";
import type { PatchFormat } from "../protocol/content-types.ts";
import type { WebhookAction } from "../route.ts";
import type { FeedAsked } from "./feed-parameters.ts";
import type { ChangesAsked, PointInTime } from "./history-parameters.ts";

/** A collection as the caller sees it, and what the caller can do there. */
interface InCollection {
  collection: Collection;
  /** The path of the collection. */
  path: string;
  guard: Guard;
}

/** One resource of a collection. */
interface OfResource extends InCollection {
  id: string;
}

/** The key of an operation's resource in the store. */
export function keyOf({ collection, id }: Pick<OfResource, "collection" | "id">): Key {
  return { collection: collection.name, id };
}

/** A list that a GET or QUERY asks for. */
export interface Listing {
  collection: Collection;
  /** The path of the collection. */
  path: string;
  asked: ListRequest;
  /** The query string with which GET returns the same list; `undefined` if its URL would be too long. */
  query: string | undefined;
  /** The media type of the response. */
  type: ListType;
  /** A hash of the body of a QUERY, which differs between the lists at one URL; `undefined` for GET. */
  contentHash: string | undefined;
}

/** The Idempotency-Key of a write. The store keeps the response of the write with it. */
export interface Idempotency {
  /** The name of the stored response: the key, the caller and the target of the request. */
  readonly key: string;
  /** Differs between different requests with the same key. */
  readonly fingerprint: string;
  /** The callers who can see the body of the stored response. */
  readonly shownTo: string;
  /** The commit that stores the response, once it is in progress. */
  commit?: Promise<unknown>;
}

/** An operation that writes. */
interface Writes {
  caller: Caller;
  /** Set while this is the first request with its Idempotency-Key. */
  idempotency?: Idempotency;
}

/** The request of a feed. */
export interface Subscription {
  /** What the caller sees of each collection. */
  views: readonly View[];
  /** Whether collections that are created later belong to it. */
  isOpen: boolean;
  asked: FeedAsked;
  /** The path of the feed, with the parameters that every page of it has. */
  target: { path: string; query: readonly string[] };
  /** The media type of the response. */
  type: FeedType;
  caller: Caller;
  /** Reads the same request for the caller as they are now: their rights can change while a stream is open. */
  renew: (caller: Caller) => Subscription;
}

/** A parsed request. */
export type Operation =
  /** `path` is set for a path outside the prefix. */
  | { kind: "nothing"; path?: string | undefined }
  /** The page that a browser gets at the root. */
  | { kind: "front page"; caller: Caller }
  | { kind: "collections"; caller: Caller }
  | { kind: "options"; allow: string | undefined; accept: Record<string, string> }
  | { kind: "document"; name: string }
  | ({ kind: "batch" } & Writes)
  | ({ kind: "list"; guard: Guard } & Listing)
  /** A list whose parameters are in the body. */
  | ({ kind: "query" } & InCollection)
  | ({ kind: "create" } & InCollection & Writes)
  /** `fields` are the attributes that the response has; `undefined`: all. */
  | ({ kind: "read"; fields: readonly string[] | undefined } & OfResource)
  /** Reads an earlier state of a resource. */
  | ({ kind: "past"; pointInTime: PointInTime; fields: readonly string[] | undefined } & OfResource)
  | ({ kind: "changes"; asked: ChangesAsked } & OfResource)
  | ({ kind: "events" } & Subscription)
  | { kind: "webhookStatus"; id: string }
  /** `limit` is the most deliveries in the response. */
  | { kind: "webhookDeliveries"; id: string; limit: number }
  | { kind: "webhookAction"; action: WebhookAction; id: string; event: string }
  | ({ kind: "restore" } & OfResource & Writes)
  | ({ kind: "replace" } & OfResource & Writes)
  | ({ kind: "delete" } & OfResource & Writes)
  | ({ kind: "patch"; format: PatchFormat } & OfResource & Writes);

/** The operations of one kind. */
export type OperationOf<Kind extends Operation["kind"]> = Extract<Operation, { kind: Kind }>;
