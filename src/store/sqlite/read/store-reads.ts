/** The reads of the store on SQLite: on the calling thread, and of long lists in threads of their own. */

import { stat } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";
import { isQuick } from "../../core/access-path.ts";
import { type CommitListener, CommitListeners } from "../../core/commit-listeners.ts";
import { emptyFigures } from "../../core/figures.ts";
import type { HistoryPlans } from "../../core/history-plans.ts";
import { LoggedStore, type Place, textLength } from "../../core/logged-store.ts";
import { ReceiptPlans } from "../../core/receipt-plans.ts";
import { toGroups } from "../../core/referring.ts";
import { withRelated } from "../../core/related.ts";
import { secretBytes } from "../../core/secret.ts";
import type { LogHead } from "../../port/change-log.ts";
import type { KeptReceipt } from "../../port/commit.ts";
import type { ResolvedStoreOptions } from "../../port/options.ts";
import {
  emptyPage,
  type Figures,
  type FiguresQuery,
  type ListQuery,
  lengthOf,
  type Page,
  type ReferringGroups,
  type ReferringQuery,
} from "../../port/page.ts";
import type { CollectionRecord } from "../../port/record.ts";
import { maxSizesWaitMs, type StoreStatistics } from "../../port/statistics.ts";
import type { StoreHealth } from "../../port/store.ts";
import type { Key, Stored } from "../../port/stored.ts";
import type { Plan } from "../../sql/plans.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { createLogReader, pageBytes } from "../file/log-state.ts";
import { HotPages } from "../list/hot-pages.ts";
import { QueryThreads } from "../list/query-threads.ts";
import type { Marks } from "../marks.ts";
import { historyOf, PlanRunner, secretPlans, sqliteDialect } from "../sqlite-dialect.ts";
import type { Health } from "../upkeep/health.ts";
import { HotResources } from "./hot-resources.ts";
import { ReadBatch } from "./read-batch.ts";
import { Reader } from "./reader.ts";
import { Scans } from "./scan.ts";
import { SharedCatalogue } from "./shared-catalogue.ts";
import { Sizes } from "./sizes.ts";

/** What the reads of a store use. */
export interface SqliteReadsParts extends Pick<ResolvedStoreOptions, "queryMs"> {
  path: string;
  database: DatabaseSync;
  health: Health;
  marks: Marks;
}

const receipts = new ReceiptPlans(sqliteDialect);

/** The connections of stores that have failed. */
const leftOpen: DatabaseSync[] = [];

/** The reads of a store. `SqliteStore` adds the writes. */
export abstract class SqliteReads extends LoggedStore {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #health: Health;
  readonly #reader: Reader;
  protected readonly plans: PlanRunner;
  readonly #scans: Scans;
  readonly #threads: QueryThreads;
  readonly #sizes: Sizes;
  protected readonly reads: ReadBatch;
  readonly #hot: HotResources;
  protected readonly listeners = new CommitListeners({
    onFirst: () => this.listen(true),
    onNone: () => this.listen(false),
  });
  protected readonly shared: SharedCatalogue;

