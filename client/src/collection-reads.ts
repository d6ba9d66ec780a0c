/** The reads of one collection: lists, figures, events and single resources. */
import { EventStream } from "./event-stream.ts";
import type { EventQuery, FeedEvent } from "./event-types.ts";
import type { DateUnit, FigureGroup, FigureName, FigureOptions, GroupName } from "./figure-types.ts";
import { type AnyQuery, ResourceList, toQueryString } from "./list.ts";
import type { Chosen, FieldName, ListQuery, PageLimit } from "./list-types.ts";
import { type AnyLiveQuery, LiveList, type LiveQuery } from "./live.ts";
import { NestedClient } from "./nested.ts";
import type {
  Embedded,
  Embeds,
  InverseNames,
  RelatedConditions,
  RelatedPath,
  Singles,
  Strict,
} from "./relation-types.ts";
import type { DeletedOf, IdOf, ResourceOf, ResourceOrId } from "./resource-types.ts";
import { withTag } from "./tags.ts";
import type { CallOptions, Send } from "./transport.ts";

type Keys<D> = keyof ResourceOf<D> & string;

/** A resource with the chosen attributes. */
type ChosenOf<D, F> = Chosen<ResourceOf<D>, F> & { readonly id: IdOf<D> };

/** The chosen attributes of a resource, with the chosen related resources. */
type Read<D, F, All, Name, E> = Chosen<ResourceOf<D>, F> & Embedded<All, Name, E>;

/** Attributes of the resource, or of those that its references name. */
type Groups<D, All, Name> =
  | GroupName<ResourceOf<D>>
  | RelatedPath<All, Name>
  | `${RelatedPath<All, Name>}:${DateUnit}`;

/** One change of a resource. */
export interface ResourceChange {
  /** The version that the change made, as in the ETag. A delete makes a version too. */
  readonly version: number;
  /** A restore of a deleted resource is `created`. */
  readonly kind: "created" | "updated" | "deleted";
  /** When the service made the change. */
  readonly at: string;
  /** Changes that were made together have the same group. Other changes have no group. */
  readonly group?: string;
  /** The id of the task that made the change. */
  readonly task?: string;
  /** The caller who made the change. Missing if it is not known, or if you cannot see it. */
  readonly principal?: string;
}

/** An earlier state of a resource: that of a version, or that at a time. */
export type Past =
  | { readonly version?: number; readonly at?: never }
  | { readonly version?: never; readonly at?: Date | string | number };

/** The reads of one collection. `CollectionClient` adds the writes. */
export abstract class CollectionReads<D, Name extends string, All> {
  protected readonly send: Send;
  protected readonly path: string;

  constructor(send: Send, name: string) {
    this.send = send;
    this.path = `/${encodeURIComponent(name)}`;
  }

  /** A list of resources. Read it with `for await`, page by page or as one array. */
  list<
    const F extends FieldName<ResourceOf<D>> = Keys<D>,
    const E extends Embeds<All, Name> = Record<never, never>,
  >(
    query: ListQuery<ResourceOf<D>, F, RelatedConditions<All, Name>, RelatedPath<All, Name>> &
      CallOptions & { readonly embed?: E & Strict<All, Name, E> } = {},
  ): ResourceList<Read<D, F, All, Name, E>> {
    return new ResourceList(this.send, this.path, query as AnyQuery & CallOptions);
  }

  /** The figures of a list or of its groups. Read them with `for await`, page by page or as one array. */
  figures<const F extends FigureName<ResourceOf<D>>, const G extends Groups<D, All, Name> = never>(
    query: { readonly aggregate: readonly F[]; readonly group?: readonly G[] } & FigureOptions<
      ResourceOf<D>,
      NoInfer<F | G>,
      RelatedConditions<All, Name>
    > &
      CallOptions,
  ): ResourceList<FigureGroup<ResourceOf<D> & Singles<All, Name>, F, G>>;
  /** The distinct values of attributes, each with the number of its resources. */
  figures<const G extends Groups<D, All, Name>>(
    query: { readonly distinct: readonly G[] } & FigureOptions<
      ResourceOf<D>,
      "count" | NoInfer<G>,
      RelatedConditions<All, Name>
    > &
      CallOptions,
  ): ResourceList<FigureGroup<ResourceOf<D> & Singles<All, Name>, "count", G>>;
  figures(query: object): ResourceList<never> {
    return new ResourceList(this.send, this.path, query as AnyQuery & CallOptions);
  }

