/** The driver of SQLite: reads on the calling thread, long lists in threads of their own, and writes in the writer thread. */
import { stat } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";
import type { MessagePort } from "node:worker_threads";
import { Problem, StartError } from "../../errors.ts";
import { isQuick } from "../core/access-path.ts";
import { builtIndexes, type NumberedCollection } from "../core/catalogue.ts";
import {
  type AskClient,
  type CommitListener,
  CommitListeners,
  type Driver,
  type ReadHow,
  type ScannedCollection,
  textLength,
} from "../core/driver.ts";
import type { FiguresOf } from "../core/figures.ts";
import type { KeyChange } from "../core/key-plans.ts";
import { type ExpectedEnd, Loads } from "../core/loads.ts";
import type { GroupsQuery, PageQuery } from "../core/related.ts";
import type { Erased, LogHead } from "../port/change-log.ts";
import { allChangesOf, type Commit, type Committed } from "../port/commit.ts";
import type { ResolvedStoreOptions } from "../port/options.ts";
import { type Figures, lengthOf, type Page, type ReferringGroups } from "../port/page.ts";
import { type CollectionRecord, isDeclared } from "../port/record.ts";
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
import { beginLoad, Commits, type WriterConnection, WriterRequests } from "./commit/writer-client.ts";
import { InvalidStateError } from "./file/failures.ts";
import type { Lock } from "./file/lock.ts";
import { createLogReader, databaseBytes, pageBytes } from "./file/log-state.ts";
import type { Queries, QueriesOptions } from "./list/query-threads.ts";
import { type Marks, SharedCatalogue } from "./marks.ts";
import { HotResources } from "./read/hot-reads.ts";
import { ReadBatch } from "./read/read-batch.ts";
import { type Reader, Scans } from "./read/reader.ts";
import { Sizes } from "./read/sizes.ts";
import { type PlanRunner, storePlans } from "./sqlite-dialect.ts";
import { Background } from "./upkeep/background.ts";
import type { Health } from "./upkeep/health.ts";
import { unfinishedErasures } from "./writer/file-erasure.ts";

/** Where the driver reads short reads. */
export interface Readers {
  readonly reader: Reader;
  readonly plans: PlanRunner;
}

/** The parts of the driver. */
export interface SqliteDriverParts extends ResolvedStoreOptions {
  /** Absent if the store is in memory. */
  path: string | undefined;
  /** The connection for reading. It is that of the writer if the store is in memory. */
  database: DatabaseSync;
  readers: Readers;
  /** Opens a connection for one scan. */
  connect: () => DatabaseSync;
  createQueries: (options: QueriesOptions) => Queries;
  health: Health;
  marks: Marks;
  /** The memory of `marks`. */
  memory: SharedArrayBuffer;
  /** Absent if another thread has opened the store, and this one has joined, or if the store is in memory. */
  lock: Lock | undefined;
  /** Whether this thread builds indexes and removes old data. One thread of the process does. */
  hasUpkeep: boolean;
  expectedEnd: ExpectedEnd;
}

/** What another thread of the process needs to use an open store. */
export interface SqliteAttachment {
  path: string;
  /** The memory of `Marks`. */
  marks: SharedArrayBuffer;
  /** A connection to the writer thread. */
  writer: MessagePort;
}

/** The connections of stores that have failed. */
const leftOpen: DatabaseSync[] = [];

