/** What the code of a configuration imports from the package: the functions that refuse a write, and the types of functions. */
import type { Consumer } from "./consumers/consumer.ts";

export type { Acting } from "./calls/acting.ts";
export type { ChangeEvent, Consumer, ConsumerCall } from "./consumers/consumer.ts";
export { isProblem, type ProblemCode } from "./is-problem.ts";
export { type Job, type JobCall, type JobClients, job } from "./jobs/job.ts";
export { type Responded, respond } from "./routes/respond.ts";
export {
  type InsideClient,
  type Route,
  type RouteAccess,
  type RouteCall,
  type RouteRequest,
  route,
} from "./routes/route.ts";
export { type TypedCode, typedCode } from "./typed-code.ts";
export { collection } from "./typed-collection.ts";

/** Who sends a request, as the code of a configuration sees it. It never contains the credential. */
export interface CodeCaller {
  /** The id of a user, or the subject of a key or of a token. */
  readonly subject: string;
  readonly roles: readonly string[];
  /** The claims of a token; empty for other credentials. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** A resource, or its attributes, as plain data. */
export type PlainResource = Record<string, unknown>;

/** One write of a resource, as a hook sees it. All values are copies. */
export interface HookCall<Resource = PlainResource> {
  /** `restore` brings back an earlier state, also in an undo and a rewind. Only `validate` sees it. */
  readonly operation: "create" | "update" | "delete" | "restore";
  /**
   * The resource as it would be stored, with all attributes. `before` gets it without `createdAt` and `updatedAt`, and without `id` if the
   * service chooses the id. For a delete, it is the resource that would be deleted.
   */
  readonly resource: Resource;
  /** The resource as it is stored now; `undefined` if it is new. */
  readonly previous: Resource | undefined;
  /** The resources of `with`, by the names of the relations; `undefined` if the resource refers to none. */
  readonly related: Readonly<Record<string, PlainResource | undefined>>;
  /** `undefined` without a credential. */
  readonly caller: CodeCaller | undefined;
  /** The time of the write. */
  readonly now: Date;
}

/**
 * Functions that take part in each write of a collection. They are synchronous, and do nothing but calculate. They are methods, because
 * functions with the types of a schema must fit this type too.
 */
export interface Hooks<Resource = PlainResource> {
  /** The relations to single resources that the functions get in `related`. @default none */
  readonly with?: readonly string[];
  /** Returns the resource to store, or nothing to store what the request says. Runs before the schema is checked. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns only sometimes has this type
  before?(call: HookCall<Resource>): Completed<Resource> | void;
  /** Refuses the write with `refuse` or `forbid`, or returns. Runs after all rules, and also for deletes. */
  validate?(call: HookCall<Resource>): void;
}

/** What `before` can return: the resource, or a part of it while other attributes are missing. */
type Completed<Resource> = Resource extends PlainResource
  ? PlainResource extends Resource
    ? object
    : Partial<Resource>
  : Partial<Resource>;

/** An attribute that the service computes from others, and stores. Clients can read it, and cannot change it. */
export interface ComputedAttribute<Resource = PlainResource> {
  /** The JSON Schema of its values. @default any value */
  readonly schema?: object;
  /** The attributes of the same resource that `value` gets. */
  readonly from: readonly string[];
  /** Raise it when `value` gives other results than before: then the service computes what is stored again. @default 1 */
  readonly version?: number;
  /** Returns the value, or nothing to leave the attribute out. It is synchronous, and depends on nothing but these attributes. */
  value(attributes: Resource): unknown;
}

/** The members of a declared collection that are code. */
export interface CodeMembers<Resource = PlainResource> {
  /** Functions that take part in each write. @default none */
  readonly hooks?: Hooks<Resource>;
  /** Attributes that the service computes from others, by name. @default none */
  readonly computed?: Readonly<Record<string, ComputedAttribute<Resource>>>;
  /** Functions that handle changes after their commit, by their names. @default none */
  readonly after?: Readonly<Record<string, Consumer<Resource>>>;
}

/** Marks what `refuse` and `forbid` throw. Several copies of this file can be loaded, so a class would not do. */
const refusal = Symbol.for("holdfast.refusal");

/** What a hook has refused. Without `path`, it is about the whole resource. */
export type Refusal =
  | { kind: "refused"; path: readonly string[]; detail: string; code: string }
  | { kind: "forbidden"; detail: string };

/**
 * Refuses the write with 400 VALIDATION_FAILED. `path`: the attribute, such as `title` or `address.city`; without it, the whole resource.
 * `detail` follows the name of the attribute in the message, such as `is taken`. It never returns.
 */
export function refuse(detail: string): never;
export function refuse(path: string, detail: string, options?: { code?: string }): never;
export function refuse(first: string, detail?: string, { code = "refused" }: { code?: string } = {}): never {
  if (![first, detail ?? "", code].every((each) => typeof each === "string"))
    throw new TypeError(
      'refuse takes texts: refuse("title", "is taken", { code: "taken" }), or refuse("The dates overlap")',
    );
  const about: Refusal =
    detail === undefined
      ? { kind: "refused", path: [], detail: first, code }
      : { kind: "refused", path: first === "" ? [] : first.split("."), detail, code };
  throw refusalError(about);
}

/** Refuses the write with 403 INSUFFICIENT_SCOPE and this sentence. It never returns. */
export function forbid(detail: string): never {
  if (typeof detail !== "string")
    throw new TypeError('forbid takes a text: forbid("Only the owner can do this.")');
  throw refusalError({ kind: "forbidden", detail });
}

function refusalError(about: Refusal): Error {
  return Object.assign(new Error(about.detail), { [refusal]: about });
}

/** The longest text of a refusal, in characters. A longer one is cut off. */
const maxLength = 1_000;

/** What a thrown value refuses, as plain data; `undefined` if it is any other error. */
export function refusalOf(thrown: unknown): Refusal | undefined {
  const found = thrown instanceof Error ? (thrown as { [refusal]?: Refusal })[refusal] : undefined;
  if (found === undefined) return undefined;
  const detail = found.detail.slice(0, maxLength);
  if (found.kind === "forbidden") return { kind: "forbidden", detail };
  return { kind: "refused", path: [...found.path], detail, code: found.code.slice(0, maxLength) };
}
