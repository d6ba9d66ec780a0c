/** What a feed of changes gives, and what it is asked with. */
import type { Filter } from "./list-types.ts";
import type { CollectionsOf, ConfigurationTypes, IdOf, ResourceOf } from "./resource-types.ts";
import type { CallOptions } from "./transport.ts";

/** An event of a feed: a change as the caller sees it, or the news that changes were missed. */
export type FeedEvent<Name extends string, R extends { readonly id: unknown }> =
  | ChangeEvent<Name, R>
  | ResyncEvent;

/**
 * A change, as a CloudEvent 1.0. A resource that begins to match the filter is `created`, and one that no longer matches is
 * `deleted`.
 */
export type ChangeEvent<Name extends string, R extends { readonly id: unknown }> =
  | WrittenEvent<Name, R>
  | DeletedEvent<Name, R["id"]>;

/** The resource is new, or has changed. */
export interface WrittenEvent<Name extends string, R> extends ChangeAttributes {
  readonly type: `${Name}.created` | `${Name}.updated`;
  readonly etag: string;
  /** The resource as this change left it, with its ETag. */
  readonly data: R;
}

/** The resource was deleted, or the caller no longer sees it. */
export interface DeletedEvent<Name extends string, Id> extends ChangeAttributes {
  readonly type: `${Name}.deleted`;
  readonly data: { readonly id: Id };
}

/** Changes are missing here. List the resources again after this event; it is followed by the changes after it. */
export interface ResyncEvent extends EventAttributes {
  readonly type: "holdfast.resync";
  readonly data: { readonly reason: string };
}

/** The attributes of every event. */
export interface EventAttributes {
  readonly specversion: "1.0";
  /** Differs from the ids of all other changes of the service. It is not a position. */
  readonly id: string;
  readonly source: string;
  readonly time: string;
  readonly datacontenttype?: string;
  /** A value of `since`: a feed from here has all later events. */
  readonly position: string;
}

/** The attributes of a change. */
export interface ChangeAttributes extends EventAttributes {
  /** The id of the resource, as text. */
  readonly subject: string;
  /** A whole number. It orders the events of one resource. */
  readonly version: string;
  /** The same for all changes of one batch. */
  readonly group?: string;
}

/** Where a feed starts, and how it is read. */
export interface FeedOptions extends CallOptions {
  /**
   * A position, `now`, or `start`: the oldest change that the service has kept. Positions come from events and from the
   * pages of lists.
   * @default now
   */
  readonly since?: string;
  /** A connection is considered dead after so long without a byte, in milliseconds. @default 45000 */
  readonly idleTimeoutMs?: number;
}

/** What is asked of the feed of one collection. Feeds have no filters by id. */
export interface EventQuery<T, F extends keyof T> extends FeedOptions {
  readonly filter?: FeedFilter<T>;
  /** The attributes of `data`, beside `id`. @default all */
  readonly fields?: readonly F[];
}

/** A filter that feeds understand. */
export type FeedFilter<T> = Filter<Omit<T, "id">>;

/** The events of several collections. `type` says which collection an event belongs to. */
export type EventOf<C extends ConfigurationTypes, Name extends keyof CollectionsOf<C> & string> =
  | {
      [N in Name]: ChangeEvent<
        N,
        ResourceOf<CollectionsOf<C>[N]> & { readonly id: IdOf<CollectionsOf<C>[N]> }
      >;
    }[Name]
  | ResyncEvent;

/** What is asked of the feed of several collections. */
export interface EventsQuery<Name extends string> extends FeedOptions {
  /** Up to 50 names. @default all that the caller can list, if these are no more */
  readonly collections?: readonly Name[];
}
