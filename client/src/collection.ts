/** The client of one collection: reads its resources as `collection-reads.ts` does, and writes them. */
import type { BulkChange, BulkResult, RestoreMany } from "./bulk-types.ts";
import { type ByUniqueKey, byUniqueKey, type UniqueKeyOf } from "./by-key.ts";
import { CollectionReads } from "./collection-reads.ts";
import { ConflictError, HoldfastError, ProblemError, ResultHiddenError } from "./errors.ts";
import type { ImportReport } from "./import-report.ts";
import { type CreateOptions, idAt, keyedPost, newKey } from "./posts.ts";
import type {
  ChangesOf,
  ChosenId,
  IdOf,
  ImportedOf,
  InputOf,
  JsonPatchOperation,
  ReplacementOf,
  ResourceOf,
  ResourceOrId,
  UpdateOf,
} from "./resource-types.ts";
import { precondition, tagOf, wholeTag, withTag } from "./tags.ts";
import { type BegunImport, beginTask, type Task } from "./tasks.ts";
import { type Answer, type Body, type Call, type CallOptions, updateType } from "./transport.ts";

/** The options of a write. */
export interface WriteOptions extends CallOptions {
  /** The ETag that the resource must have, or `*` for any. @default the ETag with which it was read */
  readonly ifMatch?: string;
}

/** The options of an update by a function. */
export interface UpdateOptions extends CallOptions {
  /** The most attempts while other clients change the same resource. @default 5 */
  readonly attempts?: number;
}

/** The media type of an import that is given as text, bytes or a stream. */
export type ImportType = "application/x-ndjson" | "application/json" | "text/csv";

/** How to import. */
export interface ImportOptions extends CallOptions {
  /** Whether to check everything without writing. @default false */
  readonly dryRun?: boolean;
  /** Whether to import the valid resources even if others are invalid. @default false */
  readonly skipInvalid?: boolean;
  /** Import the resources without the hooks of the collection. @default false */
  readonly skipHooks?: boolean;
  /**
   * The attributes of a unique key: a resource then changes the one that has its values, and keeps the attributes that it leaves out.
   * @default all resources are new
   */
  readonly on?: string | readonly string[];
  /** The member that is the id of each resource, such as `_id`; `none`: each resource gets a new id. @default "id" */
  readonly id?: string;
  /**
   * How ids that do not fit the collection are replaced. References to these resources are rewritten. `keep-in:` names the attribute that
   * keeps the old id. @default such resources are invalid
   */
  readonly ids?: "replace" | `keep-in:${string}`;
  /** The time for the import, in milliseconds. @default 600000 */
  readonly timeoutMs?: number;
}

/** A conversion of cells that other programs have written. */
export type ImportConversion = "booleans" | "numbers" | "times" | "arrays" | "nulls";

/** How to import text, bytes or a stream. */
export interface ImportTextOptions extends ImportOptions {
  readonly type: ImportType;
  /** The character between the cells of CSV, or `tab`. @default "," */
  readonly delimiter?: string;
  /** What cells are whose types no schema declares: texts, or with `infer` what all cells of their column are. @default "text" */
  readonly types?: "text" | "infer";
  /** What to convert in cells of other programs, such as `["booleans", "times"]`. @default nothing */
  readonly convert?: ImportConversion | readonly ImportConversion[];
  /** The time zone of converted times without an offset, such as `Europe/Berlin`. @default they are refused */
  readonly timezone?: string;
  /** Where the list is in one JSON object: names with dots between them, or "." for the object itself. @default the text is the list */
  readonly at?: string;
}

/** The resources of one collection. `D` is its declaration, and `All` are the declarations of all collections. */
export class CollectionClient<
  D,
  Name extends string = string,
  All = Record<string, object>,
