/** The client of a service: an object with a member for each collection. */
import { AccountsClient, InvitationsClient } from "./accounts.ts";
import {
  type AccessAnswer,
  type AccessQuestion,
  askAccess,
  type CollectionDetails,
  readCollectionDetails,
  type ServiceConfiguration,
} from "./administration.ts";
import { ApiKeysClient } from "./api-keys.ts";
import { AuthClient } from "./auth.ts";
import { type BatchCollection, BatchPlan, type Operation, type Results } from "./batch.ts";
import { createCalls, type RouteCalls, type RouteTable } from "./call.ts";
import { type CodeOverview, ConsumersClient, JobsClient } from "./code.ts";
import { CollectionClient } from "./collection.ts";
import { ResultHiddenError } from "./errors.ts";
import { EventStream } from "./event-stream.ts";
import type { EventOf, EventsQuery } from "./event-types.ts";
import { keyedPost } from "./posts.ts";
import type { CollectionsOf, ConfigurationTypes } from "./resource-types.ts";
import type { Rewind, RewindReport } from "./rewind-types.ts";
import { SessionKeeper } from "./session-keeper.ts";
import { TasksClient } from "./tasks.ts";
import type { CallOptions, ClientOptions } from "./transport.ts";
import { type Webhooks, WebhooksClient } from "./webhooks.ts";

/** A client has a member for each collection. Members for the whole service begin with `$`. */
export type Client<C extends ConfigurationTypes> = {
  readonly [Name in keyof CollectionsOf<C>]: CollectionClient<
    CollectionsOf<C>[Name],
    Name & string,
    CollectionsOf<C>
  >;
} & {
  /** People sign up and in, and manage their own sessions and password. */
  readonly $auth: AuthClient;
  /** The accounts of the users, for administrators. For other callers, they do not exist. */
  readonly $accounts: AccountsClient;
  /** The invitations of the service, for administrators. For other callers, they do not exist. */
  readonly $invitations: InvitationsClient;
  /** Carries out all operations that the function returns, or none of them. */
  $batch<const O extends readonly Operation<unknown>[]>(
    plan: (collections: BatchCollections<C>) => O,
    options?: CallOptions,
  ): Promise<Results<O>>;
  /** Calls the routes in `routes` of the options: `client.$call.checkout({ orderId }, { card })`. */
  readonly $call: RouteCalls<C>;
  /** The collections that the caller can list, sorted by name. Includes collections that the configuration does not declare. */
  $collections(options?: CallOptions): Promise<readonly CollectionLink[]>;
  /** The collections that the caller can list, with their schemas and options, and what the caller can do with them. */
  $collectionDetails(options?: CallOptions): Promise<readonly CollectionDetails[]>;
  /** Whether the caller can do an operation. Nothing changes. Administrators also learn why, and can ask for others. */
  $access(question: AccessQuestion, options?: CallOptions): Promise<AccessAnswer>;
  /** The functions of the configuration, for administrators. For other callers, they do not exist. */
  $code(options?: CallOptions): Promise<CodeOverview>;
  /** The consumers of the configuration, for administrators. For other callers, they do not exist. */
  readonly $consumers: ConsumersClient;
  /** The jobs of the configuration, for administrators. For other callers, they do not exist. */
  readonly $jobs: JobsClient;
  /** The changes of several collections as they happen. Events of different collections have no particular order. */
  $events<const Name extends keyof CollectionsOf<C> & string = keyof CollectionsOf<C> & string>(
    query?: EventsQuery<Name>,
  ): EventStream<EventOf<C, Name>>;
  /** Reads the JSON at a path below the base address. It is for paths that no other member reads. */
  $read(path: string, options?: CallOptions): Promise<unknown>;
  /** The effective configuration of the service, for administrators. For other callers, it does not exist. */
  $configuration(options?: CallOptions): Promise<ServiceConfiguration>;
  /** The API keys of the service, for administrators. For other callers, they do not exist. */
  readonly $keys: ApiKeysClient;
  /**
   * Returns collections to their state at an earlier time, with new versions: all changes, or none. Only administrators can
   * rewind. Throws ProblemError. Its `problem.report` says what would not fit. Throws ResultHiddenError if the rewind took effect,
   * but the caller cannot see the result.
   */
  $rewind(rewind: Rewind<keyof CollectionsOf<C> & string>, options?: CallOptions): Promise<RewindReport>;
  /** The tasks of the caller: changes of many resources on which the service works while others write. */
  readonly $tasks: TasksClient<keyof CollectionsOf<C> & string>;
  /** The webhooks of the service, for administrators. For other callers, they do not exist. */
  readonly $webhooks: Webhooks;
};

