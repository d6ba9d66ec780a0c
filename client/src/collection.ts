/** One collection: its resources are listed, read, created, replaced, patched and deleted. */
import { ConflictError, HoldfastError, ProblemError } from "./errors.ts";
import { EventStream } from "./event-stream.ts";
import type { EventQuery, FeedEvent } from "./event-types.ts";
import { newKey } from "./keys.ts";
import { type AnyQuery, ResourceList } from "./list.ts";
import type { ListQuery } from "./list-types.ts";
import { type AnyLiveQuery, LiveList, type LiveQuery } from "./live.ts";
import type {
  ChangesOf,
  IdOf,
  InputOf,
  JsonPatchOperation,
  ReplacementOf,
  ResourceOf,
} from "./resource-types.ts";
import { isSameState } from "./same.ts";
import { tagOf, withTag } from "./tags.ts";
import type { Answer, Call, CallOptions, Send } from "./transport.ts";

/** What a write may say. */
export interface WriteOptions extends CallOptions {
  /** The ETag that the resource must have, or `*` for any. @default that which it was read with */
  readonly ifMatch?: string;
}

/** What a create may say. */
export interface CreateOptions extends CallOptions {
  /** Creates with the same key have one effect between them. @default a new one */
  readonly idempotencyKey?: string;
}

/** What an update may say. */
export interface UpdateOptions extends CallOptions {
  /** How often it is tried while others change the same resource. @default 5 */
  readonly attempts?: number;
}

/** Which resource: its id, or the resource as it was read, which then must not have changed since. */
export type Target<D> = IdOf<D> | { readonly id: IdOf<D> };

type Keys<D> = keyof ResourceOf<D> & string;

/** A resource with the chosen attributes. */
type Chosen<D, F extends Keys<D>> = Pick<ResourceOf<D>, F | ("id" & Keys<D>)> & { readonly id: IdOf<D> };

/** The resources of one collection. `D` is its declaration. */
export class CollectionClient<D, Name extends string = string> {
  readonly #send: Send;
  readonly #path: string;

  constructor(send: Send, name: string) {
    this.#send = send;
    this.#path = `/${encodeURIComponent(name)}`;
  }

