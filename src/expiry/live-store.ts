/**
 * A store without its expired resources: no read, list, figure or count finds them, even before they are deleted.
 *
 * Most of the time, no resource of a collection has expired. So a list first looks at the resource that expires next. If that is still
 * to come, the list is read as if nothing could expire: kept pages, totals and entity tags are valid until that moment. Only
 * between an expiry and the delete, the filter of the list excludes the expired resources.
 */
import type { Collection } from "../collection/collection.ts";
import { maxUnixMillis } from "../collection/dates.ts";
import { hasExpired } from "../collection/expiry.ts";
import type { SortKey } from "../collection/indexes.ts";
import { keyOf } from "../collection/instants.ts";
import type { Condition } from "../query/conditions.ts";
import {
  allOf,
  type Filter,
  mapLeaves,
  type Operand,
  type RelatedCondition,
  type StoreFilter,
  type StoreLeaf,
} from "../query/filter.ts";
import { collectionsIn } from "../query/targets.ts";
import { type LogPlace, logStart } from "../store/port/log-place.ts";
import type { FiguresQuery, ListQuery, Page, ReferringGroups, ReferringQuery } from "../store/port/page.ts";
import { type Store, type StoreReader, withMethods } from "../store/port/store.ts";
import type { Stored } from "../store/port/stored.ts";

/** What decides whether a resource has expired. */
export interface ExpiryTerms {
  /** The declared collections now, by name. */
  collections(): ReadonlyMap<string, Pick<Collection, "expires">>;
  /** Unix time in milliseconds. */
  now: () => number;
}

/** Matches the resources that have expired at this time. `relative`: the time of the request, so that no store keeps the result. */
export function expiredAt(expires: SortKey, at: number, relative?: "now"): Condition {
  const values = [keyOf({ ms: at, rest: "" })];
  return { kind: "lte", path: expires.path, as: "date", values, ...(relative && { relative }) };
}

/**
 * The same store without the resources that have expired. Imports and the history see all resources. `commit` also deletes expired
 * resources whose unique values a commit needs.
 */
export function liveStore(store: Store, terms: ExpiryTerms, commit: Store["commit"]): Store {
  const reads = new LiveReads(store, terms);
  return withMethods(store, {
    commit,
    read: (key) => reads.read(key),
    list: (query) => (reads.concerns(query, query.sort) ? reads.list(query) : store.list(query)),
    figures: (query) => (reads.concerns(query, query.group) ? reads.figures(query) : store.figures(query)),
    referring: (query) => reads.referring(query),
    count: (collection) => reads.count(collection),
  });
}

/** The same reader, whose scans leave out the resources that have expired. */
export function liveReader(reader: StoreReader, { collections, now }: ExpiryTerms): StoreReader {
  return withMethods(reader, {
    async *scan(name) {
      const collection = collections().get(name);
      for await (const each of reader.scan(name))
        if (collection === undefined || !hasExpired(collection, each.text, now())) yield each;
    },
  });
}

type Related = { through?: RelatedCondition | undefined };

/** How many times a total is read again, because the collection has changed in between. */
const maxTries = 5;

class LiveReads {
  readonly #store: Store;
  readonly #terms: ExpiryTerms;

  constructor(store: Store, terms: ExpiryTerms) {
    this.#store = store;
    this.#terms = terms;
  }

