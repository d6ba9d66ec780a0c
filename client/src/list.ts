/** Lists: the pages of one, one after the other. */
import type { ListQuery } from "./list-types.ts";
import type { Answer, CallOptions, Send } from "./transport.ts";

/** One page. */
export interface Page<T> {
  readonly items: T[];
  /** The number of resources on all pages, where the service tells it. */
  readonly total: number | undefined;
  /** The number of items that the page can have at most. The service lowers a `limit` that is too large. */
  readonly limit: number | undefined;
  /**
   * Where the events that follow the page begin, for `since`; `undefined` if the list has no feed. Nothing is missed if
   * the events are read from the position of the first page.
   */
  readonly position: string | undefined;
}

/** What a list is asked with, whatever its resources are. */
export type AnyQuery = ListQuery<Record<string, unknown>, string>;

/** A list that nobody has asked for yet: each walk through it asks anew. */
export class ResourceList<T> implements AsyncIterable<T> {
  readonly #send: Send;
  readonly #path: string;
  readonly #query: AnyQuery & CallOptions;

  constructor(send: Send, path: string, query: AnyQuery & CallOptions) {
    this.#send = send;
    this.#path = path;
    this.#query = query;
  }

  /** Every resource, each page fetched when it is come to. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }

  /** Every page. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let place: Place | undefined = {}; place !== undefined; ) {
      const answer = await this.#ask(place);
      yield toPage<T>(answer);
      place = nextPlace(answer.headers.get("link"));
    }
  }

  /** The first page. */
  async page(): Promise<Page<T>> {
    return toPage<T>(await this.#ask({}));
  }

  /** Every resource, in one array. */
  async all(): Promise<T[]> {
    const all: T[] = [];
    for await (const { items } of this.pages()) all.push(...items);
    return all;
  }

  #ask(place: Place): Promise<Answer> {
    const { signal, timeoutMs, offset, ...asked } = this.#query;
    const options = { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
    const query = { ...asked, ...(isStart(place) ? offset !== undefined && { offset } : place) };
    const target = `${this.#path}${toQueryString(query)}`;
    if (target.length <= maxTarget)
      return this.#send({ ...options, method: "GET", path: target, isRepeatable: true });
    return this.#send({
      ...options,
      method: "QUERY",
      path: this.#path,
      content: toContent(query),
      isRepeatable: true,
    });
  }
}

/** What is longer is asked by content. The service puts no longer URLs into its links either. */
const maxTarget = 3_500;

/** Where a page begins; nothing is the beginning of the list. */
interface Place {
  cursor?: string;
  offset?: number;
}

function isStart({ cursor, offset }: Place): boolean {
  return cursor === undefined && offset === undefined;
}

/** Of the link to the next page, what differs from the request for this one. */
function nextPlace(links: string | null): Place | undefined {
  const parameters = linkedParameters(links, "next");
  if (parameters === undefined) return undefined;
  const cursor = parameters.get("cursor");
  return cursor === null ? { offset: Number(parameters.get("offset")) } : { cursor };
}

/** The parameters of the link with a relation (RFC 8288); `undefined` if the response has no such link. */
export function linkedParameters(links: string | null, relation: string): URLSearchParams | undefined {
  const [, target] = new RegExp(`<([^>]*)>\\s*;\\s*rel="${relation}"`).exec(links ?? "") ?? [];
  return target === undefined ? undefined : new URLSearchParams(target.slice(target.indexOf("?") + 1));
}

function toPage<T>({ headers, body }: Answer): Page<T> {
  return {
    items: body as T[],
    total: numberIn(headers.get("x-total-count")),
    limit: numberIn(headers.get("page-limit")),
    position: linkedParameters(headers.get("link"), "monitor")?.get("since") ?? undefined,
  };
}

function numberIn(header: string | null): number | undefined {
  return header === null ? undefined : Number(header);
}

/** The query string of a list or feed, with its `?`; empty without parameters. */
export function toQueryString(query: AnyQuery & Place & { readonly since?: string }): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || (name === "sort" && value.length === 0)) continue;
    parameters.set(
      name,
      Array.isArray(value) ? value.join(",") : name === "filter" ? JSON.stringify(value) : textOf(value),
    );
  }
  return parameters.size === 0 ? "" : `?${parameters}`;
}

function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

function toContent({ sort, ...query }: AnyQuery & Place): unknown {
  return {
    ...query,
    ...(sort === undefined ? {} : { sort: typeof sort === "string" ? sort.split(",") : sort }),
  };
}
