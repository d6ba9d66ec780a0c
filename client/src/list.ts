/** Lists: reads their pages one after the other. */
import { embedTexts, fieldTexts, requireEmbeds } from "./embed-texts.ts";
import type { ListQuery } from "./list-types.ts";
import type { AnyEmbeds } from "./relation-types.ts";
import type { Answer, CallOptions, Send } from "./transport.ts";

/** One page. */
export interface Page<T> {
  readonly items: T[];
  /** The number of resources on all pages; `undefined` if the service did not count them. */
  readonly total: number | undefined;
  /** The most items of the page: what `limit` asked for, or its default. */
  readonly limit: number | undefined;
  /**
   * The position of the page, as a value of `since`; `undefined` if the list has no feed. Events from the position of the first
   * page include every change after the list.
   */
  readonly position: string | undefined;
}

/** The options of a list of any resources. */
export type AnyQuery = ListQuery<Record<string, unknown>, string> & { readonly embed?: AnyEmbeds };

function hasNames(embeds: AnyEmbeds | undefined): embeds is AnyEmbeds {
  if (embeds !== undefined) requireEmbeds(embeds);
  return embeds !== undefined && Object.keys(embeds).length > 0;
}

/** A list that is read on demand. Each loop over it sends new requests. */
export class ResourceList<T> implements AsyncIterable<T> {
  readonly #send: Send;
  readonly #path: string;
  readonly #query: AnyQuery & CallOptions;

  constructor(send: Send, path: string, query: AnyQuery & CallOptions) {
    this.#send = send;
    this.#path = path;
    this.#query = query;
  }

  /** Every resource. Each page is read when the loop reaches it. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }

  /** Every page, read when the loop reaches it. */
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
    if (target.length <= maxTarget || asked.query !== undefined)
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

/** The longest path of a GET, with its query string. A longer query is sent as a body. The links of the service are never longer. */
const maxTarget = 3_500;

/** Where a page starts. Without members, it is the start of the list. */
interface Place {
  cursor?: string;
  offset?: number;
}

function isStart({ cursor, offset }: Place): boolean {
  return cursor === undefined && offset === undefined;
}

/** The part of the link to the next page that differs from the request for this page. */
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
  const { embed, query: text, ...others } = query;
  const parameters = new URLSearchParams(text);
  if (hasNames(embed)) parameters.set("embed", embedTexts(embed).join(","));
  const fields = fieldTexts(query.fields, embed);
  for (const [name, value] of Object.entries({ ...others, fields })) {
    if (value === undefined || (name === "sort" && Array.isArray(value) && value.length === 0)) continue;
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

function toContent({ sort, embed, fields, ...query }: AnyQuery & Place): unknown {
  const embeds = hasNames(embed);
  const names = fieldTexts(fields, embed);
  return {
    ...query,
    ...(names && { fields: names }),
    ...(embeds && { embed: embedTexts(embed) }),
    ...(sort === undefined ? {} : { sort: typeof sort === "string" ? sort.split(",") : sort }),
  };
}
