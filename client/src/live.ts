/** Live lists: arrays that stay equal to a list of the service. */
import { abortable } from "./abortable.ts";
import { HoldfastError, ProblemError } from "./errors.ts";
import { EventStream, type SentEvent, toEvent } from "./event-stream.ts";
import type { ChangeEvent, FeedEvent, FeedFilter } from "./event-types.ts";
import { type AnyQuery, linkedParameters, type Page, ResourceList, toQueryString } from "./list.ts";
import type { SortKey } from "./list-types.ts";
import { type Item, LiveItems, spare } from "./live-items.ts";
import { compareBy } from "./order.ts";
import type { CallOptions, Send } from "./transport.ts";

/** What is asked of a live list. */
export interface LiveQuery<T, F extends keyof T> extends CallOptions {
  /** Feeds have no filters by id. */
  readonly filter?: FeedFilter<T>;
  /** Attributes, each with `-` in front where it is to descend. With `fields`, only these. @default id */
  readonly sort?: SortOf<T, NoInfer<F>> | readonly SortOf<T, NoInfer<F>>[];
  /** The maximum number of resources: the first ones in the order of `sort`. @default all */
  readonly limit?: number;
  /** The attributes to read, beside `id`. @default all */
  readonly fields?: readonly F[];
  /** A connection is considered dead after so long without a byte, in milliseconds. @default 45000 */
  readonly idleTimeoutMs?: number;
}

/** A key to sort by, of the attributes that are read. */
type SortOf<T, F extends keyof T> = SortKey<Pick<T, F | ("id" & keyof T)>>;

/** What a live list is asked with, for resources of any attributes. */
export type AnyLiveQuery = LiveQuery<Record<string, unknown>, string>;

const maxPage = 1_000;

/**
 * The list as it is now, and again after each change, for `for await`. Throws what lists and feeds throw; a service that
 * cannot be reached ends only the first list.
 */
export class LiveList<T extends Item> implements AsyncIterable<readonly T[]> {
  readonly #send: Send;
  readonly #path: string;
  readonly #query: AnyLiveQuery;

  constructor(send: Send, path: string, query: AnyLiveQuery) {
    this.#send = send;
    this.#path = path;
    this.#query = query;
    requireSorted(query);
  }

  /** A new frozen array after each change. Changes that arrive while the loop is busy make one array. */
  [Symbol.asyncIterator](): AsyncGenerator<readonly T[], void, undefined> {
    return abortable(this.#query.signal, (signal) => this.#states(signal));
  }

  async *#states(signal: AbortSignal): AsyncGenerator<readonly T[], void, undefined> {
    for (let isFirst = true; ; isFirst = false) {
      const { timeoutMs } = this.#query;
      const common = { signal, isPatient: !isFirst, ...(timeoutMs !== undefined && { timeoutMs }) };
      const send: Send = (call) => this.#send({ ...call, ...common });
      const read = await this.#read(send);
      if (read !== undefined) yield* this.#follow(read, signal);
    }
  }

  /** The array after each change, until the list must be read again. */
  async *#follow(
    { items, position }: ReadList<T>,
    signal: AbortSignal,
  ): AsyncGenerator<readonly T[], void, undefined> {
    let { shown } = items;
    yield shown;
    const path = `${this.#path}/_events`;
    const source = { send: this.#send, path, query: this.#feedQuery(), isPatient: true };
    const stream = new EventStream<FeedEvent<string, T>>(source, { ...this.#query, since: position });
    for await (const { events } of stream.batches(signal)) {
      signal.throwIfAborted();
      for (const event of events) {
        if (event.type === "holdfast.resync") return;
        items.apply(event);
      }
      if (items.isShort) return;
      if (items.shown !== shown) {
        shown = items.shown;
        yield shown;
      }
    }
  }

  /** The list and its position. `undefined` if it must be read again, because the log no longer has the changes since then. */
  async #read(send: Send): Promise<ReadList<T> | undefined> {
    const { limit = Number.POSITIVE_INFINITY, sort = [] } = this.#query;
    const wanted = limit + spare;
    const query = { ...this.#feedQuery(), sort, limit: Math.min(wanted, maxPage) };
    const pages: Page<T>[] = [];
    let count = 0;
    for await (const page of new ResourceList<T>(send, this.#path, query).pages()) {
      pages.push(page);
      count += page.items.length;
      if (count >= wanted) break;
    }
    const listed = { items: pages.flatMap((page) => page.items), isWhole: count < wanted };
    const compare = compareBy(typeof sort === "string" ? sort.split(",") : sort);
    const items = new LiveItems(listed, { compare, limit });
    const position = pages[0]?.position ?? noFeed();
    const reached = pages.length === 1 ? position : await this.#catchUp(send, items, position);
    return reached === undefined || items.isShort ? undefined : { items, position: reached };
  }

  /**
   * The later pages of a list can have a later state than the first one. Applies the events since the first one, so that no
   * resource is shown in a state before its own. Returns the position after them, or `undefined` if the log no longer has
   * them.
   */
  async #catchUp(send: Send, items: LiveItems<T>, from: string): Promise<string | undefined> {
    for (let since = from; ; ) {
      const path = `${this.#path}/_events${toQueryString({ ...this.#feedQuery(), since, limit: maxPage })}`;
      try {
        const { body, headers } = await send({ method: "GET", path, isRepeatable: true });
        since = linkedParameters(headers.get("link"), "next")?.get("since") as string;
        const events = (body as SentEvent[]).map((event) => toEvent(event, since, this.#feedQuery()));
        for (const event of events) items.apply(event as ChangeEvent<string, T>);
        if (events.length < maxPage) return since;
      } catch (error) {
        if (error instanceof ProblemError && error.status === 410) return undefined;
        throw error;
      }
    }
  }

  #feedQuery(): AnyQuery {
    const { filter, fields } = this.#query;
    return { ...(filter && { filter: filter as AnyQuery["filter"] & object }), ...(fields && { fields }) };
  }
}

interface ReadList<T extends Item> {
  readonly items: LiveItems<T>;
  readonly position: string;
}

function noFeed(): never {
  throw new HoldfastError(
    "This list has no feed of changes: the service keeps no history, or the filter names an id or is too long. Use list.",
  );
}

/** Throws if the resources are read without an attribute that decides their order. */
function requireSorted({ sort = [], fields }: AnyLiveQuery): void {
  if (fields === undefined) return;
  const names = (typeof sort === "string" ? sort.split(",") : sort).map((key) => key.replace(/^[+-]/, ""));
  const missing = names.find((name) => name !== "id" && !fields.includes(name.split(".")[0] as string));
  if (missing !== undefined)
    throw new HoldfastError(
      `A live list needs the attributes that it is sorted by, but "fields" lacks ${JSON.stringify(missing)}. Add it.`,
    );
}