  constructor({ path, database, health, marks, queryMs }: SqliteReadsParts) {
    super();
    this.#path = path;
    this.#database = database;
    this.#health = health;
    this.#hot = new HotResources(marks);
    this.#reader = new Reader(database, new HotPages());
    this.plans = new PlanRunner(database);
    this.#scans = new Scans(path);
    this.reads = new ReadBatch(this.#reader, { health, marks });
    this.#threads = new QueryThreads({
      path,
      maxMs: queryMs,
      onProblem: (problem) => health.damage.seen(problem),
      toError: ({ failure, reason }) => this.reads.problemOf(failure, reason) ?? new Error(reason),
    });
    this.#sizes = new Sizes({
      measure: (collections) => this.#threads.sizes(collections),
      maxWaitMs: maxSizesWaitMs,
    });
    this.shared = new SharedCatalogue(database, marks);
  }

  protected get catalogue(): ReadonlyMap<string, NumberedCollection> {
    return this.shared.all;
  }

  /** On the path of every request, so without the turns that an async function takes. */
  read({ collection, id }: Key): Stored | undefined | Promise<Stored | undefined> {
    const known = this.#known(collection);
    if (known === undefined) return undefined;
    return (
      this.#hot.get(collection, id) ??
      this.reads.run((ended) => this.#readResource(known, id, ended), textLength)
    );
  }

  async list({ collection, client, ...asked }: ListQuery): Promise<Page> {
    const known = this.#known(collection);
    if (known === undefined) return emptyPage;
    const query = withRelated(asked, (name) => this.catalogue.get(name));
    if (isQuick(query, known.indexes)) {
      const page = await this.reads.run(() => this.#reader.page(known, query), lengthOf);
      if (page.total !== undefined || query.count !== true) return page;
    }
    return this.#threads.page(known, query, client?.());
  }

  async referring({ collection, client, ...query }: ReferringQuery): Promise<ReferringGroups> {
    const known = this.#known(collection);
    if (known === undefined) return toGroups([], query.ids.length, query.limit);
    const few = await this.reads.run(() => this.#reader.referringIfFew(known, query), groupsLength);
    return few ?? this.#threads.referring(known, query, client?.());
  }

  async figures({ collection, client, ...query }: FiguresQuery): Promise<Figures> {
    const known = this.#known(collection);
    if (known === undefined) return emptyFigures(query);
    return this.#threads.figures(
      known,
      withRelated(query, (name) => this.catalogue.get(name)),
      client?.(),
    );
  }

  async count(collection: string): Promise<number> {
    const known = this.#known(collection);
    return known === undefined ? 0 : this.reads.run(() => this.#reader.head(known).count);
  }

  async logHeads(collections: readonly string[]): Promise<ReadonlyMap<string, LogHead>> {
    const known = collections.map((name) => this.#known(name)).filter((each) => each !== undefined);
    const read = () => new Map(known.map((each) => [each.name, this.plans.run(historyOf(each).head())]));
    return this.reads.run(() => this.#reader.inSnapshot(read));
  }

  onCommit(listener: CommitListener): () => void {
    return this.listeners.add(listener);
  }

  async receipt(key: string, now: number): Promise<KeptReceipt | undefined> {
    const receipt = await this.reads.run(() => this.plans.run(receipts.findOne(key)));
    return receipt !== undefined && receipt.expiresAt > now ? receipt : undefined;
  }

  collections(): ReadonlyMap<string, CollectionRecord> {
    return this.catalogue;
  }

  async collectionNames(): Promise<readonly string[]> {
    return [...this.catalogue.keys()];
  }

  async *scan(collection: string): AsyncGenerator<Stored> {
    const known = this.#known(collection);
    try {
      if (known !== undefined) yield* this.#scans.scan(known);
    } catch (error) {
      throw this.#health.damage.seen(error);
    }
  }

  async secret(): Promise<Buffer> {
    return this.reads.run(() => secretBytes(this.plans.run(secretPlans.read())));
  }

  async statistics(): Promise<StoreStatistics> {
    const sizeOf = (path: string) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      );
    const [bytes, logBytes] = await Promise.all([sizeOf(this.#path), sizeOf(`${this.#path}-wal`)]);
    const { waiting } = createLogReader(this.#database)();
    return { bytes, logBytes, logWaitingBytes: waiting * pageBytes(this.#database) };
  }

  async sizes(collections: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const known = collections.map((name) => this.#known(name)).filter((each) => each !== undefined);
    const read = () => known.map((collection) => ({ collection, ...this.#reader.head(collection) }));
    return this.#sizes.of(await this.reads.run(read));
  }

  health(): StoreHealth {
    return this.#health.now;
  }

  /** Whether the store needs to know which collections other threads change. */
  protected abstract listen(isListening: boolean): void;

  /**
   * Ends the reads that take long, and closes the connection. No other read may be in progress. If the store has failed, the
   * connection stays open until the process ends, because SQLite would move the log into the file with the last connection.
   */
  protected async closeReads(): Promise<void> {
    this.#scans.close();
    await this.#threads.close();
    if (this.#health.now.kind === "failed") leftOpen.push(this.#database);
    else this.#database.close();
  }

  protected async readLog<T>(
    { collection }: Place,
    plan: (history: HistoryPlans) => Plan<T>,
    lengthOf?: (result: T) => number,
  ): Promise<T | undefined> {
    const known = this.#known(collection);
    if (known === undefined) return undefined;
    const work = () => this.plans.run(plan(historyOf(known)));
    return this.reads.run(() => this.#reader.inSnapshot(work), lengthOf);
  }

  #readResource(collection: NumberedCollection, id: string, ended: number): Stored | undefined {
    const resource = this.#reader.resource(collection, id);
    if (resource !== undefined) this.#hot.keep(collection, resource, ended);
    return resource;
  }

  #known(collection: string): NumberedCollection | undefined {
    this.#health.requireWorking();
    return this.catalogue.get(collection);
  }
}

function groupsLength(groups: ReferringGroups | undefined = []): number {
  return groups.reduce((sum, group) => sum + (group === undefined ? 0 : lengthOf(group)), 0);
}
