/** A store: all methods of the port, over the driver of one kind of database. */
import type { Unique } from "../../collection/unique.ts";
import { Problem } from "../../errors.ts";
import type { RelatedCondition, StoreFilter } from "../../query/filter.ts";
import {
  type ChangedResource,
  type ChangedTexts,
  type ChangesSince,
  type Erased,
  emptySlice,
  type LastTexts,
  type LoggedKey,
  type LogHead,
  type LogSlice,
  type ResourceChange,
} from "../port/change-log.ts";
import { type Commit, type Committed, type KeptReceipt, requireValidCommit } from "../port/commit.ts";
import type { LogPlace } from "../port/log-place.ts";
import {
  emptyPage,
  type Figures,
  type FiguresQuery,
  type ListQuery,
  type Page,
  type ReferringGroups,
  type ReferringQuery,
} from "../port/page.ts";
import { type CollectionRecord, isEqualJson } from "../port/record.ts";
import type {
  Load,
  LoadOptions,
  StoreAttachment,
  StoreHealth,
  Store as StorePort,
  StoreStatistics,
} from "../port/store.ts";
import { isStorable, type Key, type Stored } from "../port/stored.ts";
import { ask, type Plan, runLater } from "../sql/plans.ts";
import { isQuick } from "./access-path.ts";
import { builtIndexes, type NumberedCollection } from "./catalogue.ts";
import { changesSince } from "./changes-since.ts";
import {
  type CommitListener,
  type Declared,
  type Driver,
  ignoreBegin,
  type ReadHow,
  scannedIn,
  textLength,
} from "./driver.ts";
import { emptyFigures } from "./figures.ts";
import type { HistoryPlans } from "./history-plans.ts";
import { StoredKeys } from "./key-plans.ts";
import { toGroups, withRelated } from "./related.ts";
import { secretBytes } from "./secret.ts";

/** The maximum number of attempts to read a list, if other services change the declaration at the same time. */
const maxTries = 5;

const single = { isSingle: true } as const;

/** An open store. */
export class Store implements StorePort {
  readonly keys: StoredKeys;
  readonly reach?: () => Promise<void>;
  readonly time?: () => Promise<number>;
  readonly #driver: Driver;
  readonly #isReadOnly: boolean;

  /** With `readOnly`, all writes throw UNAVAILABLE. */
  constructor(driver: Driver, { readOnly }: { readOnly: boolean }) {
    this.#driver = driver;
    this.#isReadOnly = readOnly;
    this.keys = new StoredKeys(driver.plans.keys, {
      read: (plan) => driver.read(() => plan, single),
      write: async (change) => this.#writing.changeKey(change),
    });
    if (driver.time !== undefined) this.time = driver.time.bind(driver);
    if (driver.reach !== undefined) this.reach = driver.reach.bind(driver);
  }

  read(key: Key): Stored | undefined | Promise<Stored | undefined> {
    return this.#driver.resource(key);
  }

  async lastVersion({ collection, id }: Key): Promise<number> {
    const known = await this.#driver.find(collection);
    if (known === undefined || !isStorable(id)) return 0;
    // In this order: a resource that is deleted in between has left its version.
    const current = await this.read({ collection, id });
    if (current !== undefined) return current.version;
    return this.#driver.read(() => this.#driver.plans.logs.lastDeleted(known, id), single);
  }