  read(key: Parameters<Store["read"]>[0]): ReturnType<Store["read"]> {
    const stored = this.#store.read(key);
    const collection = this.#terms.collections().get(key.collection);
    if (collection?.expires === undefined) return stored;
    const live = (each: Stored | undefined) =>
      each !== undefined && hasExpired(collection, each.text, this.#terms.now()) ? undefined : each;
    return stored instanceof Promise ? stored.then(live) : live(stored);
  }

  /** Whether a query reads resources that can expire, also by way of others. */
  concerns(
    {
      collection,
      filter,
      visibleFilter,
    }: { collection: string; filter?: StoreFilter; visibleFilter?: StoreFilter },
    keys: readonly Related[] = [],
  ) {
    const names = [...relatedNames(filter, keys), ...relatedNames(visibleFilter)];
    return this.#expiresIn(collection) !== undefined || names.length > 0;
  }

  async list(asked: ListQuery): Promise<Page> {
    const query = await this.#withLiveRelated(asked, "sort");
    const { collection, filter, words, at, deleted } = query;
    const expires = this.#expiresIn(collection);
    if (expires === undefined || deleted !== undefined) return this.#store.list(query);
    if (at !== undefined) {
      const live = { kind: "not", filter: expiredAt(expires, at) } as const;
      return this.#store.list({ ...query, filter: joined(filter, live) });
    }
    const isWhole = filter === undefined && words === undefined;
    return this.#readLive(collection, async (live) => {
      if (live === undefined) return this.#store.list(query);
      const narrowed = { ...query, filter: joined(filter, live), ...(isWhole && { count: false }) };
      const page = await this.#store.list(narrowed);
      return isWhole ? { ...page, total: await this.count(collection) } : page;
    });
  }

  async figures(asked: FiguresQuery): Promise<Awaited<ReturnType<Store["figures"]>>> {
    const query = await this.#withLiveRelated(asked, "group");
    return this.#readLive(query.collection, (live) =>
      this.#store.figures(live === undefined ? query : { ...query, filter: joined(query.filter, live) }),
    );
  }

  async referring(asked: ReferringQuery): Promise<ReferringGroups> {
    const query = await this.#withLiveRelated(asked, "sort");
    const live = await this.filterFor(query.collection);
    return this.#store.referring(
      live === undefined ? query : { ...query, filter: joined(query.filter, live) },
    );
  }

  /**
   * The number of resources in one state of the collection, if it does not change all the time. With those that have expired, while the
   * index is being built.
   */
  async count(collection: string): Promise<number> {
    const expires = this.#expiresIn(collection);
    if (expires === undefined) return this.#store.count(collection);
    const filter = expiredAt(expires, this.#terms.now(), "now");
    const query = { collection, filter, sort: [expires], limit: 1, count: true };
    if (!this.#store.isQuick(query)) return this.#store.count(collection); // the index is still being built
    for (let tries = 1; ; tries++) {
      const whole = await this.#store.list({ collection, limit: 1 });
      const expired = await this.#store.list(query);
      if (whole.sequence === expired.sequence || tries === maxTries)
        return (whole.total ?? 0) - (expired.total ?? 0);
    }
  }

  /** The filter that excludes the expired resources. `undefined` if no resource has expired. */
  async filterFor(collection: string): Promise<Filter | undefined> {
    const expires = this.#expiresIn(collection);
    if (expires === undefined || !(await this.#look(collection, expires)).isOver) return undefined;
    return { kind: "not", filter: expiredAt(expires, this.#terms.now(), "now") };
  }

  /** Reads as if nothing could expire, or with a filter if something has expired. */
  async #readLive<Result extends Pick<Page, "sequence">>(
    collection: string,
    read: (live: Filter | undefined) => Promise<Result>,
  ): Promise<Result> {
    const expires = this.#expiresIn(collection);
    if (expires === undefined) return read(undefined);
    const { isOver, sequence } = await this.#look(collection, expires);
    if (!isOver) {
      const result = await read(undefined);
      // A write in between can have brought a resource whose time is over.
      if (result.sequence === sequence || !(await this.#look(collection, expires)).isOver) return result;
    }
    const live = { kind: "not", filter: expiredAt(expires, this.#terms.now(), "now") } as const;
    return { ...(await read(live)), hidesExpired: true };
  }

  /** Whether the resource that expires first has expired. Until its index is built, this is not known, and counts as true. */
  async #look(collection: string, expires: SortKey): Promise<{ isOver: boolean; sequence: LogPlace }> {
    const values = [keyOf({ ms: -maxUnixMillis, rest: "" })];
    const filter: Filter = { kind: "gte", path: expires.path, as: "date", values };
    const query = { collection, filter, sort: [expires], limit: 1 };
    if (!this.#store.isQuick(query)) return { isOver: true, sequence: logStart };
    const { items, sequence } = await this.#store.list(query);
    return { isOver: items.some(({ text }) => hasExpired({ expires }, text, this.#terms.now())), sequence };
  }

  /** The query whose conditions and keys about related resources find no expired ones. */
  async #withLiveRelated<
    Name extends "sort" | "group",
    Query extends { filter?: StoreFilter; visibleFilter?: StoreFilter } & {
      [name in Name]?: readonly Related[];
    },
  >(query: Query, name: Name): Promise<Query> {
    const { filter, visibleFilter } = query;
    const keys = query[name];
    const names = [...new Set([...relatedNames(filter, keys), ...relatedNames(visibleFilter)])];
    const all = await Promise.all(names.map(async (each) => [each, await this.filterFor(each)] as const));
    const filters = new Map(all.filter(([, live]) => live !== undefined));
    if (filters.size === 0) return query;
    const { change, live } = narrowing((name) => filters.get(name));
    return {
      ...query,
      ...(filter && { filter: mapLeaves<StoreLeaf, StoreLeaf>(filter, change) }),
      ...(visibleFilter && { visibleFilter: mapLeaves<StoreLeaf, StoreLeaf>(visibleFilter, change) }),
      ...(keys && {
        [name]: keys.map((key) => (key.through === undefined ? key : { ...key, through: live(key.through) })),
      }),
    };
  }

  #expiresIn(collection: string): SortKey | undefined {
    return this.#terms.collections().get(collection)?.expires;
  }
}

/** The filter whose conditions about related resources find no expired ones. `at`: Unix time in milliseconds. */
export function withLiveTargets(
  filter: StoreFilter,
  collections: ReadonlyMap<string, Pick<Collection, "expires">>,
  at: number,
): StoreFilter {
  const { change } = narrowing((name) => {
    const expires = collections.get(name)?.expires;
    return expires && { kind: "not", filter: expiredAt(expires, at) };
  });
  return mapLeaves<StoreLeaf, StoreLeaf>(filter, change);
}

/** Changes conditions about related resources, and leaves of filters, so that they only find resources that match a filter too. */
function narrowing(filterFor: (collection: string) => Filter | undefined) {
  const live = (each: RelatedCondition): RelatedCondition => {
    const inner = mapLeaves<StoreLeaf, StoreLeaf>(each.filter, change);
    const own = filterFor(each.relation.collection);
    return { ...each, filter: own === undefined ? inner : joined(inner, own) };
  };
  const inOperand = ({ through, ...operand }: Operand): Operand => ({
    ...operand,
    ...(through && { through: through.map(live) }),
  });
  const change = (leaf: StoreLeaf): StoreLeaf => {
    if (leaf.kind === "related") return live(leaf);
    if (leaf.kind !== "compares") return leaf;
    return { ...leaf, left: inOperand(leaf.left), right: inOperand(leaf.right) };
  };
  return { change, live };
}

function joined<F extends Filter | StoreFilter>(filter: F | undefined, live: Filter): F {
  return (filter === undefined ? live : allOf<StoreLeaf>([filter, live])) as F;
}

/** The names of the related collections that a filter and some keys name. */
function relatedNames(filter: StoreFilter | undefined, keys: readonly Related[] = []): string[] {
  const through = keys.flatMap((key) => key.through ?? []);
  return [filter, ...through].flatMap((each) => (each === undefined ? [] : collectionsIn(each)));
}
