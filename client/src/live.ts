/** Live lists: read a list, and follow its events, so that an array stays equal to the list of the service. */
import { abortable } from "./abortable.ts";
import { HoldfastError, ProblemError } from "./errors.ts";
import { EventStream, type SentEvent, toEvent } from "./event-stream.ts";
import type { ChangeEvent, FeedEvent, FeedFilter } from "./event-types.ts";
import { type AnyQuery, linkedParameters, type Page, ResourceList, toQueryString } from "./list.ts";
import type { Chosen, FieldName, SortKey } from "./list-types.ts";
import { type Item, LiveItems, spare } from "./live-items.ts";
import { compareBy, nameOfKey } from "./order.ts";
import type { CallOptions, Send } from "./transport.ts";

/** The options of a live list. */
export interface LiveQuery<T, F extends FieldName<T>> extends CallOptions {
  /** Feeds have no filters by id. */
  readonly filter?: FeedFilter<T>;
  /** Attributes to sort by. A `-` before a name means descending order. With `fields`, only these attributes. @default id */
  readonly sort?: SortOf<T, NoInfer<F>> | readonly SortOf<T, NoInfer<F>>[];
  /** The attributes in `sort` that the schema declares as exact numbers. Without them, the list compares their texts. */
  readonly exact?: readonly string[];
  /** The maximum number of resources: the first ones in the order of `sort`. @default all */
  readonly limit?: number;
  /** The attributes to read, in addition to `id`, or those to leave out, such as `-body`. @default all */
  readonly fields?: readonly F[];
  /** How long a connection can be silent before the list opens another one, in milliseconds. @default 45000 */
  readonly idleTimeoutMs?: number;
}

/** A sort key among the attributes that are read. */
type SortOf<T, F extends FieldName<T>> = SortKey<Chosen<T, F>>;

/** The options of a live list of any resources. */
export type AnyLiveQuery = LiveQuery<Record<string, unknown>, string>;

const options: Readonly<Record<keyof AnyLiveQuery, true>> = {
  filter: true,
  sort: true,
  exact: true,
  limit: true,
  fields: true,
  idleTimeoutMs: true,
  timeoutMs: true,
  signal: true,
};

/** A list that is longer is read in the largest pages. Until then, pages have their usual length, which every service has. */
const longList = 500;

/**
 * A live list, for `for await`: the array now, and a new array after each change. Throws what lists and feeds throw. A service
 * that cannot be reached is an error only before the first array.
 */
export class LiveList<T extends Item> implements AsyncIterable<readonly T[]> {
  readonly #send: Send;
  readonly #path: string;
  readonly #query: AnyLiveQuery;

  constructor(send: Send, path: string, query: AnyLiveQuery) {
    this.#send = send;
    this.#path = path;
    this.#query = query;
    requireKnown(query);
    requireSorted(query);
  }

  /** A new frozen array after each change. If several changes arrive while the loop is busy, they make one array. */
  [Symbol.asyncIterator](): AsyncGenerator<readonly T[], void, undefined> {
    return abortable(this.#query.signal, (signal) => this.#states(signal));
  }

  async *#states(signal: AbortSignal): AsyncGenerator<readonly T[], void, undefined> {
    let wasOther = false;
    for (let isFirst = true; ; isFirst = false) {
      const { timeoutMs } = this.#query;
      const common = { signal, isPatient: !isFirst, ...(timeoutMs !== undefined && { timeoutMs }) };
      let listedWith: Credential | undefined;
      const send: Send = async (call) => {
        const answer = await this.#send({ ...call, ...common });
        listedWith ??= { credential: answer.credential };
        return answer;
      };
      const read = await this.#read(send);
      if (read === undefined) continue;
      try {
        // Otherwise a new token for each request would make the list start again forever.
        yield* this.#follow(read, signal, wasOther ? undefined : listedWith);
        wasOther = false;
      } catch (error) {
        if (!(error instanceof OtherCredential)) throw error;
        wasOther = true;
      }
    }
  }

