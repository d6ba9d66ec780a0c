/** The types of events, and of the options of feeds. */
import type { FieldName, Filter } from "./list-types.ts";
import type { CollectionsOf, ConfigurationTypes, IdOf, ResourceOf } from "./resource-types.ts";
import type { CallOptions } from "./transport.ts";

/** An event of a feed: a change as the caller sees it, or a resync, which says that changes are missing. */
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

/** Changes before this event are missing. List the resources again. Later events continue from here. */
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
  /** The position after this event, as a value of `since`. A feed from here has all later events. */
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
  /** How long a connection can be silent before the stream opens another one, in milliseconds. @default 45000 */
  readonly idleTimeoutMs?: number;
  /** Called with true after each connection, and with false when it ends. */
  readonly onConnection?: (isConnected: boolean) => void;
}

/** The options of the feed of one collection. Feeds have no filters by id. */
export interface EventQuery<T, F extends FieldName<T>> extends FeedOptions {
  readonly filter?: FeedFilter<T>;
  /** The attributes of `data`, in addition to `id`, or those to leave out, such as `-body`. @default all */
  readonly fields?: readonly F[];
}

/** A filter of a feed. */
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

/** The options of the feed of several collections. */
export interface EventsQuery<Name extends string> extends FeedOptions {
  /** Up to 50 names. @default all collections that the caller can list, if there are at most 50 */
  readonly collections?: readonly Name[];
}
