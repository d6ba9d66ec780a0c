/** The client of a service: an object with a member for each collection. */
import { type BatchCollection, BatchPlan, type Operation, type Results } from "./batch.ts";
import { CollectionClient } from "./collection.ts";
import { EventStream } from "./event-stream.ts";
import type { EventOf, EventsQuery } from "./event-types.ts";
import type { CollectionsOf, ConfigurationTypes } from "./resource-types.ts";
import { type CallOptions, type ClientOptions, createTransport } from "./transport.ts";

/** A member for each collection; what is the service's as a whole begins with `$`, as no collection does. */
export type Client<C extends ConfigurationTypes> = {
  readonly [Name in keyof CollectionsOf<C>]: CollectionClient<CollectionsOf<C>[Name], Name & string>;
} & {
  /** Carries out all of the operations that the function gives, or none of them. */
  $batch<const O extends readonly Operation<unknown>[]>(
    plan: (collections: BatchCollections<C>) => O,
    options?: CallOptions,
  ): Promise<Results<O>>;
  /** The collections that the caller may list, sorted by name, with those that are not in the type of the configuration. */
  $collections(options?: CallOptions): Promise<readonly CollectionLink[]>;
  /** The changes of several collections, as they happen. Changes of different collections have no order between them. */
  $events<const Name extends keyof CollectionsOf<C> & string = keyof CollectionsOf<C> & string>(
    query?: EventsQuery<Name>,
  ): EventStream<EventOf<C, Name>>;
};

/** A collection in the service's list. */
export interface CollectionLink {
  readonly name: string;
  /** The path of the collection. */
  readonly href: string;
}

/** The collections as a batch sees them. */
export type BatchCollections<C extends ConfigurationTypes> = {
  readonly [Name in keyof CollectionsOf<C>]: BatchCollection<CollectionsOf<C>[Name]>;
};

/** A client for the service at an address; the configuration's type tells what its collections hold. */
export function createClient<C extends ConfigurationTypes = ConfigurationTypes>(
  options: ClientOptions,
): Client<C> {
  const send = createTransport(options);
  const $batch = async (
    plan: (collections: BatchCollections<C>) => readonly Operation<unknown>[],
    call: CallOptions = {},
  ) => {
    const batch = new BatchPlan();
    return batch.send(send, plan(byName((name) => batch.collection(name)) as BatchCollections<C>), call);
  };
  const $collections = async (call: CallOptions = {}) => {
    const { body } = await send({ ...call, method: "GET", path: "", isRepeatable: true });
    return (body as { collections: CollectionLink[] }).collections;
  };
  const $events = ({ collections, ...query }: EventsQuery<string> = {}) => {
    const source = { send, path: "/_events", query: { collection: collections?.join(",") } };
    return new EventStream(source, query);
  };
  const own = { $batch, $collections, $events };
  return byName((name) => new CollectionClient(send, name), own) as unknown as Client<C>;
}

/** An object that makes a member when it is first asked for it. `then` is none: a promise may give a client. */
function byName(make: (name: string) => object, own: object = {}): object {
  const made = new Map<string, object>();
  return new Proxy(own, {
    get(target, name) {
      if (typeof name === "symbol" || name === "then" || Object.hasOwn(target, name))
        return Reflect.get(target, name);
      const known = made.get(name) ?? make(name);
      made.set(name, known);
      return known;
    },
  });
}