/** The time for a rewind, in milliseconds: it can change many resources. */
const rewindMs = 120_000;

/** A collection in the service's list. */
export interface CollectionLink {
  readonly name: string;
  /** The path of the collection. */
  readonly href: string;
}

/** The collections in a batch. */
export type BatchCollections<C extends ConfigurationTypes> = {
  readonly [Name in keyof CollectionsOf<C>]: BatchCollection<CollectionsOf<C>[Name]>;
};

/** Creates a client for the service at an address. The type of the configuration gives the types of the resources. */
export function createClient<C extends ConfigurationTypes = ConfigurationTypes>(
  options: ClientOptions & { readonly routes?: RouteTable<C> },
): Client<C> {
  const keeper = new SessionKeeper(options);
  const { send } = keeper;
  const $batch = async (
    plan: (collections: BatchCollections<C>) => readonly Operation<unknown>[],
    call: CallOptions = {},
  ) => {
    const batch = new BatchPlan();
    return batch.send(send, plan(byName((name) => batch.collection(name)) as BatchCollections<C>), call);
  };
  const $read = async (path: string, call: CallOptions = {}) =>
    (await send({ ...call, method: "GET", path, isRepeatable: true })).body;
  const $collections = async (call?: CallOptions) =>
    ((await $read("", call)) as { collections: CollectionLink[] }).collections;
  const $events = ({ collections, ...query }: EventsQuery<string> = {}) => {
    const source = { send, path: "/_events", query: { collection: collections?.join(",") } };
    return new EventStream(source, query);
  };
  const $collectionDetails = (call?: CallOptions) => readCollectionDetails(send, call);
  const $configuration = async (call?: CallOptions) =>
    (await $read("/_configuration", call)) as ServiceConfiguration;
  const $code = async (call?: CallOptions) => (await $read("/_code", call)) as CodeOverview;
  const $access = (question: AccessQuestion, call?: CallOptions) => askAccess(send, question, call);
  const $rewind = async (content: Rewind, call: CallOptions = {}) => {
    const { body } = await send(keyedPost({ timeoutMs: rewindMs, ...call, path: "/_rewind", content }));
    if (body === undefined) throw new ResultHiddenError("rewind");
    return body as RewindReport;
  };
  const own = {
    $access,
    $accounts: new AccountsClient(send),
    $auth: new AuthClient(keeper),
    $batch,
    $call: createCalls(send, options.routes),
    $code,
    $collections,
    $configuration,
    $consumers: new ConsumersClient(send),
    $collectionDetails,
    $events,
    $invitations: new InvitationsClient(send),
    $jobs: new JobsClient(send),
    $keys: new ApiKeysClient(send),
    $read,
    $rewind,
    $tasks: new TasksClient(send),
    $webhooks: new WebhooksClient(send),
  };
  return byName((name) => new CollectionClient(send, name), own) as unknown as Client<C>;
}

/** An object that makes each member at its first use. */
function byName(make: (name: string) => object, own: object = {}): object {
  const made = new Map<string, object>();
  return new Proxy(own, {
    get(target, name) {
      if (typeof name === "symbol" || Object.hasOwn(target, name)) return Reflect.get(target, name);
      const known = made.get(name) ?? make(name);
      made.set(name, known);
      return known;
    },
  });
}
