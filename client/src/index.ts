/** The public interface of the client. */
export type { BatchCollection, Operation, PlannedCreate } from "./batch.ts";
export { type Client, type CollectionLink, createClient } from "./client.ts";
export type { CollectionClient, CreateOptions, UpdateOptions, WriteOptions } from "./collection.ts";
export {
  ConflictError,
  HoldfastError,
  NetworkError,
  NotFoundError,
  type ProblemBody,
  ProblemError,
  TimeoutError,
  type Violation,
} from "./errors.ts";
export type { EventStream } from "./event-stream.ts";
export type {
  ChangeEvent,
  DeletedEvent,
  EventQuery,
  EventsQuery,
  FeedEvent,
  FeedFilter,
  FeedOptions,
  ResyncEvent,
  WrittenEvent,
} from "./event-types.ts";
export type { Page, ResourceList } from "./list.ts";
export type { Filter, ListQuery } from "./list-types.ts";
export type { LiveList, LiveQuery } from "./live.ts";
export { type ProblemCode, problemCodes } from "./problem-codes.ts";
export type { ChangesOf, InputOf, JsonPatchOperation, ReplacementOf, ResourceOf } from "./resource-types.ts";
export type { RetryOptions } from "./retry.ts";
export type { FromSchema } from "./schema.ts";
export { etagOf } from "./tags.ts";
export type { CallOptions, ClientOptions } from "./transport.ts";