  /** The resources that refer to one resource, by the name of the relation: `users.nested(7, "articles")`. */
  nested<const R extends InverseNames<All, Name>>(id: IdOf<D>, relation: R): NestedClient<All, Name, R> {
    return new NestedClient(this.send, `${this.pathOf(id)}/${encodeURIComponent(relation)}`);
  }

  /** The changes of the resources as they happen. */
  events<const F extends FieldName<ResourceOf<D>> = Keys<D>>({
    filter,
    fields,
    ...options
  }: EventQuery<ResourceOf<D>, F> = {}): EventStream<FeedEvent<Name, ChosenOf<D, F>>> {
    const query = { filter, fields } as AnyQuery;
    return new EventStream({ send: this.send, path: `${this.path}/_events`, query }, options);
  }

  /** A live list: an array of the resources now, and a new array after each change. */
  live<const F extends FieldName<ResourceOf<D>> = Keys<D>>(
    query: LiveQuery<ResourceOf<D>, F> = {},
  ): LiveList<ChosenOf<D, F>> {
    return new LiveList(this.send, this.path, query as AnyLiveQuery);
  }

  /**
   * The changes of a resource, newest first, also after a delete. Read them with `for await`, page by page or as one array. Throws
   * NotFoundError if the service keeps no history of it.
   */
  history(
    id: IdOf<D>,
    options: CallOptions & { readonly limit?: PageLimit } = {},
  ): ResourceList<ResourceChange> {
    return new ResourceList(this.send, `${this.pathOf(id)}/_changes`, options);
  }

  /**
   * The deleted resources, each as it was, the latest delete first. The filter and the sort can name `_deleted.at`. Throws
   * NotFoundError if the service keeps no history.
   */
  deleted<const F extends FieldName<DeletedOf<D>> = keyof DeletedOf<D> & string>(
    query: ListQuery<DeletedOf<D>, F> & CallOptions & { readonly q?: never; readonly at?: never } = {},
  ): ResourceList<Chosen<DeletedOf<D>, F>> {
    return new ResourceList(this.send, `${this.path}/_deleted`, query as AnyQuery & CallOptions);
  }

  /**
   * Reads a resource. Throws NotFoundError if it does not exist. With `version` or `at`, reads an earlier state, also of a deleted
   * resource. It has the ETag of its version, so it cannot overwrite a later one.
   */
  async get<
    const F extends FieldName<ResourceOf<D>> = Keys<D>,
    const E extends Embeds<All, Name> = Record<never, never>,
  >(
    id: IdOf<D>,
    {
      fields,
      embed,
      version,
      at,
      ...options
    }: CallOptions &
      Past & { readonly fields?: readonly F[]; readonly embed?: E & Strict<All, Name, E> } = {},
  ): Promise<Read<D, F, All, Name, E>> {
    const path = this.pathOf(id);
    const query = toQueryString({ fields, embed, version, at } as AnyQuery);
    const answer = await this.send({
      ...options,
      method: "GET",
      path: `${path}${query}`,
      isRepeatable: true,
    });
    // The entity tag of embedded resources is not the one of the resource.
    if (embed !== undefined) return answer.body as Read<D, F, All, Name, E>;
    return withTag(answer.body as Read<D, F, All, Name, E>, path, {
      etag: answer.headers.get("etag"),
      isWhole: fields === undefined,
    });
  }

  /** The path of a resource. */
  protected pathOf(target: ResourceOrId<D>): string {
    const id = typeof target === "object" ? target.id : target;
    if (isPathName(String(id)))
      throw new TypeError(
        `${JSON.stringify(id)} is not an id of a resource: the service has another path there.`,
      );
    return `${this.path}/${encodeURIComponent(id)}`;
  }
}

/**
 * Texts that no resource has as its id. In a path, they mean the collection, or another path of it. An id often comes from a request, so it
 * must never lead there.
 */
const pathNames: ReadonlySet<string> = new Set([
  "",
  ".",
  "..",
  ..."_aggregate _batch _bulk _changes _deleted _deliveries _events _import _restore _retry _rotate _status _test _webhooks".split(
    " ",
  ),
]);

/** Whether a text cannot be the id of a resource. */
export function isPathName(id: string): boolean {
  return pathNames.has(id);
}
