/** Batches: several writes in one request, all or none of them. */
import { queryOf, type UniqueKeyOf } from "./by-key.ts";
import { ResultHiddenError } from "./errors.ts";
import { idAt, keyedPost } from "./posts.ts";
import type {
  ChangesOf,
  ChosenId,
  IdOf,
  InputOf,
  JsonPatchOperation,
  ReplacementOf,
  ResourceOf,
  ResourceOrId,
  UpdateOf,
} from "./resource-types.ts";
import { precondition, tagOf, withTag } from "./tags.ts";
import { type CallOptions, type Send, updateType } from "./transport.ts";

/** A planned operation of a batch. `R` is the type of its result. */
export interface Operation<R> {
  /** Only for the type of the result. This member never exists. */
  readonly "~result"?: R;
}

/** A planned create of a batch. */
export interface PlannedCreate<R, Id> extends Operation<R> {
  /** The chosen id, or a placeholder for the id of the new resource. Use it in later operations of the batch. */
  readonly id: Id;
}

/** Plans operations on the resources of one collection. */
export interface BatchCollection<D> {
  create(attributes: InputOf<D>, options?: ChosenId<D>): PlannedCreate<ResourceOf<D>, IdOf<D>>;
  replace(resource: ReplacementOf<D>): Operation<ResourceOf<D>>;
  patch(
    target: ResourceOrId<D>,
    changes: ChangesOf<D> | readonly JsonPatchOperation[],
  ): Operation<ResourceOf<D>>;
  /** Changes attributes by operators, such as `{ views: { $increment: 1 } }`. */
  update(target: ResourceOrId<D>, operators: UpdateOf<D>): Operation<ResourceOf<D>>;
  delete(target: ResourceOrId<D>): Operation<undefined>;
  /** Plans operations on the resource that has the values of a unique key. A put is a create for later operations too. */
  by(key: UniqueKeyOf<D>): {
    put(attributes: InputOf<D>): PlannedCreate<ResourceOf<D>, IdOf<D>>;
    patch(changes: ChangesOf<D> | readonly JsonPatchOperation[]): Operation<ResourceOf<D>>;
    update(operators: UpdateOf<D>): Operation<ResourceOf<D>>;
    delete(): Operation<undefined>;
  };
}

/** The results of the operations, in their order. */
export type Results<Operations> = {
  -readonly [I in keyof Operations]: Operations[I] extends Operation<infer R> ? R : never;
};

/** An operation in the form that the service reads. */
interface WireOperation {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly as?: string;
}

interface WireResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: { readonly id: string | number };
}

/** A placeholder for an id that is not known yet. It cannot be converted to text. */
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

  /** Plans operations on the collection with this name. */
  collection(name: string): BatchCollection<unknown> {
    const base = `/${encodeURIComponent(name)}`;
    const plan = <O extends object>(operation: O, wire: WireOperation): O => {
      this.#wire.set(operation, wire);
      return operation;
    };
    const planCreate = (wire: Omit<WireOperation, "as">) => {
      const as = `r${++this.#created}`;
      return plan({ id: new Reference(as) as unknown as string }, { ...wire, as });
    };
    const planPatch = (place: Pick<WireOperation, "path" | "headers">, body: unknown, type?: string) => {
      const headers = { ...place.headers, ...(type === undefined ? {} : { "Content-Type": type }) };
      return plan({}, { method: "PATCH", path: place.path, headers, body });
    };
    const typeOf = (changes: unknown) => (Array.isArray(changes) ? "application/json-patch+json" : undefined);
    return {
      create: (body, { id: chosen } = {}) => {
        if (chosen !== undefined) {
          const { path } = at(base, chosen);
          const headers = { "If-None-Match": "*" };
          return plan(
            { id: chosen },
            { method: "PUT", path, headers, body: { ...(body as object), id: chosen } },
          );
        }
        return planCreate({ method: "POST", path: base, body });
      },
      replace: (body) => plan({}, { method: "PUT", ...at(base, body), body }),
      patch: (target, body) => planPatch(at(base, target), body, typeOf(body)),
      update: (target, body) => planPatch(at(base, target), body, updateType),
      delete: (target) => plan({}, { method: "DELETE", ...at(base, target) }),
      by: (key) => {
        const path = `${base}?${queryOf(key)}`;
        return {
          put: (body) => planCreate({ method: "PUT", path, body }),
          patch: (body) => planPatch({ path }, body, typeOf(body)),
          update: (body) => planPatch({ path }, body, updateType),
          delete: () => plan({}, { method: "DELETE", path }),
        };
      },
    };
  }

  /** Sends the operations, and returns their results. Throws ResultHiddenError if the caller cannot see the results. */
  async send(
    send: Send,
    operations: readonly Operation<unknown>[],
    options: CallOptions,
  ): Promise<unknown[]> {
    const wire = operations.map((operation) => this.#wire.get(operation));
    const { body } = await send(keyedPost({ ...options, path: "/_batch", content: { operations: wire } }));
    if (body === undefined) throw new ResultHiddenError("batch");
    return (body as { results: WireResult[] }).results.map((result, n) =>
      toResult(result, wire[n] as WireOperation),
    );
  }
}

/** The path and the precondition of an operation on a resource. */
function at(base: string, target: unknown): { path: string; headers: Record<string, string> } {
  const id: unknown = isObject(target) && !(target instanceof Reference) ? target.id : target;
  const path = `${base}/${id instanceof Reference ? `$${id.$ref}` : encodeURIComponent(String(id))}`;
  return { path, headers: precondition(tagOf(target, path)?.etag) };
}

function isObject(value: unknown): value is { readonly id?: unknown } {
  return typeof value === "object" && value !== null;
}

function toResult(
  { status, body, headers }: WireResult,
  { method, path, body: sent }: WireOperation,
): unknown {
  if (body === undefined && status !== 201) return undefined;
  const isChosen = method === "PUT" && !path.includes("?");
  if (body === undefined) return { id: isChosen ? (sent as { id: string }).id : idAt(headers.Location) };
  const collection = path.replace(/(?<=.)[/?].*/, "");
  return withTag(body, `${collection}/${encodeURIComponent(body.id)}`, { etag: headers.ETag ?? null });
}
