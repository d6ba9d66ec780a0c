/** The reads of the store on PostgreSQL. */

import { Problem } from "../../../errors.ts";
import type { StoreFilter } from "../../../query/filter.ts";
import { type CommitListener, CommitListeners } from "../../core/commit-listeners.ts";
import type { Damage } from "../../core/damage.ts";
import { emptyFigures } from "../../core/figures.ts";
import type { HistoryPlans } from "../../core/history-plans.ts";
import { LoggedStore, type Place } from "../../core/logged-store.ts";
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
  type Page,
  type ReferringGroups,
  type ReferringQuery,
} from "../../port/page.ts";
import type { CollectionRecord } from "../../port/record.ts";
import { maxSizesWaitMs } from "../../port/statistics.ts";
import type { StoreHealth } from "../../port/store.ts";
import { isStorable, type Key, type Stored } from "../../port/stored.ts";
import type { Plan } from "../../sql/plans.ts";
import { type Connections, probe } from "../connection/connections.ts";
import { Reachability } from "../connection/reachability.ts";
import { retryOnce } from "../connection/retry.ts";
import { transact, transactionModes } from "../connection/transaction.ts";
import { Lists } from "../list/lists.ts";
import { SlowStatements } from "../list/slow-statements.ts";
import { historyOf, runPlan, secretPlans } from "../postgres-dialect.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { Declarations } from "../tables/declarations.ts";
import { selectHead } from "../tables/statements.ts";
import { Heads } from "./heads.ts";
import { Reads, type Run } from "./reads.ts";
import { Scans } from "./scans.ts";
import { readSizes } from "./sizes.ts";

/** The maximum number of attempts to read a list, if other services change the declaration at the same time. */
const maxTries = 5;

/** What the reads of a store use. */
export interface PostgresReadsParts extends Pick<ResolvedStoreOptions, "queryMs"> {
  /** For reads and commits. */
  connections: Connections;
  /** For lists that can take long. */
  slow: Connections;
  /** For work without a time limit: imports, scans and migrations. */
  long: Connections;
  /** How many reads, or reservations of ids, share a statement at most. */
  maxBatchSize: number;
  damage: Damage;
}

/** The reads of a store. `PostgresStore` adds the writes. */
export abstract class PostgresReads extends LoggedStore {
  readonly #connections: Connections;
  readonly #run: Run;
  readonly #reads: Reads;
  readonly #lists: Lists;
  readonly #slow: SlowStatements;
  readonly #scans: Scans;
  readonly #heads: Heads;
  #isClosed = false;
  protected readonly reachability: Reachability;
  protected readonly declarations: Declarations;
  protected readonly listeners: CommitListeners;

  constructor({ connections, slow, long, maxBatchSize, queryMs, damage }: PostgresReadsParts) {
    super();
    this.#connections = connections;
    this.reachability = new Reachability(() => connections.run(probe), damage);
    this.declarations = new Declarations(connections, long);
    this.#run = (statement) => retryOnce(() => connections.run(statement));
    this.#reads = new Reads({ run: this.#run, find: (name) => this.declarations.find(name), maxBatchSize });
    this.#lists = new Lists({ quick: connections, slow, maxMs: queryMs });
    this.#slow = new SlowStatements(slow, maxSizesWaitMs);
    this.#scans = new Scans(long);
    this.#heads = new Heads(this.#run, this.declarations);
    this.listeners = new CommitListeners({
      onFirst: () => this.#heads.startPolling((names) => this.listeners.call(() => names)),
      onNone: () => this.#heads.stopPolling(),
    });
  }

  read(key: Key): Promise<Stored | undefined> {
    return this.watch(() => this.#reads.resource(key));
  }

  async list({ collection, client, ...query }: ListQuery): Promise<Page> {
    const read = await this.#whileDeclared(collection, (known) =>
      this.#lists.page(known, this.#withRelated(query), client),
    );
    return read?.page ?? emptyPage;
  }

