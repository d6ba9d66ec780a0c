/** What requests in a collection ask for: what their method, URL and headers say, but not their body. */
import type { View } from "../../changes/event.ts";
import type { Collection } from "../../collection/collection.ts";
import type { Deletions } from "../../collection/deletions.ts";
import type { Path } from "../../collection/paths.ts";
import type { Fields } from "../../collection/visibility.ts";
import type { Embed } from "../../query/embed-request.ts";
import type { FiguresRequest } from "../../query/figures-request.ts";
import type { Filter } from "../../query/filter.ts";
import type { ListRequest } from "../../query/list-request.ts";
import type { UniqueKey } from "../../query/unique-keys.ts";
import type { Key } from "../../store/port/stored.ts";
import type { Caller } from "../caller/admit.ts";
import type { Guard } from "../caller/permission.ts";
import type { FeedType, ListType } from "../protocol/accept.ts";
import type { PatchFormat } from "../protocol/content-types.ts";
import type { FeedAsked } from "./feed-parameters.ts";
import type { ChangesAsked, PointInTime } from "./history-parameters.ts";
import type { ImportAsked } from "./import-parameters.ts";

/** The resource in a nested path, such as `users/7` in `users/7/articles`. */
export interface Parent {
  /** Its collection, as the caller sees it. */
  collection: Collection;
  id: string;
  /** What the caller can do in its collection. */
  guard: Guard;
  /** The reference to it, in the resources below it. */
  path: Path;
  /** What a reference to it contains: its id, or a list with its id. */
  value: string | number | readonly (string | number)[];
  /** The filter for the resources below it. */
  filter: Filter;
  /** The path of the collection below it, and the filter as a query parameter. */
  plain: { path: string; parameter: string };
}

/** A collection as the caller sees it, and what the caller can do there. */
export interface InCollection {
  collection: Collection;
  /** The path of the collection. */
  path: string;
  guard: Guard;
  /** Set if the path is nested. */
  parent?: Parent | undefined;
}

/** One resource of a collection. */
export interface OfResource extends InCollection {
  id: string;
}

/** The key of an operation's resource in the store. */
export function keyOf({ collection, id }: Pick<OfResource, "collection" | "id">): Key {
  return { collection: collection.name, id };
}

/** A list that a GET or QUERY asks for. */
export interface Listing {
  collection: Collection;
  /** The path of the collection, or the nested path. */
  path: string;
  parent?: Parent | undefined;
  asked: ListRequest;
  /** The query string with which GET returns the same list; `undefined` if its URL would be too long. */
  query: string | undefined;
  /** The media type of the response. */
  type: ListType;
  /** A hash of the body of a QUERY, which differs between the lists at one URL; `undefined` for GET. */
  contentHash: string | undefined;
  /** Set for a list of deleted resources. */
  deletions?: Deletions;
}

/** The figures of a list that a GET or QUERY asks for. */
export interface FiguresListing extends Omit<Listing, "asked"> {
  asked: FiguresRequest;
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
export interface Writes {
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
  /** Reads the same request with the current rights of the caller: they can change while a stream is open. */
  renew: (caller: Caller) => Subscription;
}

/** A list that a request asks for. */
export type ListRead = { kind: "list"; guard: Guard; caller: Caller } & Listing;

/** The figures of a list that a request asks for. */
export type FiguresRead = { kind: "figures"; guard: Guard; caller: Caller } & FiguresListing;

/** Asks for a list, or for the figures of a list, with the parameters in the body. */
export interface Query extends InCollection {
  caller: Caller;
}

/** Creates a resource. */
export interface Create extends InCollection, Writes {}

/** Creates a resource with the id in the path. */
export interface CreateWithId extends OfResource, Writes {
  kind: "create";
}

/** Changes the resources that match a filter. */
export interface Bulk extends InCollection, Writes {}

/** Reads a resource. Without `fields`, the response has all attributes. */
export interface Read extends OfResource {
  fields: Fields | undefined;
  embeds: readonly Embed[];
  caller: Caller;
}

/** Reads an earlier state of a resource. */
export interface EarlierRead extends OfResource {
  pointInTime: PointInTime;
  fields: Fields | undefined;
}

/** Lists the changes of a resource. */
export interface ChangesRead extends OfResource {
  asked: ChangesAsked;
}

/** Restores a version of a resource. */
export interface Restore extends OfResource, Writes {}

/** Replaces a resource. */
export interface Replace extends OfResource, Writes {
  kind: "replace";
  /** The values by which the request names the resource; absent if it names its id. */
  key?: UniqueKey;
}

/** Replaces, patches or deletes a resource. */
export type ChangeOperation =
  | Replace
  | ({ kind: "delete"; key?: UniqueKey } & OfResource & Writes)
  | ({ kind: "patch"; format: PatchFormat; key?: UniqueKey } & OfResource & Writes);

/** Replaces or creates, patches or deletes the resource that has the values of a unique key. */
export type WriteByKey = ChangeOperation & { key: UniqueKey };

/** Imports resources into a collection. */
export interface Import {
  collection: Collection;
  asked: ImportAsked;
  caller: Caller;
}
