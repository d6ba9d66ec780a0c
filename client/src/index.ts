/** The public interface of the client. */
export type {
  Account,
  AccountChange,
  AccountsClient,
  AccountsOptions,
  Invitation,
  InvitationInput,
  InvitationsClient,
  PageOptions,
} from "./accounts.ts";
export type {
  AccessAnswer,
  AccessCheck,
  AccessQuestion,
  Action,
  CollectionDetails,
  DeclaredRule,
  ExplainedRule,
  ServiceConfiguration,
} from "./administration.ts";
export type { ApiKey, ApiKeyInput, ApiKeyRotation, ApiKeysClient, NewApiKey } from "./api-keys.ts";
export type {
  AtProvider,
  AuthClient,
  Identity,
  Invited,
  NewUserKey,
  ResetTicket,
  SignedIn,
  SignInTicket,
  SignUp,
  UserKeyInput,
  UserSession,
} from "./auth.ts";
export type { BatchCollection, Operation, PlannedCreate } from "./batch.ts";
export type { BulkChange, BulkResult, RestoreMany } from "./bulk-types.ts";
export type { ByUniqueKey, KeyedOptions, PutOptions, UniqueKeyOf } from "./by-key.ts";
export type { RouteCallOptions, RouteCalls, RouteTable } from "./call.ts";
export { type Client, type CollectionLink, createClient } from "./client.ts";
export type {
  CodeFailure,
  CodeFunction,
  CodeKind,
  CodeOverview,
  ConsumerDelivery,
  ConsumerStatus,
  ConsumersClient,
  Job,
  JobRun,
  JobsClient,
} from "./code.ts";
export type {
  CollectionClient,
  ImportConversion,
  ImportOptions,
  ImportTextOptions,
  ImportType,
  UpdateOptions,
  WriteOptions,
} from "./collection.ts";
export type { Past, ResourceChange } from "./collection-reads.ts";
export {
  ConflictError,
  HoldfastError,
  NetworkError,
  NotFoundError,
  type ProblemBody,
  ProblemError,
  ResultHiddenError,
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
export {
  type AddedFactor,
  type Factor,
  type Factors,
  type FactorsClient,
  type NewApp,
  type SecondFactor,
  SecondFactorError,
  type SecondFactorKind,
} from "./factors.ts";
export type { DateUnit, FigureGroup, FigureName, FigureOptions, GroupName } from "./figure-types.ts";
export type {
  CellType,
  ImportColumn,
  ImportedIds,
  ImportFault,
  ImportPlace,
  ImportReport,
} from "./import-report.ts";
export type { Page, ResourceList } from "./list.ts";
export type { Filter, ListQuery, OtherAttribute, PageLimit } from "./list-types.ts";
export type { LiveList, LiveQuery } from "./live.ts";
export type { NestedClient } from "./nested.ts";
export type { CreateOptions } from "./posts.ts";
export { type ProblemCode, problemCodes } from "./problem-codes.ts";
export type { Embedded, Embeds, RelationsOf } from "./relation-types.ts";
export type {
  ChangesOf,
  ChosenId,
  DeletedOf,
  Deletion,
  ImportedOf,
  InputOf,
  JsonPatchOperation,
  ReplacementOf,
  ResourceOf,
  UpdateOf,
} from "./resource-types.ts";
export type { RetryOptions } from "./retry.ts";
export type { Rewind, RewindCounts, RewindMisfit, RewindReport } from "./rewind-types.ts";
export type { ExactNumber, Flat, FromSchema } from "./schema.ts";
export type { AuthOptions, TextStore, User } from "./session-keeper.ts";
export { etagOf } from "./tags.ts";
export {
  type BegunImport,
  type FinishedOptions,
  importReportOf,
  type Task,
  type TaskRefusal,
  type TasksClient,
} from "./tasks.ts";
export type { CallOptions, ClientOptions } from "./transport.ts";
export type {
  Webhook,
  WebhookDelivery,
  WebhookInput,
  WebhookStatus,
  Webhooks,
  WebhookTest,
} from "./webhooks.ts";