  async holder(collection: string, unique: Unique, value: string): Promise<string | undefined> {
    const known = await this.#driver.find(collection);
    const place = known?.uniqueSlots.find((each) => isEqualJson(each.unique, unique));
    if (known === undefined || place === undefined) return undefined;
    const { lookupsOf, receipts } = this.#driver.plans;
    const find = () =>
      lookupsOf({ byName: this.#driver.collections }, receipts).holders(known, place, { value, enough: 1 });
    return (await this.#driver.read(find, single))[0];
  }

  async list({ collection, client, ...query }: ListQuery): Promise<Page> {
    const page = await this.#asDeclared(collection, (known) =>
      this.#driver.page(known, this.#withRelated(query, query.sort), client),
    );
    return page ?? emptyPage;
  }

  isQuick(query: ListQuery): boolean {
    const known = this.#driver.collections.get(query.collection);
    return known === undefined || isQuick(query, builtIndexes(known));
  }

  async figures({ collection, client, ...query }: FiguresQuery): Promise<Figures> {
    const figures = await this.#asDeclared(collection, (known) =>
      this.#driver.figures(known, this.#withRelated(query, query.group), client),
    );
    return figures ?? emptyFigures(query);
  }

  async referring({ collection, client, ...query }: ReferringQuery): Promise<ReferringGroups> {
    const groups = await this.#asDeclared(collection, (known) =>
      this.#driver.referring(known, this.#withRelated(query), client),
    );
    return groups ?? toGroups([], query.ids.length, query.limit);
  }

  async count(collection: string): Promise<number> {
    const known = await this.#driver.find(collection);
    if (known === undefined) return 0;
    return this.#driver.read(() => this.#driver.plans.logs.countOf(known.number), single);
  }