  /** The array after each change, until the list must be read again. Throws OtherCredential. */
  async *#follow(
    { items, position }: ReadList<T>,
    signal: AbortSignal,
    listedWith: Credential | undefined,
  ): AsyncGenerator<readonly T[], void, undefined> {
    let { shown } = items;
    yield shown;
    const path = `${this.#path}/_events`;
    const source = {
      send: withOneCredential(this.#send, listedWith),
      path,
      query: this.#feedQuery(),
      isPatient: true,
    };
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

  /** Reads the list and its position. `undefined` if it must be read again, because the log no longer has the changes since then. */
  async #read(send: Send): Promise<ReadList<T> | undefined> {
    const { limit = Number.POSITIVE_INFINITY, sort = [], exact } = this.#query;
    const wanted = limit + spare;
    const query = { ...this.#feedQuery(), sort, ...(wanted > longList && { limit: "max" as const }) };
    const pages: Page<T>[] = [];
    let count = 0;
    for await (const page of new ResourceList<T>(send, this.#path, query).pages()) {
      pages.push(page);
      count += page.items.length;
      if (count >= wanted) break;
    }
    const listed = { items: pages.flatMap((page) => page.items), isWhole: count < wanted };
    const compare = compareBy(typeof sort === "string" ? sort.split(",") : sort, exact);
    const items = new LiveItems(listed, { compare, limit });
    const position = pages[0]?.position ?? noFeed();
    const reached = pages.length === 1 ? position : await this.#catchUp(send, items, position);
    return reached === undefined || items.isShort ? undefined : { items, position: reached };
  }

  /**
   * Applies the events since the first page, because later pages can have a later state. Returns the position after these events,
   * or `undefined` if the log no longer has them.
   */
  async #catchUp(send: Send, items: LiveItems<T>, from: string): Promise<string | undefined> {
    for (let since = from; ; ) {
      const path = `${this.#path}/_events${toQueryString({ ...this.#feedQuery(), since, limit: "max" })}`;
      try {
        const { body, headers } = await send({ method: "GET", path, isRepeatable: true });
        since = linkedParameters(headers.get("link"), "next")?.get("since") as string;
        const events = (body as SentEvent[]).map((event) => toEvent(event, since, this.#feedQuery()));
        for (const event of events) items.apply(event as ChangeEvent<string, T>);
        if (events.length < Number(headers.get("page-limit"))) return since;
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

/** Thrown if a stream was opened with another credential than the list. The caller can have other rights now. */
class OtherCredential extends Error {}

/** The Authorization header of a request. */
interface Credential {
  readonly credential: string | undefined;
}

/** Opens streams with this credential, or with the one of the first stream. Throws OtherCredential for another one. */
function withOneCredential(send: Send, given: Credential | undefined): Send {
  let expected = given;
  return async (call) => {
    const answer = await send(call);
    expected ??= { credential: answer.credential };
    if (answer.credential === expected.credential) return answer;
    void (answer.body as ReadableStream | null)?.cancel().catch(() => {});
    throw new OtherCredential();
  };
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

/** Throws for an option that live lists do not have, such as an option of lists. */
function requireKnown(query: object): void {
  const [name] =
    Object.entries(query).find(([key, value]) => value !== undefined && !Object.hasOwn(options, key)) ?? [];
  if (name === undefined) return;
  const known = Object.keys(options).map((each) => JSON.stringify(each));
  const advice =
    name === "q" ? ": feeds cannot search. Use list, or a filter." : `. Its options are ${known.join(", ")}.`;
  throw new HoldfastError(`A live list has no option ${JSON.stringify(name)}${advice}`);
}

/** Throws if the resources are read without an attribute that decides their order. */
function requireSorted({ sort = [], fields }: AnyLiveQuery): void {
  if (fields === undefined) return;
  const names = (typeof sort === "string" ? sort.split(",") : sort).map(nameOfKey);
  const leavesOut = fields.some((each) => each.startsWith("-"));
  const isRead = (name: string) => (leavesOut ? !fields.includes(`-${name}`) : fields.includes(name));
  const missing = names.find((name) => name !== "id" && !isRead(name.split(".")[0] as string));
  if (missing !== undefined)
    throw new HoldfastError(
      `A live list needs the attributes that it is sorted by, but "fields" ${leavesOut ? "leaves out" : "lacks"} ${JSON.stringify(missing)}. ${leavesOut ? "Keep" : "Add"} it.`,
    );
}