> extends CollectionReads<D, Name, All> {
  /**
   * Creates a resource. Retries of the request never create a second one. If the caller cannot read the resource, the result has
   * only its `id`, also for `replace` and `patch`. With an `id` that is taken, throws ConflictError.
   */
  async create(
    attributes: InputOf<D>,
    { id: chosen, idempotencyKey, ...options }: CreateOptions & ChosenId<D> = {},
  ): Promise<ResourceOf<D>> {
    const call = keyedPost({ ...options, path: this.path, content: attributes }, idempotencyKey);
    try {
      if (chosen === undefined) return this.#read(await this.send(call));
      const id = chosen as IdOf<D>;
      const headers = { ...call.headers, "If-None-Match": "*" };
      const content = { ...(attributes as object), id };
      return await this.#write(
        { ...call, method: "PUT", path: this.pathOf(id), headers, content },
        id,
        options,
      );
    } catch (error) {
      const made =
        error instanceof ProblemError && error.code === "ANSWER_NOT_KEPT" && error.headers.get("location");
      if (!made) throw error;
      const id = (chosen ?? idAt(made)) as IdOf<D>;
      return (await this.get(id, options).catch((failure: unknown) => {
        if (failure instanceof ProblemError && [401, 403, 404].includes(failure.status)) return { id };
        throw failure;
      })) as ResourceOf<D>;
    }
  }

  /**
   * Replaces a resource that was read before. Throws ConflictError if it has changed since then. Throws HoldfastError without a
   * request if its ETag is not known. A resource from a list or from JSON text has no ETag, so it needs `ifMatch`.
   */
  async replace(
    resource: ReplacementOf<D>,
    { ifMatch, ...options }: WriteOptions = {},
  ): Promise<ResourceOf<D>> {
    const path = this.pathOf(resource);
    const etag = ifMatch ?? wholeTag(resource, path);
    const headers = precondition(etag);
    const isRepeatable = etag !== "*";
    try {
      const call: Call = { ...options, method: "PUT", path, headers, content: resource, isRepeatable };
      return this.#read(await this.send(call), resource.id);
    } catch (error) {
      const conflict = await this.#conflictOf(error, path, options);
      const { current } = conflict;
      // The first attempt took effect, but its response was lost.
      if (conflict.afterLostAnswer && current !== undefined && isSameState(current, resource)) return current;
      throw conflict;
    }
  }

  /** The resource that has the values of a unique key: `by({ email: "ada@x.org" }).put({ … })`. Reads use a filter instead. */
  by(key: UniqueKeyOf<D>): ByUniqueKey<D> {
    return byUniqueKey<D>((call) => this.send(call), this.path, key);
  }

  /** Changes a part of a resource by a merge patch, in which null removes an attribute, or by a JSON Patch. */
  async patch(
    target: ResourceOrId<D>,
    changes: ChangesOf<D> | readonly JsonPatchOperation[],
    options: WriteOptions = {},
  ): Promise<ResourceOf<D>> {
    const type = Array.isArray(changes) ? "application/json-patch+json" : "application/merge-patch+json";
    return this.#patch(target, { type, content: changes }, options);
  }

  /**
   * Changes or deletes all resources that match a filter, or none of them. Throws ResultHiddenError if the change took effect,
   * but the caller cannot see the result.
   */
  async bulk(change: BulkChange<D>, options: CallOptions = {}): Promise<BulkResult<D>> {
    const { body } = await this.send(keyedPost({ ...options, path: `${this.path}/_bulk`, content: change }));
    if (body === undefined) throw new ResultHiddenError("bulk change");
    return body as BulkResult<D>;
  }

  /** Begins a task that changes or deletes all resources that match a filter: up to 2,000,000, but not in one commit. */
  bulkTask(change: BulkChange<D>, options: CallOptions = {}): Promise<Task> {
    return beginTask(this.send, keyedPost({ ...options, path: `${this.path}/_bulk`, content: change }));
  }

  /**
   * Restores all deleted resources that match a filter, each to its last version, or none of them. Throws ResultHiddenError if
   * they are restored, but the caller cannot see the result.
   */
  async restoreDeleted(which: RestoreMany<D>, options: CallOptions = {}): Promise<BulkResult<D>> {
    const path = `${this.path}/_deleted/_restore`;
    const { body } = await this.send(keyedPost({ ...options, path, content: which }));
    if (body === undefined) throw new ResultHiddenError("restore");
    return body as BulkResult<D>;
  }

  /** Begins a task that restores all deleted resources that match a filter: up to 2,000,000, but not in one commit. */
  restoreDeletedTask(which: RestoreMany<D>, options: CallOptions = {}): Promise<Task> {
    const path = `${this.path}/_deleted/_restore`;
    return beginTask(this.send, keyedPost({ ...options, path, content: which }));
  }

  /**
   * Imports an array of resources, or text in NDJSON, JSON or CSV, also as a stream. Creates all resources with their ids, or none
   * of them: at most 2,000. Only administrators can import. Throws ProblemError. Its `problem.report` says which resources are invalid.
   */
  import(resources: readonly ImportedOf<D>[], options?: ImportOptions): Promise<ImportReport>;
  import(body: Body, options: ImportTextOptions): Promise<ImportReport>;
  async import(
    given: readonly ImportedOf<D>[] | Body,
    options: ImportOptions & Partial<ImportTextOptions> = {},
  ): Promise<ImportReport> {
    return (await this.send(this.#importCall(given, options))).body as ImportReport;
  }

  /**
   * Begins a task that imports resources as `import` does, also more, but not in one commit: other writes go on. Throws
   * ProblemError if a resource is invalid, and then no task begins. With `on` or `dryRun`, the task finds the invalid ones.
   * `importReportOf` makes the report when the task has ended.
   */
  importTask(resources: readonly ImportedOf<D>[], options?: ImportOptions): Promise<BegunImport>;
  importTask(body: Body, options: ImportTextOptions): Promise<BegunImport>;
  importTask(
    given: readonly ImportedOf<D>[] | Body,
    options: ImportOptions & Partial<ImportTextOptions> = {},
  ): Promise<BegunImport> {
    return beginTask(this.send, {
      ...this.#importCall(given, options),
      isRepeatable: false,
    }) as Promise<BegunImport>;
  }

  #importCall(
    given: readonly ImportedOf<D>[] | Body,
    {
      type = "application/json",
      timeoutMs = 600_000,
      signal,
      ...parameters
    }: ImportOptions & Partial<ImportTextOptions>,
  ): Call {
    const asked = Object.entries(parameters)
      .filter(([, value]) => value !== undefined && value !== false)
      .map(([name, value]) => [name, String(value)]);
    const query = new URLSearchParams(asked).toString();
    return {
      ...(signal && { signal }),
      timeoutMs,
      method: "POST",
      path: `${this.path}/_import${query === "" ? "" : `?${query}`}`,
      headers: { "Content-Type": type },
      body: isBody(given) ? given : JSON.stringify(given),
      isRepeatable: parameters.dryRun === true,
    };
  }

  /** Deletes a resource. Throws NotFoundError if it does not exist. */
  async delete(target: ResourceOrId<D>, { ifMatch, ...options }: WriteOptions = {}): Promise<void> {
    const path = this.pathOf(target);
    const etag = ifMatch ?? tagOf(target, path)?.etag;
    const isRepeatable = etag !== undefined && etag !== "*";
    try {
      await this.send({ ...options, method: "DELETE", path, headers: precondition(etag), isRepeatable });
    } catch (error) {
      if (error instanceof ProblemError && error.status === 404 && error.afterLostAnswer) return;
      throw await this.#conflictOf(error, path, options);
    }
  }

  /**
   * Makes a resource as it was at an earlier version, with a new version number. Also brings back a deleted resource. Throws
   * ConflictError if the resource has changed since it was read, and NotFoundError if the service does not have the version.
   */
  async restore(
    target: ResourceOrId<D>,
    version: number,
    { ifMatch, ...options }: WriteOptions = {},
  ): Promise<ResourceOf<D>> {
    const path = this.pathOf(target);
    const call = keyedPost({ ...options, path: `${path}/_restore`, content: { version } });
    const headers = { ...call.headers, ...precondition(ifMatch ?? tagOf(target, path)?.etag) };
    try {
      return this.#read(
        await this.send({ ...call, headers }),
        typeof target === "object" ? target.id : target,
      );
    } catch (error) {
      throw await this.#conflictOf(error, path, options);
    }
  }

  /** Changes attributes by operators, such as `{ views: { $increment: 1 } }`. The service applies them to the current values. */
  update(target: ResourceOrId<D>, operators: UpdateOf<D>, options?: WriteOptions): Promise<ResourceOf<D>>;
  /** Reads a resource, and replaces it with the result of the function. If the resource has changed in between, starts again. */
  update(
    id: IdOf<D>,
    change: (current: ResourceOf<D>) => ReplacementOf<D> | Promise<ReplacementOf<D>>,
    options?: UpdateOptions,
  ): Promise<ResourceOf<D>>;
  async update(
    target: ResourceOrId<D>,
    change: UpdateOf<D> | ((current: ResourceOf<D>) => ReplacementOf<D> | Promise<ReplacementOf<D>>),
    options: WriteOptions & UpdateOptions = {},
  ): Promise<ResourceOf<D>> {
    if (typeof change !== "function")
      return this.#patch(target, { type: updateType, content: change }, options);
    return this.#replaceCurrent(target as IdOf<D>, change, options);
  }

  async #replaceCurrent(
    id: IdOf<D>,
    change: (current: ResourceOf<D>) => ReplacementOf<D> | Promise<ReplacementOf<D>>,
    { attempts = 5, ...options }: UpdateOptions,
  ): Promise<ResourceOf<D>> {
    let current = (await this.get(id, options)) as ResourceOf<D>;
    for (let attempt = 1; ; attempt++) {
      const ifMatch = wholeTag(current, this.pathOf(id));
      try {
        return await this.replace({ ...(await change(current)), id }, { ...options, ifMatch });
      } catch (error) {
        if (!(error instanceof ConflictError) || attempt >= attempts || error.current === undefined)
          throw error;
        current = error.current as ResourceOf<D>;
      }
    }
  }

  #patch(
    target: ResourceOrId<D>,
    { type, content }: { type: string; content: unknown },
    { ifMatch, ...options }: WriteOptions,
  ): Promise<ResourceOf<D>> {
    const path = this.pathOf(target);
    const headers = {
      "Content-Type": type,
      "Idempotency-Key": newKey(),
      ...precondition(ifMatch ?? tagOf(target, path)?.etag),
    };
    const call: Call = { ...options, method: "PATCH", path, headers, content, isRepeatable: true };
    return this.#write(call, target, options);
  }

  async #write(call: Call, target: ResourceOrId<D>, options: CallOptions): Promise<ResourceOf<D>> {
    try {
      return this.#read(await this.send(call), typeof target === "object" ? target.id : target);
    } catch (error) {
      throw await this.#conflictOf(error, call.path, options);
    }
  }

  /** A ConflictError with the current resource, if a precondition of the request was false. Throws any other error. */
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

  /** The resource in a response, with its ETag; only its id if the response has no body, because the caller cannot read it. */
  #read({ body, headers }: Answer, id?: IdOf<D>): ResourceOf<D> {
    const resource = (body ?? { id: id ?? idAt(headers.get("location") ?? undefined) }) as ResourceOf<D> & {
      id: IdOf<D>;
    };
    const isWhole = body !== undefined;
    return withTag(resource, this.pathOf(resource.id), { etag: headers.get("etag"), isWhole });
  }
}

function isBody<T>(given: readonly T[] | Body): given is Body {
  return !Array.isArray(given);
}

/** Whether a resource has the state that a replace would give it. Timestamps from the service can differ. */
function isSameState(current: object, wanted: object): boolean {
  const [a, b] = [current, wanted].map((resource) => {
    const { createdAt: _, updatedAt: __, ...attributes } = resource as Record<string, unknown>;
    return attributes;
  });
  return isSame(a, b);
}

/** Whether two JSON values are equal. The order of members does not matter. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = definedNames(a);
  return (
    names.length === definedNames(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(memberOf(a, name), memberOf(b, name)))
  );
}

/** The names of members that JSON includes. It leaves out `undefined`. */
function definedNames(value: object): string[] {
  return Object.keys(value).filter((name) => memberOf(value, name) !== undefined);
}

function memberOf(value: object, name: string): unknown {
  return (value as Record<string, unknown>)[name];
}
