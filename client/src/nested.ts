/** The client of the resources that refer to one resource: lists and creates them. */

import { type AnyQuery, ResourceList } from "./list.ts";
import type { Chosen, FieldName, ListQuery } from "./list-types.ts";
import { type CreateOptions, keyedPost } from "./posts.ts";
import type {
  Embedded,
  Embeds,
  NestedInput,
  RelatedConditions,
  RelatedName,
  RelatedPath,
  Strict,
} from "./relation-types.ts";
import type { ResourceOf } from "./resource-types.ts";
import { withTag } from "./tags.ts";
import type { CallOptions, Send } from "./transport.ts";

type Declaration<All, Name> = Name extends keyof All ? All[Name] : object;

/** A resource that refers to one of the collection `Name`, by the relation `R`. */
type Referring<All, Name, R> = ResourceOf<Declaration<All, RelatedName<All, Name, R>>>;

type Keys<T> = keyof T & string;

/** The resources below one resource of the collection `Name`, by the relation `R`. */
export class NestedClient<All, Name, R> {
  readonly #send: Send;
  readonly #path: string;

  constructor(send: Send, path: string) {
    this.#send = send;
    this.#path = path;
  }

  /** A list of these resources, with the same options as the list of their collection. */
  list<
    const F extends FieldName<Referring<All, Name, R>> = Keys<Referring<All, Name, R>>,
    const E extends Embeds<All, RelatedName<All, Name, R>> = Record<never, never>,
  >(
    query: ListQuery<
      Referring<All, Name, R>,
      F,
      RelatedConditions<All, RelatedName<All, Name, R>>,
      RelatedPath<All, RelatedName<All, Name, R>>
    > &
      CallOptions & { readonly embed?: E & Strict<All, RelatedName<All, Name, R>, E> } = {},
  ): ResourceList<Chosen<Referring<All, Name, R>, F> & Embedded<All, RelatedName<All, Name, R>, E>> {
    return new ResourceList(this.#send, this.#path, query as AnyQuery & CallOptions);
  }

  /** Creates a resource that refers to this one. Retries of the request never create a second one. */
  async create(
    attributes: NestedInput<All, Name, R>,
    { idempotencyKey, ...options }: CreateOptions = {},
  ): Promise<Referring<All, Name, R>> {
    const call = keyedPost({ ...options, path: this.#path, content: attributes }, idempotencyKey);
    const { body, headers } = await this.#send(call);
    const [id = "", collection = ""] = (headers.get("location") ?? "").split("/").reverse();
    // A caller who cannot read the resource gets only its id.
    const resource = (body ?? { id: decodeURIComponent(id) }) as Referring<All, Name, R>;
    return withTag(resource, `/${collection}/${id}`, {
      etag: headers.get("etag"),
      isWhole: body !== undefined,
    });
  }
}
