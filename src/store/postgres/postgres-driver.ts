/** The driver of PostgreSQL. It does not rely on its memory, because other services can write to the same database. */
import { Problem } from "../../errors.ts";
import type { Damage } from "../core/checksums.ts";
import {
  type AskClient,
  type CommitListener,
  CommitListeners,
  type Declared,
  type Driver,
  type ReadHow,
  type ScannedCollection,
} from "../core/driver.ts";
import type { FiguresOf } from "../core/figures.ts";
import type { KeyChange } from "../core/key-plans.ts";
import { ExpectedEnd, Loads } from "../core/loads.ts";
import { ReceiptPlans } from "../core/receipt-plans.ts";
import type { GroupsQuery, PageQuery } from "../core/related.ts";
import { Scheduler } from "../core/scheduler.ts";
import type { Erased, LogHead } from "../port/change-log.ts";
import { allChangesOf, type Commit, CommitQueue, type Committed, type KeptReceipt } from "../port/commit.ts";
import { noteGroup } from "../port/commit-meter.ts";
import type { ResolvedStoreOptions } from "../port/options.ts";
import type { Figures, Page, ReferringGroups } from "../port/page.ts";
import type { CollectionRecord } from "../port/record.ts";
import {
  type Load,
  type LoadOptions,
  maxSizesWaitMs,
  type Store,
  type StoreAttachment,
  type StoreHealth,
  type StoreStatistics,
} from "../port/store.ts";
import type { Key, Stored } from "../port/stored.ts";
import type { Plan } from "../sql/plans.ts";
import { Commits, type CommitsParts } from "./commit/commits.ts";
import { erase } from "./commit/erase.ts";
import { flushing } from "./commit/flush.ts";
import { HeldWrites } from "./commit/holds.ts";
import { beginLoad } from "./commit/load.ts";
import { GroupNumbers, IdNumbers } from "./commit/numbers.ts";
import { type Connections, probe, type Run, runPlan } from "./connection/connections.ts";
import { failureOf, retryOnce } from "./connection/failures.ts";
import { Reachability } from "./connection/reachability.ts";
import { transact, transactionModes } from "./connection/transaction.ts";
import { Lists, orRedeclared } from "./list/lists.ts";
import { SlowStatements } from "./list/slow-statements.ts";
import { postgresDialect, storePlans } from "./postgres-dialect.ts";
import { Heads, Reads, readSizes, Scans } from "./read/reads.ts";
import { Declarations } from "./tables/declarations.ts";
import type { NumberedCollection } from "./tables/declared-catalogue.ts";
import { prepareDatabase } from "./tables/prepare.ts";
import { findCompiling, findRelaxed, findUnchecked } from "./tables/warnings.ts";
import { startWork } from "./upkeep/background.ts";