  /** The resources that are asked for, for `for await`, by pages or in one array. */
  list<const F extends Keys<D> = Keys<D>>(
    query: ListQuery<ResourceOf<D>, F> & CallOptions = {},
  ): ResourceList<Pick<ResourceOf<D>, F | ("id" & Keys<D>)>> {
    return new ResourceList(this.#send, this.#path, query as AnyQuery & CallOptions);
  }

  /** The changes of the resources, as they happen. */
  events<const F extends Keys<D> = Keys<D>>({
    filter,
    fields,
    ...options
  }: EventQuery<ResourceOf<D>, F> = {}): EventStream<FeedEvent<Name, Chosen<D, F>>> {
    const query = { filter, fields } as AnyQuery;
    return new EventStream({ send: this.#send, path: `${this.#path}/_events`, query }, options);
  }

  /** The list, kept equal to the list of the service: an array now, and another one after each change. */
  live<const F extends Keys<D> = Keys<D>>(query: LiveQuery<ResourceOf<D>, F> = {}): LiveList<Chosen<D, F>> {
    return new LiveList(this.#send, this.#path, query as AnyLiveQuery);
  }

  /** Reads a resource. Throws NotFoundError where there is none. */
  async get<const F extends Keys<D> = Keys<D>>(
    id: IdOf<D>,
    { fields, ...options }: CallOptions & { readonly fields?: readonly F[] } = {},
  ): Promise<Pick<ResourceOf<D>, F | ("id" & Keys<D>)>> {
    const path = this.#pathOf(id);
    const query = fields === undefined ? "" : `?${new URLSearchParams({ fields: fields.join(",") })}`;
    const answer = await this.#send({
      ...options,
      method: "GET",
      path: `${path}${query}`,
      isRepeatable: true,
    });
    return withTag(answer.body as ResourceOf<D>, path, {
      etag: answer.headers.get("etag"),
      isWhole: fields === undefined,
    });
  }

  /** Creates a resource, once, however often the request must be sent. */
  async create(
    attributes: InputOf<D>,
    { idempotencyKey = newKey(), ...options }: CreateOptions = {},
  ): Promise<ResourceOf<D>> {
    const headers = { "Idempotency-Key": idempotencyKey };
    try {
      const call: Call = {
        ...options,
        method: "POST",
        path: this.#path,
        headers,
        content: attributes,
        isRepeatable: true,
      };
      return this.#read(await this.#send(call));
    } catch (error) {
      const made =
        error instanceof ProblemError && error.code === "ANSWER_NOT_KEPT" && error.headers.get("location");
      if (!made) throw error;
      return (await this.get(
        decodeURIComponent(made.slice(made.lastIndexOf("/") + 1)) as IdOf<D>,
        options,
      )) as ResourceOf<D>;
    }
  }

  /**
   * Replaces a resource that was read. Throws ConflictError where it has changed since, and an error before anything is
   * sent where no ETag is known: a resource from a list, or one that went through JSON, needs `ifMatch`.
   */
  async replace(
    resource: ReplacementOf<D>,
    { ifMatch, ...options }: WriteOptions = {},
  ): Promise<ResourceOf<D>> {
    const path = this.#pathOf(resource);
    const etag = ifMatch ?? wholeTag(resource, path);
    const headers = { "If-Match": etag };
    const call: Call = {
      ...options,
      method: "PUT",
      path,
      headers,
      content: resource,
      isRepeatable: etag !== "*",
    };
    try {
      return this.#read(await this.#send(call));
    } catch (error) {
      const conflict = await this.#conflictOf(error, path, options);
      const { current } = conflict;
      // The answer to the first try was lost, and the second found what the first had done.
      if (conflict.afterLostAnswer && current !== undefined && isSameState(current, resource)) return current;
      throw conflict;
    }
  }

  /** Changes a part of a resource: by a merge patch, in which null removes, or by the operations of a JSON Patch. */
  async patch(
    target: Target<D>,
    changes: ChangesOf<D> | readonly JsonPatchOperation[],
    { ifMatch, ...options }: WriteOptions = {},
  ): Promise<ResourceOf<D>> {
    const path = this.#pathOf(target);
    const type = Array.isArray(changes) ? "application/json-patch+json" : "application/merge-patch+json";
    const headers = {
      "Content-Type": type,
      "Idempotency-Key": newKey(),
      ...precondition(ifMatch ?? tagOf(target, path)?.etag),
    };
    return this.#write(
      { ...options, method: "PATCH", path, headers, content: changes, isRepeatable: true },
      options,
    );
  }

  /** Deletes a resource. Throws NotFoundError where there is none. */
  async delete(target: Target<D>, { ifMatch, ...options }: WriteOptions = {}): Promise<void> {
    const path = this.#pathOf(target);
    const etag = ifMatch ?? tagOf(target, path)?.etag;
    const isRepeatable = etag !== undefined && etag !== "*";
    try {
      await this.#send({ ...options, method: "DELETE", path, headers: precondition(etag), isRepeatable });
    } catch (error) {
      if (error instanceof ProblemError && error.status === 404 && error.afterLostAnswer) return;
      throw await this.#conflictOf(error, path, options);
    }
  }

  /** Reads a resource, and replaces it by what the function makes of it; anew whenever somebody else was quicker. */
  async update(
    id: IdOf<D>,
    change: (current: ResourceOf<D>) => ReplacementOf<D> | Promise<ReplacementOf<D>>,
    { attempts = 5, ...options }: UpdateOptions = {},
  ): Promise<ResourceOf<D>> {
    let current = (await this.get(id, options)) as ResourceOf<D>;
    for (let attempt = 1; ; attempt++) {
      const ifMatch = wholeTag(current, this.#pathOf(id));
      try {
        return await this.replace({ ...(await change(current)), id }, { ...options, ifMatch });
      } catch (error) {
        if (!(error instanceof ConflictError) || attempt >= attempts || error.current === undefined)
          throw error;
        current = error.current as ResourceOf<D>;
      }
    }
  }

  async #write(call: Call, options: CallOptions): Promise<ResourceOf<D>> {
    try {
      return this.#read(await this.#send(call));
    } catch (error) {
      throw await this.#conflictOf(error, call.path, options);
    }
  }

  /** The error as it is, unless a precondition was false: then with the resource as it is now. */
  async #conflictOf(
    error: unknown,
    path: string,
    options: CallOptions,
  ): Promise<ConflictError<ResourceOf<D>>> {
    if (!(error instanceof ProblemError) || error.code !== "PRECONDITION_FAILED") throw error;
    const id = decodeURIComponent(path.slice(path.lastIndexOf("/") + 1)) as IdOf<D>;
    const current = await this.get(id, options).catch((failure: unknown) => {
      if (failure instanceof HoldfastError) return undefined;
      throw failure;
    });
    return new ConflictError(error, current as ResourceOf<D> | undefined);
  }

  /** The resource in an answer, with its ETag. */
  #read({ body, headers }: Answer): ResourceOf<D> {
    const resource = body as ResourceOf<D> & { id: IdOf<D> };
    return withTag(resource, this.#pathOf(resource.id), { etag: headers.get("etag") });
  }

  #pathOf(target: Target<D>): string {
    const id = typeof target === "object" ? target.id : target;
    return `${this.#path}/${encodeURIComponent(id)}`;
  }
}

function precondition(etag: string | undefined): Record<string, string> {
  return etag === undefined ? {} : { "If-Match": etag };
}

/** Throws where the ETag is not known, or what was read is not all there is. */
function wholeTag(resource: unknown, path: string): string {
  const tag = tagOf(resource, path);
  if (tag === undefined)
    throw new HoldfastError(
      "The version of this resource is unknown. Pass a resource that get, create, replace or patch returned (or a spread of it), pass { ifMatch } with its ETag, or use update.",
    );
  if (!tag.isWhole)
    throw new HoldfastError(
      "This resource was read with fields, so replacing it would remove its other attributes. Use patch.",
    );
  return tag.etag;
}
