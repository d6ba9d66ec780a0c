/** Several writes, of which all are done or none. */
import { newKey } from "./keys.ts";
import type {
  ChangesOf,
  IdOf,
  InputOf,
  JsonPatchOperation,
  ReplacementOf,
  ResourceOf,
} from "./resource-types.ts";
import { tagOf, withTag } from "./tags.ts";
import type { CallOptions, Send } from "./transport.ts";

/** An operation that will be carried out with the others, and what it will give. */
export interface Operation<R> {
  /** Never there: what the operation gives. */
  readonly "~result"?: R;
}

/** A create that will be carried out with the others. */
export interface PlannedCreate<R, Id> extends Operation<R> {
  /** Stands for the id of what will be created, in the operations after it. */
  readonly id: Id;
}

/** What a batch may do in one collection. */
export interface BatchCollection<D> {
  create(attributes: InputOf<D>): PlannedCreate<ResourceOf<D>, IdOf<D>>;
  replace(resource: ReplacementOf<D>): Operation<ResourceOf<D>>;
  patch(
    target: IdOf<D> | { readonly id: IdOf<D> },
    changes: ChangesOf<D> | readonly JsonPatchOperation[],
  ): Operation<ResourceOf<D>>;
  delete(target: IdOf<D> | { readonly id: IdOf<D> }): Operation<undefined>;
}

/** What the operations gave, in their order. */
export type Results<Operations> = {
  -readonly [I in keyof Operations]: Operations[I] extends Operation<infer R> ? R : never;
};

/** As the service takes an operation. */
interface WireOperation {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly as?: string;
}

interface WireResult {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: { readonly id: string | number };
}

/** Stands for an id that is not known yet; text cannot be made of it. */
class Reference {
  readonly $ref: string;
  constructor(name: string) {
    this.$ref = name;
  }
  toString(): never {
    throw new TypeError(
      "The id of a resource that a batch creates is unknown until the batch is sent. Use it as a whole value, not as part of a string.",
    );
  }
}

/** Plans the operations of one batch. */
export class BatchPlan {
  readonly #wire = new Map<object, WireOperation>();
  #created = 0;

  /** What the batch may do in the collection of this name. */
  collection(name: string): BatchCollection<unknown> {
    const base = `/${encodeURIComponent(name)}`;
    const plan = <O extends object>(operation: O, wire: WireOperation): O => {
      this.#wire.set(operation, wire);
      return operation;
    };
    return {
      create: (body) => {
        const as = `r${++this.#created}`;
        const id = new Reference(as) as unknown as string;
        return plan({ id }, { method: "POST", path: base, body, as });
      },
      replace: (body) => plan({}, { method: "PUT", ...at(base, body), body }),
      patch: (target, body) => {
        const { path, headers } = at(base, target);
        const type = Array.isArray(body) ? { "Content-Type": "application/json-patch+json" } : {};
        return plan({}, { method: "PATCH", path, headers: { ...headers, ...type }, body });
      },
      delete: (target) => plan({}, { method: "DELETE", ...at(base, target) }),
    };
  }

  /** Sends the operations, and gives what each gave. */
  async send(
    send: Send,
    operations: readonly Operation<unknown>[],
    options: CallOptions,
  ): Promise<unknown[]> {
    const wire = operations.map((operation) => this.#wire.get(operation));
    const headers = { "Idempotency-Key": newKey() };
    const content = { operations: wire };
    const { body } = await send({
      ...options,
      method: "POST",
      path: "/_batch",
      headers,
      content,
      isRepeatable: true,
    });
    return (body as { results: WireResult[] }).results.map((result, n) =>
      toResult(result, wire[n]?.path ?? ""),
    );
  }
}

/** Path and precondition of an operation on a resource. */
function at(base: string, target: unknown): { path: string; headers: Record<string, string> } {
  const id: unknown = isObject(target) && !(target instanceof Reference) ? target.id : target;
  const path = `${base}/${id instanceof Reference ? `$${id.$ref}` : encodeURIComponent(String(id))}`;
  const tag = tagOf(target, path);
  return { path, headers: tag === undefined ? {} : { "If-Match": tag.etag } };
}

function isObject(value: unknown): value is { readonly id?: unknown } {
  return typeof value === "object" && value !== null;
}

function toResult({ body, headers }: WireResult, path: string): unknown {
  if (body === undefined) return undefined;
  const collection = path.slice(0, path.indexOf("/", 1) === -1 ? undefined : path.indexOf("/", 1));
  return withTag(body, `${collection}/${encodeURIComponent(body.id)}`, { etag: headers.ETag ?? null });
}