/** The driver of an open store. `openSqliteStore` makes one. */
export class SqliteDriver implements Driver {
  readonly plans = storePlans;
  readonly #parts: SqliteDriverParts;
  readonly #database: DatabaseSync;
  readonly #health: Health;
  readonly #readers: Readers;
  readonly #scans: Scans;
  readonly #queries: Queries;
  readonly #sizes: Sizes;
  readonly #reads: ReadBatch;
  readonly #hot: HotResources;
  readonly #shared: SharedCatalogue;
  readonly #listeners = new CommitListeners({
    onFirst: () => this.#listen(true),
    onNone: () => this.#listen(false),
  });
  readonly #writer: WriterConnection;
  readonly #requests: WriterRequests;
  readonly #commits: Commits;
  readonly #loads: Loads;
  readonly #background: Background;
  #closed: Promise<void> | undefined;

  constructor(parts: SqliteDriverParts, writer: WriterConnection) {
    const { database, health, marks, queryMs, readers } = parts;
    this.#parts = parts;
    this.#database = database;
    this.#health = health;
    this.#hot = new HotResources(marks);
    this.#readers = readers;
    this.#scans = new Scans(parts.connect);
    this.#reads = new ReadBatch(readers, { health, marks });
    this.#queries = parts.createQueries({
      maxMs: queryMs,
      onProblem: (problem) => health.damage.seen(problem),
      toError: ({ failure, reason }) => this.#reads.problemOf(failure, reason) ?? new Error(reason),
    });
    this.#sizes = new Sizes({
      measure: (collections) => this.#queries.sizes(collections),
      maxWaitMs: maxSizesWaitMs,
    });
    this.#shared = new SharedCatalogue(database, marks);
    this.#writer = writer;
    this.#requests = new WriterRequests(writer, health);
    this.#commits = new Commits({
      ...parts,
      requests: this.#requests,
      numberOf: (collection) => this.collections.get(collection)?.number ?? 0,
    });
    this.#loads = new Loads({
      maxWaitMs: parts.importWaitMs,
      expectedEnd: parts.expectedEnd,
      drained: () => this.#commits.drained(),
      hold: async () => {
        await this.#requests.send("hold");
      },
      release: () => this.#requests.send("release").catch(() => {}), // the writer has ended, so no thread writes
      begin: (into, options) =>
        beginLoad(this.#requests, typeof into === "object" ? into : this.#require(into).number, options),
      onEnd: () => this.#background.buildIndexes(),
    });
    this.#background = new Background({
      ...parts,
      requests: this.#requests,
      isLoading: () => this.#loads.isInProgress,
    });
  }

  get collections(): ReadonlyMap<string, NumberedCollection> {
    return this.#shared.all;
  }

  find(name: string): NumberedCollection | undefined {
    this.#health.requireWorking();
    return this.collections.get(name);
  }

  /** On the path of every request, so without the turns that an async function takes. */
  resource({ collection, id }: Key): Stored | undefined | Promise<Stored | undefined> {
    const known = this.find(collection);
    if (known === undefined) return undefined;
    return (
      this.#hot.get(collection, id) ??
      this.#reads.run((ended) => this.#readResource(known, id, ended), textLength)
    );
  }

  #readResource(collection: NumberedCollection, id: string, ended: number): Stored | undefined {
    const resource = this.#readers.reader.resource(collection, id);
    if (resource !== undefined) this.#hot.keep(collection, resource, ended);
    return resource;
  }

  read<T>(plan: () => Plan<T>, { isSingle = false, lengthOf: length }: ReadHow<T> = {}): Promise<T> {
    const work = () => this.#readers.plans.run(plan());
    return this.#reads.run(isSingle ? work : () => this.#readers.reader.inSnapshot(work), length);
  }

  async page(collection: NumberedCollection, query: PageQuery, client: AskClient): Promise<Page> {
    if (isQuick(query, builtIndexes(collection))) {
      const page = await this.#reads.run(() => this.#readers.reader.page(collection, query), lengthOf);
      if (page.total !== undefined || query.count !== true) return page;
    }
    return this.#queries.list("page", [collection, query], client?.());
  }

  async referring(
    collection: NumberedCollection,
    query: GroupsQuery,
    client: AskClient,
  ): Promise<ReferringGroups> {
    const few = await this.#reads.run(
      () => this.#readers.reader.referringIfFew(collection, query),
      groupsLength,
    );
    return few ?? this.#queries.list("referring", [collection, query], client?.());
  }

  figures(collection: NumberedCollection, query: FiguresOf, client: AskClient): Promise<Figures> {
    return this.#queries.list("figures", [collection, query], client?.());
  }

  async logHeads(names: readonly string[]): Promise<ReadonlyMap<string, LogHead>> {
    const known = names.map((name) => this.find(name)).filter((each) => each !== undefined);
    const headOf = (each: NumberedCollection) => this.#readers.plans.run(storePlans.historyOf(each).head());
    const read = () => new Map(known.map((each) => [each.name, headOf(each)]));
    return this.#reads.run(() => this.#readers.reader.inSnapshot(read));
  }

  async *scanEach(collections: readonly ScannedCollection[]): AsyncGenerator<Stored> {
    try {
      yield* this.#scans.scanEach(collections);
    } catch (error) {
      throw this.#health.damage.seen(error);
    }
  }

  async sizes(collections: readonly NumberedCollection[]): Promise<ReadonlyMap<string, number>> {
    const read = () =>
      collections.map((collection) => ({ collection, ...this.#readers.reader.head(collection) }));
    return this.#sizes.of(await this.#reads.run(read));
  }

  async statistics(): Promise<StoreStatistics> {
    const { path } = this.#parts;
    if (path === undefined) return { bytes: databaseBytes(this.#database), logBytes: 0, logWaitingBytes: 0 };
    const sizeOf = (file: string) =>
      stat(file).then(
        ({ size }) => size,
        () => 0,
      );
    const [bytes, logBytes] = await Promise.all([sizeOf(path), sizeOf(`${path}-wal`)]);
    const { waiting } = createLogReader(this.#database)();
    return { bytes, logBytes, logWaitingBytes: waiting * pageBytes(this.#database) };
  }

  health(): StoreHealth {
    return this.#health.now;
  }

  onCommit(listener: CommitListener): () => void {
    return this.#listeners.add(listener);
  }

  commit(commit: Commit): Promise<Committed> {
    return this.#whenFree(() => this.#commitNow(commit));
  }

  async exclusively<T>(
    _collections: readonly string[],
    work: (commit: Store["commit"]) => Promise<T>,
  ): Promise<T> {
    this.#health.requireWorking();
    return this.#loads.exclusively(() => work(async (commit) => this.#commitNow(commit)));
  }

  #commitNow(commit: Commit): Promise<Committed> {
    this.#health.requireWorking();
    for (const { key } of allChangesOf(commit)) this.#require(key.collection);
    return this.#commits.run(commit);
  }

  async load(into: string | CollectionRecord, options?: LoadOptions): Promise<Load> {
    this.#health.requireWorking();
    return this.#loads.begin(into, options);
  }

  reserveIds(collection: string, n: number): Promise<number> {
    return this.#whenFree(() => this.#requests.run("reserve", [this.#require(collection).number, n]));
  }

  migrate(plan: readonly CollectionRecord[]): Promise<void> {
    return this.#whenFree(async () => {
      if (plan.every((record) => isDeclared(this.collections.get(record.name), record))) return;
      const toError = (message: string) => new StartError(message);
      const migrated = await this.#requests.run("migrate", [plan], toError);
      this.#shared.add(migrated.collections, migrated.before);
      this.#background.buildIndexes();
    });
  }

  changeKey(change: KeyChange): Promise<boolean> {
    return this.#whenFree(() => this.#requests.run("changeKey", [change]));
  }

  erase({ collection, id }: Key): Promise<Erased> {
    return this.#whenFree(async () => {
      const { number } = this.#require(collection);
      try {
        const erased = await this.#requests.run("erase", [number, id]);
        const unfinished = await this.#finishErasures();
        return { ...erased, ...(unfinished !== undefined && { unfinished }) };
      } finally {
        this.#background.buildIndexes();
      }
    });
  }

  /** Finishes erasures that were interrupted, and warns that it did or could not. */
  async resumeErasures(): Promise<void> {
    if (unfinishedErasures(this.#database).length === 0) return;
    const unfinished = await this.#finishErasures();
    this.#parts.onWarning(
      unfinished === undefined
        ? "finished an erase that was interrupted: the files of the store do not have its text any more"
        : `an erase was interrupted, and its text is still in unused parts of the files, because ${unfinished}, and restart the service`,
    );
  }

  async #finishErasures(): Promise<Erased["unfinished"]> {
    try {
      await this.#requests.send("finishErasures");
      return undefined;
    } catch (error) {
      if (error instanceof InvalidStateError)
        return "another program reads the store. Wait until it has ended";
      if (error instanceof Problem && error.code === "STORAGE_FULL")
        return "the disk is full. Free some space";
      throw error;
    }
  }

  attach(): StoreAttachment | undefined {
    const { path, memory, readOnly } = this.#parts;
    if (readOnly) return undefined; // any thread can open it for reading
    if (path === undefined) throw new Error("Only the thread that has opened a store in memory can use it.");
    const writer = this.#writer.connect();
    const attachment: SqliteAttachment = { path, marks: memory, writer };
    return { attachment, transfer: [writer] };
  }

  /** Tells the listeners that collections with these numbers may have changed. */
  noteChanged(collections: readonly number[]): void {
    this.#listeners.call(() => this.#shared.namesOf(collections));
  }

  /** Whether the store needs to know which collections other threads change. */
  #listen(isListening: boolean): void {
    // A commit before the writer knows could have been missed.
    const callAll = () => this.#listeners.call(() => this.collections.keys());
    this.#requests.send("listen", isListening).then(callAll, () => {}); // the store reports its failure itself
  }

  close(): Promise<void> {
    this.#health.close();
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#background.stop(), this.#reads.drained(), this.#commits.drained()]);
    this.#scans.close();
    await this.#queries.close();
    // Before the writer, whose connection is then the last one and tidies up. After a failure, the connection stays open until
    // the process ends, because SQLite would move the log into the file with the last connection.
    if (this.#health.now.kind === "failed") leftOpen.push(this.#database);
    else if (this.#parts.path !== undefined) this.#database.close();
    try {
      await this.#writer.close();
    } finally {
      this.#parts.lock?.release();
    }
  }

  /** Does work when no import is in progress. Throws UNAVAILABLE. The work must send its request before its first wait. */
  async #whenFree<T>(work: () => Promise<T>): Promise<T> {
    while (this.#loads.isInProgress) await this.#loads.untilNone();
    this.#health.requireWorking();
    return work();
  }

  #require(name: string): NumberedCollection {
    const known = this.collections.get(name);
    if (known === undefined) throw new Error(`The store has no collection ${JSON.stringify(name)}.`);
    return known;
  }
}

function groupsLength(groups: ReferringGroups | undefined = []): number {
  return groups.reduce((sum, group) => sum + (group === undefined ? 0 : lengthOf(group)), 0);
}
