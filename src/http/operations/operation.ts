/** The kinds of operations. An operation is a parsed request: its method, URL and headers, but not its body. */
import type { View } from "../../changes/event.ts";
import type { Collection } from "../../collection/collection.ts";
import type { Path } from "../../collection/paths.ts";
import type { Embed } from "../../query/embed-request.ts";
import type { FiguresRequest } from "../../query/figures-request.ts";
import type { Filter } from "../../query/filter.ts";
import type { ListRequest } from "../../query/list-request.ts";
import type { Key } from "../../store/port/stored.ts";
import type { Caller } from "../caller/admit.ts";
import type { Guard } from "../caller/permission.ts";
import type { FeedType, ListType } from "../protocol/accept.ts";
import type { PatchFormat } from "../protocol/content-types.ts";
import type { EndpointMethod } from "../service.ts";
import type { FeedAsked } from "./feed-parameters.ts";
import type { ChangesAsked, PointInTime } from "./history-parameters.ts";
import type { ImportAsked } from "./import-parameters.ts";
import type { PageAsked } from "./page-parameters.ts";

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
interface InCollection {
  collection: Collection;
  /** The path of the collection. */
  path: string;
  guard: Guard;
  /** Set if the path is nested. */
  parent?: Parent | undefined;
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

/** A parsed request. */
export type Operation =
  /** `path` is set for a path outside the prefix. */
  | { kind: "nothing"; path?: string | undefined }
  /** An operation of the table of endpoints. */
  | ({
      kind: "endpoint";
      endpoint: EndpointMethod;
      names: Readonly<Record<string, string>>;
      page: PageAsked;
      /** What the endpoint has read from the query string and the headers. */
      parsed: unknown;
    } & Writes)
  | { kind: "options"; allow: string | undefined; accept: Record<string, string> }
  | ({ kind: "list"; guard: Guard; caller: Caller } & Listing)
  | ({ kind: "figures"; guard: Guard; caller: Caller } & FiguresListing)
  /** A list, or the figures of a list, whose parameters are in the body. */
  | ({ kind: "query"; caller: Caller } & InCollection)
  | ({ kind: "create" } & InCollection & Writes)
  /** `fields` are the attributes that the response has; `undefined`: all. */
  | ({
      kind: "read";
      fields: readonly string[] | undefined;
      embeds: readonly Embed[];
      caller: Caller;
    } & OfResource)
  /** Reads an earlier state of a resource. */
  | ({ kind: "earlierState"; pointInTime: PointInTime; fields: readonly string[] | undefined } & OfResource)
  | ({ kind: "changes"; asked: ChangesAsked } & OfResource)
  | { kind: "import"; collection: Collection; asked: ImportAsked; caller: Caller }
  | ({ kind: "events" } & Subscription)
  /** Changes the resources that match a filter. */
  | ({ kind: "bulk" } & InCollection & Writes)
  | ({ kind: "restore" } & OfResource & Writes)
  | ({ kind: "replace" } & OfResource & Writes)
  | ({ kind: "delete" } & OfResource & Writes)
  | ({ kind: "patch"; format: PatchFormat } & OfResource & Writes);

/** The operations of one kind. */
export type OperationOf<Kind extends Operation["kind"]> = Extract<Operation, { kind: Kind }>;
