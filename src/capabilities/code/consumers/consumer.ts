/** Consumers, as a configuration declares them. */

import type { Acting } from "../calls/acting.ts";
import type { PlainResource } from "../public.ts";
import type { InsideClient } from "../routes/route.ts";

/** A change of a resource, as a CloudEvent 1.0. */
export interface ChangeEvent<Resource = PlainResource> {
  readonly specversion: "1.0";
  /** The same for each attempt. Nothing else has this id, so code can use it to do something only once. */
  readonly id: string;
  /** The path of the collection. */
  readonly source: string;
  /** The collection and the kind of the change, such as `orders.created`. */
  readonly type: string;
  /** The id of the resource. */
  readonly subject: string;
  /** The time of the change. */
  readonly time: string;
  readonly datacontenttype: "application/json";
  /** The entity tag of the resource after the change; absent if it was deleted. */
  readonly etag?: string;
  /** The version that the change made. */
  readonly version: string;
  /** Changes that were made together have the same group. */
  readonly group?: string;
  /** The resource after the change; of a deleted one only its id. */
  readonly data: Resource;
}

/** One call of a consumer. */
export interface ConsumerCall<
  Resource = PlainResource,
  C extends { readonly collections?: object } = Record<never, never>,
> {
  readonly event: ChangeEvent<Resource>;
  /** Sends requests as `as` says; `undefined` without it. */
  readonly client: InsideClient<C>;
  /** 1 for the first attempt to handle the event. */
  readonly attempt: number;
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
}

/** A function that handles the changes of a collection, after their commit and at least once. */
export interface Consumer<
  Resource = PlainResource,
  C extends { readonly collections?: object } = Record<never, never>,
> {
  /** The kinds of changes. @default all */
  readonly types?: readonly ("created" | "updated" | "deleted")[];
  /** A filter as in the body of a QUERY request. @default no filter */
  readonly filter?: Readonly<Record<string, unknown>>;
  /** The attributes of `data`, or those that it leaves out, as `-body`. @default all */
  readonly fields?: readonly string[];
  /** Who acts: a caller with some roles, or the service itself. @default there is no client */
  readonly as?: Acting;
  /** Who could see the changes: a caller with these roles. @default the roles of `as`; without roles there, everybody's changes */
  readonly roles?: readonly string[];
  /** How long one call can take, up to 300,000. @default 30000 */
  readonly timeoutMs?: number;
  /** How many calls run at the same time, up to 8. @default 1 */
  readonly concurrency?: number;
  /** Whether a new consumer begins with new changes, or with the oldest change of the history. @default "now" */
  readonly from?: "now" | "start";
  /** Whether it also gets the changes that its own client makes. @default false */
  readonly own?: boolean;
  /** Handles a change. If it throws, the service calls it again later. */
  run(call: ConsumerCall<Resource, C>): unknown;
}