  async figures({ collection, client, ...query }: FiguresQuery): Promise<Figures> {
    const read = await this.#whileDeclared(collection, (known) =>
      this.#lists.figures(known, this.#withRelated(query), client),
    );
    return read?.figures ?? emptyFigures(query);
  }

  #withRelated<Query extends { filter?: StoreFilter }>(query: Query) {
    return withRelated(query, (name) => this.declarations.catalogue.byName.get(name));
  }

  /** Reads with the current declaration of a collection; `undefined` if the collection does not exist. */
  async #whileDeclared<T extends object>(
    collection: string,
    read: (known: NumberedCollection) => Promise<T | "redeclared">,
  ): Promise<T | undefined> {
    for (let tries = 0; tries < maxTries; tries++) {
      const known = await this.find(collection);
      if (known === undefined) return undefined;
      const result = await this.watch(() => retryOnce(() => read(known)));
      if (result !== "redeclared") return result;
      await this.watch(() => this.declarations.reload());
    }
    throw new Problem("UNAVAILABLE", "The declaration of the collection is being changed. Try again.");
  }

  async referring({ collection, client, ...query }: ReferringQuery): Promise<ReferringGroups> {
    const read = await this.#whileDeclared(collection, (known) =>
      this.#lists.referring(known, query, client),
    );
    return read ?? toGroups([], query.ids.length, query.limit);
  }

  async count(collection: string): Promise<number> {
    const known = await this.find(collection);
    if (known === undefined) return 0;
    const { rows } = await this.watch(() => this.#run(selectHead(known.number)));
    return Number(rows[0]?.[1]);
  }

  async logHeads(collections: readonly string[]): Promise<ReadonlyMap<string, LogHead>> {
    const heads = await this.watch(() => this.#heads.read());
    return new Map([...heads].filter(([name]) => collections.includes(name)));
  }

  onCommit(listener: CommitListener): () => void {
    return this.listeners.add(listener);
  }

  async receipt(key: string, now: number): Promise<KeptReceipt | undefined> {
    const receipt = await this.watch(() => this.#reads.receipt(key));
    return receipt !== undefined && receipt.expiresAt > now ? receipt : undefined;
  }

  collections(): ReadonlyMap<string, CollectionRecord> {
    return this.declarations.catalogue.byName;
  }

  async collectionNames(): Promise<readonly string[]> {
    return this.watch(() => retryOnce(() => this.declarations.names()));
  }

  async *scan(collection: string): AsyncGenerator<Stored> {
    const known = await this.find(collection);
    try {
      if (known !== undefined) yield* this.#scans.scan(known);
    } catch (error) {
      throw this.reachability.damage.seen(error);
    }
  }

  async secret(): Promise<Buffer> {
    return secretBytes(await this.watch(() => runPlan(secretPlans.read(), this.#run)));
  }

  async sizes(collections: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const known = (await Promise.all(collections.map((name) => this.find(name)))).filter(
      (each) => each !== undefined,
    );
    return this.watch(() => retryOnce(() => readSizes(this.#slow, known)));
  }

  health(): StoreHealth {
    return this.reachability.health;
  }

  /** Refuses everything from now on. Resolves when no read is in progress. */
  protected async endReads(): Promise<void> {
    this.#isClosed = true;
    this.#heads.stopPolling();
    await this.#reads.drained();
    this.#scans.close();
  }

  protected async readLog<T>(
    { collection, id = "" }: Place,
    plan: (history: HistoryPlans) => Plan<T>,
  ): Promise<T | undefined> {
    const known = await this.find(collection);
    if (known === undefined || !isStorable(id)) return undefined;
    const read = () =>
      transact(this.#connections, transactionModes.snapshot, (transaction) =>
        runPlan(plan(historyOf(known)), (statement) => transaction.run(statement)),
      );
    return this.watch(() => retryOnce(read));
  }

  /** The collection with this name, also if another service has just created it. */
  protected async find(name: string): Promise<NumberedCollection | undefined> {
    this.requireOpen();
    const known = this.declarations.catalogue.byName.get(name);
    return known ?? this.watch(() => retryOnce(() => this.declarations.find(name)));
  }

  /** Does work, and derives the health of the store from its result. Throws UNAVAILABLE if the store is closed. */
  protected async watch<T>(work: () => Promise<T>, how?: { isWrite: boolean }): Promise<T> {
    this.requireOpen();
    return this.reachability.watch(work, how);
  }

  protected requireOpen(): void {
    if (this.#isClosed) throw new Problem("UNAVAILABLE", "The store is closed.");
  }
}
