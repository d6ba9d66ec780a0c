/** Writes by a unique key: `users.by({ email: "ada@x.org" }).put({ … })` replaces the user with this address, or creates one. */
import { ConflictError, ProblemError, ResultHiddenError } from "./errors.ts";
import { idAt, newKey } from "./posts.ts";
import type { ChangesOf, InputOf, JsonPatchOperation, ResourceOf, UpdateOf } from "./resource-types.ts";
import { precondition, withTag } from "./tags.ts";
import { type Call, type CallOptions, type Send, updateType } from "./transport.ts";

type KeyValue = string | number | boolean;

/** The values of one unique attribute, or of a combination, by name. Dots name a nested attribute: `"team.id"`. */
export type UniqueKeyOf<D> = {
  readonly [Name in keyof InputOf<D> as Name extends "id" ? never : Name]?: InputOf<D>[Name] & KeyValue;
} & { readonly [nested: `${string}.${string}`]: KeyValue };

/** The options of a write by a unique key. */
export interface KeyedOptions extends CallOptions {
  /** The ETag that the resource must have, or `*` for any. @default none is required */
  readonly ifMatch?: string;
}

/** The options of a put by a unique key. */
export interface PutOptions extends KeyedOptions {
  /** Whether to create the resource, and never replace it. If it exists, throws ConflictError. @default false */
  readonly isNew?: boolean;
}

/** The resource of a collection that has the values of a unique key. */
export interface ByUniqueKey<D> {
  /**
   * Replaces the resource, or creates it if none has the key. The attributes have the values of the key. Throws ResultHiddenError if
   * it replaced the resource, but the caller cannot read it.
   */
  put(attributes: InputOf<D>, options?: PutOptions): Promise<ResourceOf<D>>;
  /** Changes a part of the resource, as `patch` of the collection. Throws NotFoundError if none has the key. */
  patch(
    changes: ChangesOf<D> | readonly JsonPatchOperation[],
    options?: KeyedOptions,
  ): Promise<ResourceOf<D>>;
  /** Changes attributes by operators, such as `{ views: { $increment: 1 } }`. Throws NotFoundError if none has the key. */
  update(operators: UpdateOf<D>, options?: KeyedOptions): Promise<ResourceOf<D>>;
  /** Deletes the resource. Throws NotFoundError if none has the key. */
  delete(options?: KeyedOptions): Promise<void>;
}

/** The key as a query string. */
export function queryOf(key: object): string {
  return new URLSearchParams(Object.entries(key).map(([name, value]) => [name, String(value)])).toString();
}

/** The writes by a unique key in the collection at a path. */
export function byUniqueKey<D>(send: Send, collection: string, key: UniqueKeyOf<D>): ByUniqueKey<D> {
  const path = `${collection}?${queryOf(key)}`;
  const write = async (
    call: CallOptions & Pick<Call, "method" | "content">,
    headers: Record<string, string>,
  ): Promise<ResourceOf<D>> => {
    const keyed = { "Idempotency-Key": newKey(), ...headers };
    const answer = await send({ ...call, path, headers: keyed, isRepeatable: true }).catch(throwConflict);
    const location = answer.headers.get("location") ?? undefined;
    if (answer.body === undefined && location === undefined) throw new ResultHiddenError("write");
    const resource = (answer.body ?? { id: idAt(location) }) as ResourceOf<D> & { id: string | number };
    const own = `${collection}/${encodeURIComponent(resource.id)}`;
    return withTag(resource, own, { etag: answer.headers.get("etag"), isWhole: answer.body !== undefined });
  };
  const patch = (content: unknown, type: string, { ifMatch, ...options }: KeyedOptions = {}) =>
    write({ ...options, method: "PATCH", content }, { "Content-Type": type, ...precondition(ifMatch) });
  return {
    put: (content, { ifMatch, isNew = false, ...options } = {}) =>
      write(
        { ...options, method: "PUT", content },
        { ...precondition(ifMatch), ...(isNew ? { "If-None-Match": "*" } : {}) },
      ),
    patch: (changes, options) =>
      patch(
        changes,
        Array.isArray(changes) ? "application/json-patch+json" : "application/merge-patch+json",
        options,
      ),
    update: (operators, options) => patch(operators, updateType, options),
    async delete({ ifMatch, ...options } = {}) {
      const isRepeatable = ifMatch !== undefined && ifMatch !== "*";
      try {
        await send({ ...options, method: "DELETE", path, headers: precondition(ifMatch), isRepeatable });
      } catch (error) {
        if (error instanceof ProblemError && error.status === 404 && error.afterLostAnswer) return;
        throwConflict(error);
      }
    },
  };
}

/** A resource that is not as the caller requires is a conflict. */
function throwConflict(error: unknown): never {
  if (!(error instanceof ProblemError) || error.code !== "PRECONDITION_FAILED") throw error;
  throw new ConflictError(error, undefined);
}