/** The parts of the driver. */
export interface PostgresDriverParts extends ResolvedStoreOptions {
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

const clock = { sql: "select extract(epoch from clock_timestamp()) * 1000" } as const;

/** The driver of an open store. `openPostgresStore` makes one. */
export class PostgresDriver implements Driver {
  readonly plans = storePlans;
  readonly #parts: PostgresDriverParts;
  readonly #run: Run;
  readonly #reachability: Reachability;
  readonly #declarations: Declarations;
  readonly #reads: Reads;
  readonly #lists: Lists;
  readonly #slow: SlowStatements;
  readonly #scans: Scans;
  readonly #heads: Heads;
  readonly #listeners: CommitListeners;
  readonly #ids: IdNumbers;
  readonly #writing: CommitsParts;
  readonly #writer: Commits;
  readonly #commits: CommitQueue;
  readonly #loads: Loads;
  readonly #held: HeldWrites;
  /** Whether the last import declares a collection. Until it ends, it locks the catalogue. */
  #isDeclaring = false;
  readonly #scheduler = new Scheduler();
  /** Looks for search indexes to build at once. */
  #buildIndexesNow = () => {};
  #reached: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(parts: PostgresDriverParts) {
    const { connections, slow, long, maxBatchSize, queryMs, history } = parts;
    this.#parts = parts;
    this.#run = (statement) => retryOnce(() => connections.run(statement));
    this.#reachability = new Reachability(() => connections.run(probe), parts.damage);
    this.#declarations = new Declarations(connections, long);
    this.#reads = new Reads({ run: this.#run, find: (name) => this.#declarations.find(name), maxBatchSize });
    this.#lists = new Lists({ quick: connections, slow, maxMs: queryMs });
    this.#slow = new SlowStatements(slow, maxSizesWaitMs);
    this.#scans = new Scans(long);
    this.#heads = new Heads(this.#run, this.#declarations);
    this.#listeners = new CommitListeners({
      onFirst: () => this.#heads.startPolling((names) => this.#listeners.call(() => names)),
      onNone: () => this.#heads.stopPolling(),
    });
    this.#ids = new IdNumbers(connections, maxBatchSize);
    const receipts = new ReceiptPlans(postgresDialect, parts.receipts);
    const expectedEnd = new ExpectedEnd();
    this.#held = new HeldWrites(connections, parts.importWaitMs, (waitedMs) =>
      expectedEnd.secondsLeft(waitedMs),
    );
    this.#writing = {
      connections,
      catalogue: () => this.#declarations.catalogue,
      reload: () => this.#declarations.reload(),
      groups: new GroupNumbers(connections),
      lookupsOf: storePlans.lookupsOf,
      meter: parts.meter,
      ...flushing({ ids: this.#ids, isLogged: history !== "none", receipts }),
    };
    this.#writer = new Commits(this.#writing);
    const perform = (group: readonly Commit[], since: readonly number[] | undefined) => {
      if (parts.meter !== undefined) noteGroup(parts.meter, group.length, since);
      return this.#writer.perform(group);
    };
    this.#commits = new CommitQueue(parts, { perform, maxConcurrent: 1 });
    this.#loads = new Loads({
      maxWaitMs: parts.importWaitMs,
      expectedEnd,
      begin: async (into, options) => {
        this.#isDeclaring = typeof into === "object";
        if (typeof into === "string") await this.#require(into);
        return beginLoad({ ...this.#writing, connections: long }, into, options);
      },
      onEnd: async () => {
        await this.#declarations.reload().catch(() => {}); // a later use finds that it is not up to date
        this.#buildIndexesNow();
        this.#listeners.call(() => [...this.collections.keys()]);
      },
    });
  }

  /** Connects to the database and prepares it. Calls at the same time share one attempt. */
  reach(): Promise<void> {
    this.#reached ??= this.#reach().catch((error: unknown) => {
      this.#reached = undefined;
      const answer = this.#reachability.noteFailure(error);
      throw ["denied", "refused", "worker"].includes(failureOf(error)) ? error : answer; // waiting does not help
    });
    return this.#reached;
  }

  /** Creates the tables if they do not exist, reads the catalogue, and starts the background work. */
  async #reach(): Promise<void> {
    const { connections, readOnly, onWarning } = this.#parts;
    await prepareDatabase(connections, { mustExist: readOnly });
    const found = [findRelaxed(connections), findUnchecked(connections), findCompiling(connections)];
    const warnings = await Promise.all(found);
    const [relaxed] = warnings;
    for (const warning of warnings) if (warning !== undefined) onWarning(warning);
    await this.#declarations.reload();
    this.#reachability.noteReached({ isRelaxed: relaxed !== undefined });
    if (readOnly) return;
    const { catalogue, reload } = this.#writing;
    const isFirst = this.#parts.attachment === undefined;
    this.#buildIndexesNow = startWork(this.#scheduler, { ...this.#parts, catalogue, reload, isFirst });
  }

  get collections(): ReadonlyMap<string, NumberedCollection> {
    return this.#declarations.catalogue.byName;
  }

  async find(name: string): Promise<NumberedCollection | undefined> {
    this.#requireOpen();
    return this.collections.get(name) ?? this.#watch(() => retryOnce(() => this.#declarations.find(name)));
  }

  resource(key: Key): Promise<Stored | undefined> {
    return this.#watch(() => this.#reads.resource(key));
  }

  receipt(key: string): Promise<KeptReceipt | undefined> {
    return this.#watch(() => this.#reads.receipt(key));
  }

  read<T>(plan: () => Plan<T>, { isSingle = false }: ReadHow<T> = {}): Promise<T> {
    if (isSingle) return this.#watch(() => runPlan(plan(), this.#run));
    const read = () =>
      transact(this.#parts.connections, transactionModes.snapshot, (transaction) =>
        transaction.runPlan(plan()),
      );
    return this.#watch(() => retryOnce(read));
  }

  page(collection: NumberedCollection, query: PageQuery, client: AskClient): Declared<Page> {
    return this.#asDeclared(() => this.#lists.page(collection, query, client));
  }

  figures(collection: NumberedCollection, query: FiguresOf, client: AskClient): Declared<Figures> {
    return this.#asDeclared(() => this.#lists.figures(collection, query, client));
  }

  referring(
    collection: NumberedCollection,
    query: GroupsQuery,
    client: AskClient,
  ): Declared<ReferringGroups> {
    return this.#asDeclared(() => this.#lists.referring(collection, query, client));
  }

  /** Reads, and reads the declarations again if they have changed. */
  async #asDeclared<T>(read: () => Promise<T>): Declared<T> {
    const result = await this.#watch(() => retryOnce(read).catch(orRedeclared));
    if (result === "redeclared") await this.#watch(() => this.#declarations.reload());
    return result;
  }

  async logHeads(collections: readonly string[]): Promise<ReadonlyMap<string, LogHead>> {
    const heads = await this.#watch(() => this.#heads.read());
    return new Map([...heads].filter(([name]) => collections.includes(name)));
  }

  async *scanEach(collections: readonly ScannedCollection[]): AsyncGenerator<Stored> {
    try {
      yield* this.#scans.scanEach(collections);
    } catch (error) {
      throw this.#reachability.damage.seen(error);
    }
  }

  sizes(collections: readonly NumberedCollection[]): Promise<ReadonlyMap<string, number>> {
    return this.#watch(() => retryOnce(() => readSizes(this.#slow, collections)));
  }

  async statistics(): Promise<StoreStatistics> {
    const { connections, slow, long } = this.#parts;
    const { rows } = await this.#watch(() =>
      connections.run({ sql: "select pg_database_size(current_database())" }),
    );
    const pools = { main: connections.statistics, slow: slow.statistics, long: long.statistics };
    return { bytes: Number(rows[0]?.[0]), pools };
  }

  async time(): Promise<number> {
    const { rows } = await this.#watch(() => this.#parts.connections.run(clock));
    return Number(rows[0]?.[0]);
  }

  health(): StoreHealth {
    return this.#reachability.health;
  }

  onCommit(listener: CommitListener): () => void {
    return this.#listeners.add(listener);
  }

  async commit(commit: Commit): Promise<Committed> {
    this.#requireOpen();
    const names = allChangesOf(commit).map(({ key }) => key.collection);
    for (const name of names) if (!this.collections.has(name)) await this.#require(name);
    const numbers = names.flatMap((name) => this.collections.get(name)?.number ?? []);
    const committed = await this.#held.whenFree(numbers, () =>
      this.#watch(() => this.#commits.run(commit), { isWrite: true }),
    );
    this.#listeners.call(() => names);
    return committed;
  }

  async exclusively<T>(
    collections: readonly string[],
    work: (commit: Store["commit"]) => Promise<T>,
  ): Promise<T> {
    const exclusively = () =>
      this.#writer.exclusively(this.#parts.long, collections, (commitNow) =>
        work((commit) =>
          this.#watch(() => commitNow(commit), { isWrite: true }).finally(() =>
            this.#listeners.call(() => allChangesOf(commit).map(({ key }) => key.collection)),
          ),
        ),
      );
    return this.#watch(() => this.#loads.exclusively(exclusively));
  }

  async reserveIds(collection: string, n: number): Promise<number> {
    const { number } = await this.#require(collection);
    return this.#held.whenFree([number], () => this.#watch(() => this.#ids.reserve(number, n)));
  }

  async migrate(plan: readonly CollectionRecord[]): Promise<void> {
    while (this.#isDeclaring && this.#loads.isInProgress) await this.#loads.untilNone();
    await this.#watch(() => this.#declarations.migrate(plan));
    this.#buildIndexesNow();
  }

  async load(into: string | CollectionRecord, options?: LoadOptions): Promise<Load> {
    this.#requireOpen();
    return this.#loads.begin(into, options);
  }

  async erase({ collection, id }: Key): Promise<Erased> {
    const known = await this.#require(collection);
    const parts = { ...this.#writing, connections: this.#parts.long };
    return this.#held.whenFree([known.number], () => this.#watch(() => erase(parts, known, id)));
  }

  /** Each change is its own statement, and it is on disk when its promise resolves. */
  changeKey(change: KeyChange): Promise<boolean> {
    return this.#watch(() => this.#parts.connections.runPlan(storePlans.keys.change(change)));
  }

  attach(): StoreAttachment {
    return { attachment: this.#reachability.damage.cell, transfer: [] };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { connections, slow, long } = this.#parts;
    this.#heads.stopPolling();
    await Promise.all([
      this.#reads.drained().then(() => this.#scans.close()),
      this.#reachability.close(),
      this.#commits.drained(),
      this.#scheduler.stop(),
    ]);
    await this.#loads.cancel();
    await Promise.all([connections.close(), slow.close(), long.close()]);
  }

  async #require(name: string): Promise<NumberedCollection> {
    const known = await this.find(name);
    if (known === undefined) throw new Error(`The store has no collection ${JSON.stringify(name)}.`);
    return known;
  }

  /** Does work, and derives the health of the store from its result. Throws UNAVAILABLE if the store is closed. */
  async #watch<T>(work: () => Promise<T>, how?: { isWrite: boolean }): Promise<T> {
    this.#requireOpen();
    return this.#reachability.watch(work, how);
  }

  #requireOpen(): void {
    if (this.#closed !== undefined) throw new Problem("UNAVAILABLE", "The store is closed.");
  }
}