  async sizes(collections: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const known = await Promise.all(collections.map((name) => this.#driver.find(name)));
    return this.#driver.sizes(known.filter((each) => each !== undefined));
  }

  async receipt(key: string, now: number): Promise<KeptReceipt | undefined> {
    const read = () => this.#driver.plans.receipts.findOne(key);
    const receipt = await (this.#driver.receipt?.(key) ?? this.#driver.read(read, single));
    return receipt !== undefined && receipt.expiresAt > now ? receipt : undefined;
  }

  collections(): ReadonlyMap<string, CollectionRecord> {
    return this.#driver.collections;
  }

  collectionNames(): Promise<readonly string[]> {
    return this.#driver.read(() => this.#driver.plans.logs.names(), single);
  }

  scan(collection: string): AsyncGenerator<Stored> {
    return this.scanEach([collection], ignoreBegin);
  }

  async *scanEach(collections: readonly string[], begin: (place: number) => void): AsyncGenerator<Stored> {
    const known = [];
    for (const name of collections) known.push(await this.#driver.find(name));
    yield* this.#driver.scanEach(scannedIn(known, begin));
  }

  async secret(): Promise<Buffer> {
    return secretBytes(await this.#driver.read(() => this.#driver.plans.secret.read(), single));
  }

  statistics(): Promise<StoreStatistics> {
    return this.#driver.statistics();
  }

  health(): StoreHealth {
    return this.#driver.health();
  }

  async changesAfter(collection: string, place: LogPlace, limit: number): Promise<LogSlice> {
    const plan = (history: HistoryPlans) => history.changesAfter(place, limit);
    return (await this.#readLog({ collection }, plan, { lengthOf: sliceLength })) ?? emptySlice;
  }

  changeAt(collection: string, place: LogPlace): Promise<LoggedKey | undefined> {
    return this.#readLog({ collection }, (history) => history.changeAt(place), single);
  }

  async changesOf(key: Key, page: { before: number; limit: number }): Promise<readonly ResourceChange[]> {
    return (await this.#readLog(key, (history) => history.changesOf(key.id, page), single)) ?? [];
  }

  deleteAfter(key: Key, version: number): Promise<ResourceChange | undefined> {
    return this.#readLog(key, (history) => history.deleteAfter(key.id, version), single);
  }

  version(key: Key, version: number): Promise<Stored | undefined> {
    return this.#readLog(key, (history) => history.version(key.id, version), { lengthOf: textLength });
  }

  versionAt(key: Key, at: number): Promise<Stored | undefined> {
    return this.#readLog(key, (history) => history.at(key.id, at), { lengthOf: textLength });
  }

  async lastTexts(
    collection: string,
    versions: readonly { id: string; version: number }[],
  ): Promise<ReadonlyMap<string, LastTexts>> {
    const plan = (history: HistoryPlans) => history.lastTexts(versions);
    return (await this.#readLog({ collection }, plan, { lengthOf: lengthOfTexts })) ?? new Map();
  }

  async changesSince(collections: readonly string[], at: number): Promise<readonly ChangesSince[]> {
    const histories = new Map<string, HistoryPlans>();
    for (const name of collections) {
      const known = await this.#driver.find(name);
      if (known !== undefined) histories.set(name, this.#driver.plans.historyOf(known));
    }
    // Each statement is a read of its own, so that other requests do not wait for all of them.
    return runLater(changesSince(histories, at), (statement) =>
      this.#driver.read(() => ask(statement), single),
    );
  }

  async textsOf(
    collection: string,
    changed: readonly ChangedResource[],
    from: number,
  ): Promise<readonly ChangedTexts[]> {
    return (await this.#readLog({ collection }, (history) => history.texts(changed, from, true))) ?? [];
  }

  logHeads(collections: readonly string[]): Promise<ReadonlyMap<string, LogHead>> {
    return this.#driver.logHeads(collections);
  }

  onCommit(listener: CommitListener): () => void {
    return this.#driver.onCommit(listener);
  }

  async commit(commit: Commit): Promise<Committed> {
    requireValidCommit(commit);
    return this.#writing.commit(commit);
  }

  async exclusively<T>(
    collections: readonly string[],
    work: (commit: StorePort["commit"]) => Promise<T>,
  ): Promise<T> {
    return this.#writing.exclusively(collections, (commitNow) =>
      work(async (commit) => {
        requireValidCommit(commit);
        return commitNow(commit);
      }),
    );
  }

  async reserveIds(collection: string, n: number): Promise<number> {
    return this.#writing.reserveIds(collection, n);
  }

  async migrate(plan: readonly CollectionRecord[]): Promise<void> {
    return this.#writing.migrate(plan);
  }

  async load(collection: string | CollectionRecord, options?: LoadOptions): Promise<Load> {
    return this.#writing.load(collection, options);
  }

  async erase(key: Key): Promise<Erased> {
    return this.#writing.erase(key);
  }

  attach(): StoreAttachment | undefined {
    return this.#driver.attach();
  }

  close(): Promise<void> {
    return this.#driver.close();
  }

  /** The driver, for a write. Throws UNAVAILABLE if the store is read-only. */
  get #writing(): Driver {
    if (!this.#isReadOnly) return this.#driver;
    throw new Problem("UNAVAILABLE", "The service is read-only now. Nothing was written. Try again later.");
  }

  #withRelated<Query extends { filter?: StoreFilter; visibleFilter?: StoreFilter }>(
    query: Query,
    keys: readonly { through?: RelatedCondition }[] = [],
  ) {
    return withRelated(query, keys, (name) => this.#driver.collections.get(name));
  }

  /** Reads with the current declaration of a collection; `undefined` if the collection does not exist. */
  async #asDeclared<T>(
    collection: string,
    read: (known: NumberedCollection) => Declared<T>,
  ): Promise<T | undefined> {
    for (let tries = 0; tries < maxTries; tries++) {
      const known = await this.#driver.find(collection);
      if (known === undefined) return undefined;
      const result = await read(known);
      if (result !== "redeclared") return result;
    }
    throw new Problem("UNAVAILABLE", "The declaration of the collection is being changed. Try again.");
  }

  /** Reads the change log of a collection. `undefined` if the collection does not exist, or cannot have the id. */
  async #readLog<T>(
    { collection, id = "" }: { collection: string; id?: string },
    plan: (history: HistoryPlans) => Plan<T>,
    how?: ReadHow<T>,
  ): Promise<T | undefined> {
    const known = await this.#driver.find(collection);
    if (known === undefined || !isStorable(id)) return undefined;
    return this.#driver.read(() => plan(this.#driver.plans.historyOf(known)), how);
  }
}

function sliceLength({ changes }: LogSlice): number {
  return changes.reduce((sum, { text = "" }) => sum + text.length, 0);
}

/** The length of the text of a resource, in characters. */
function lengthOfTexts(texts: ReadonlyMap<string, LastTexts>): number {
  return texts
    .values()
    .reduce((sum, { last, end }) => sum + (last?.length ?? 0) + (end?.text?.length ?? 0), 0);
}
