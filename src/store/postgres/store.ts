/** The store on PostgreSQL. Nothing that matters is kept here: other instances work on the same database. */
import { Problem } from "../../errors.ts";
import { Background } from "../background.ts";
import type { Batch } from "../batch.ts";
import {
  type Erased,
  emptySlice,
  type LoggedKey,
  type LogHead,
  type LogSlice,
  type ResourceChange,
} from "../change-log.ts";
import { type Commit, type Committed, createCommitBatch, type KeptReceipt, requireSense } from "../commit.ts";
import { type CommitListener, CommitListeners } from "../commit-listeners.ts";
import type { Keys } from "../keys.ts";
import type { Load } from "../load.ts";
import { Loads } from "../loads.ts";
import type { ResolvedStoreOptions } from "../options.ts";
import { emptyPage, type ListQuery, type Page } from "../page.ts";
import { receiptLimits } from "../receipts.ts";
import type { CollectionRecord } from "../record.ts";
import { secretBytes } from "../secret.ts";
import type { Store, StoreHealth } from "../store.ts";
import type { Key, Stored } from "../stored.ts";
import { PostgresKeys } from "./api-keys.ts";
import { Commits, type CommitsParts } from "./commit/commits.ts";
import { erase } from "./commit/erase.ts";
import { beginLoad } from "./commit/load.ts";
import { GroupNumbers, IdNumbers } from "./commit/numbers.ts";
import { type Connections, probe } from "./connection/connections.ts";
import { findRelaxed } from "./connection/durability.ts";
import { failureOf } from "./connection/failures.ts";
import { Reachability } from "./connection/reachability.ts";
import { retryOnce } from "./connection/retry.ts";
import { Lists } from "./list/lists.ts";
import { Heads } from "./read/heads.ts";
import { inPast, type Past } from "./read/past.ts";
import { Reads, type Run } from "./read/reads.ts";
import { Scans } from "./read/scans.ts";
import type { NumberedCollection } from "./tables/catalogue.ts";
import { Declarations } from "./tables/declarations.ts";
import { isKeepable } from "./tables/id-keys.ts";
import { prepareDatabase } from "./tables/prepare.ts";
import { readSecret } from "./tables/secret.ts";
import { noteGaps, selectGapsAtEnd, selectHead } from "./tables/statements.ts";
import { startWork } from "./upkeep/background.ts";

/** How often a list is read anew whose collection others declare anew at the same time. */
const maxTries = 5;

/** What the store is made of. */
export interface PostgresStoreParts extends ResolvedStoreOptions {
  /** For reads and commits. */
  connections: Connections;
  /** For lists that can take long. */
  slow: Connections;
  /** For work that is open for as long as it takes: imports, scans and migrations. */
  long: Connections;
}

/** A store that is open. `openPostgresStore` makes one. */
export class PostgresStore implements Store {
  readonly #parts: PostgresStoreParts;
  readonly #declarations: Declarations;
  readonly #run: Run;
  readonly #reads: Reads;
  readonly #lists: Lists;
  readonly #scans: Scans;
  readonly #ids: IdNumbers;
  readonly #writing: CommitsParts;
  readonly #commits: Batch<Commit, Committed>;
  readonly #loads: Loads;
  readonly #reachability: Reachability;
  readonly keys: Keys;
  readonly #heads: Heads;
  readonly #listeners: CommitListeners;
  readonly #background = new Background();
  /** There may be words to gather. */
  #gatherNow = () => {};
  #reached: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(parts: PostgresStoreParts) {
    const { connections, slow, long, groupCommit, queryMs, history } = parts;
    this.#parts = parts;
    const maxBatchSize = groupCommit ? 1_000 : 1;
    this.#reachability = new Reachability(() => connections.run(probe));
    this.#declarations = new Declarations(connections, long);
    this.#run = (statement) => retryOnce(() => connections.run(statement));
    this.#reads = new Reads({ run: this.#run, find: (name) => this.#declarations.find(name), maxBatchSize });
    this.#lists = new Lists({ quick: connections, slow, maxMs: queryMs });
    this.#scans = new Scans(long);
    this.keys = new PostgresKeys((statement) => this.#watch(() => connections.run(statement)));
    this.#heads = new Heads(this.#run, this.#declarations);
    this.#listeners = new CommitListeners({
      onFirst: () => this.#heads.startPolling((names) => this.#listeners.call(() => names)),
      onNone: () => this.#heads.stopPolling(),
    });
    this.#ids = new IdNumbers(connections, maxBatchSize);
    this.#writing = {
      connections,
      catalogue: () => this.#declarations.catalogue,
      reload: () => this.#declarations.reload(),
      groups: new GroupNumbers(connections),
      ids: this.#ids,
      isLogged: history !== "none",
      receiptLimits: parts.receipts ?? receiptLimits,
    };
    const commits = new Commits(this.#writing);
    const perform = (group: readonly Commit[]) => commits.perform(group);
    this.#commits = createCommitBatch(parts, { perform, maxConcurrent: 1 });
    this.#loads = new Loads({
      drained: () => this.#commits.drained(),
      begin: async (into, among) => {
        if (typeof into === "string") await this.#require(into);
        return beginLoad({ ...this.#writing, connections: long }, into, among);
      },
      onEnd: async () => {
        await this.#declarations.reload().catch(() => {}); // a later use finds that it is not up to date
        this.#gatherNow();
      },
    });
  }

  /** Several calls at once are one. */
  reach(): Promise<void> {
    this.#reached ??= this.#reach().catch((error: unknown) => {
      this.#reached = undefined;
      const answer = this.#reachability.noteFailure(error);
      throw ["denied", "refused"].includes(failureOf(error)) ? error : answer; // nobody waits for a right
    });
    return this.#reached;
  }

  /** Makes the tables where there are none, reads what is declared, and begins the work in the background. */
  async #reach(): Promise<void> {
    const { connections, readOnly, onWarning } = this.#parts;
    await prepareDatabase(connections, { isThere: readOnly, mayRaise: !readOnly });
    const relaxed = await findRelaxed(connections);
    if (relaxed !== undefined) onWarning(relaxed);
    await this.#declarations.reload();
    this.#reachability.noteReached({ isRelaxed: relaxed !== undefined });
    if (readOnly) return;
    await this.#noteGapsAtEnd();
    const catalogue = () => this.#declarations.catalogue;
    this.#gatherNow = startWork(this.#background, { ...this.#parts, catalogue });
  }

  /** Notes gaps in the logs that lack their last change: history was off when it was made. */
  async #noteGapsAtEnd(): Promise<void> {
    const { connections, history } = this.#parts;
    const numbers = [...this.#declarations.catalogue.byNumber.keys()];
    if (history === "none" || numbers.length === 0) return;
    const { rows } = await connections.run(selectGapsAtEnd(numbers));
    for (const [number] of rows) await connections.run(noteGaps(Number(number)));
  }

  read(key: Key): Promise<Stored | undefined> {
    return this.#watch(() => this.#reads.resource(key));
  }

  async list({ collection, signal, ...query }: ListQuery): Promise<Page> {
    for (let tries = 0; tries < maxTries; tries++) {
      const known = await this.#find(collection);
      if (known === undefined) return emptyPage;
      const read = await this.#watch(() => retryOnce(() => this.#lists.page(known, query, signal)));
      if (read !== "declaredAnew") return read.page;
      await this.#watch(() => this.#declarations.reload());
    }
    throw new Problem("UNAVAILABLE", "The declaration of the collection is being changed. Try again.");
  }

  async count(collection: string): Promise<number> {
    const known = await this.#find(collection);
    if (known === undefined) return 0;
    const { rows } = await this.#watch(() => this.#run(selectHead(known.number)));
    return Number(rows[0]?.[1]);
  }

  async changesAfter(collection: string, sequence: number, limit: number): Promise<LogSlice> {
    const read = (past: Past, known: NumberedCollection) => past.changesAfter(known, sequence, limit);
    return (await this.#inPast({ collection, id: "" }, read)) ?? emptySlice;
  }

  changeAt(collection: string, sequence: number): Promise<LoggedKey | undefined> {
    return this.#inPast({ collection, id: "" }, (past, known) => past.changeAt(known, sequence));
  }

  async logHeads(collections: readonly string[]): Promise<ReadonlyMap<string, LogHead>> {
    const heads = await this.#watch(() => this.#heads.read());
    return new Map([...heads].filter(([name]) => collections.includes(name)));
  }

  onCommit(listener: CommitListener): () => void {
    return this.#listeners.add(listener);
  }

  async changesOf(key: Key, page: { before: number; limit: number }): Promise<readonly ResourceChange[]> {
    return (await this.#inPast(key, (past, known) => past.changes(known, key.id, page))) ?? [];
  }

  version(key: Key, version: number): Promise<Stored | undefined> {
    return this.#inPast(key, (past, known) => past.version(known, key.id, version));
  }

  versionAt(key: Key, at: number): Promise<Stored | undefined> {
    return this.#inPast(key, (past, known) => past.at(known, key.id, at));
  }

  async erase({ collection, id }: Key): Promise<Erased> {
    this.#requireWritable();
    const known = await this.#require(collection);
    const { connections, ...others } = this.#writing;
    return this.#watch(() => erase({ ...others, connections: this.#parts.long }, known, id));
  }

  async receipt(key: string, now: number): Promise<KeptReceipt | undefined> {
    const receipt = await this.#watch(() => this.#reads.receipt(key));
    return receipt !== undefined && receipt.expiresAt > now ? receipt : undefined;
  }

  async commit(commit: Commit): Promise<Committed> {
    this.#requireWritable();
    for (const { key } of commit.changes) {
      if (!this.#declarations.catalogue.byName.has(key.collection)) await this.#require(key.collection);
    }
    requireSense(commit);
    const committed = await this.#watch(() => this.#commits.run(commit), { isWrite: true });
    this.#listeners.call(() => commit.changes.map(({ key }) => key.collection));
    return committed;
  }

  async reserveIds(collection: string, n: number): Promise<number> {
    this.#requireOpen();
    const load = this.#loads.into(collection);
    if (load !== undefined) return load.reserve(n);
    const { number } = await this.#require(collection);
    return this.#watch(() => this.#ids.reserve(number, n));
  }

  collections(): ReadonlyMap<string, CollectionRecord> {
    return this.#declarations.catalogue.byName;
  }

  async collectionNames(): Promise<readonly string[]> {
    return this.#watch(() => retryOnce(() => this.#declarations.names()));
  }

  async migrate(plan: readonly CollectionRecord[]): Promise<void> {
    this.#requireWritable();
    await this.#watch(() => this.#declarations.migrate(plan));
    this.#gatherNow();
  }

  async load(collection: string | CollectionRecord, among: readonly string[] = []): Promise<Load> {
    this.#requireWritable();
    return this.#loads.begin(collection, among);
  }

  async *scan(collection: string): AsyncGenerator<Stored> {
    const known = await this.#find(collection);
    if (known !== undefined) yield* this.#scans.scan(known);
  }

  async secret(): Promise<Buffer> {
    return secretBytes(await this.#watch(() => readSecret(this.#run)));
  }

  health(): StoreHealth {
    return this.#reachability.health;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { connections, slow, long } = this.#parts;
    this.#heads.stopPolling();
    await this.#reachability.close();
    await Promise.all([this.#reads.drained(), this.#commits.drained(), this.#background.stop()]);
    await this.#loads.cancel();
    this.#scans.close();
    await Promise.all([connections.close(), slow.close(), long.close()]);
  }

  #requireOpen(): void {
    if (this.#closed !== undefined) throw new Problem("UNAVAILABLE", "The store is closed.");
  }

  #requireWritable(): void {
    this.#requireOpen();
    this.#loads.requireNone();
  }

  async #find(name: string): Promise<NumberedCollection | undefined> {
    this.#requireOpen();
    const known = this.#declarations.catalogue.byName.get(name);
    return known ?? this.#watch(() => retryOnce(() => this.#declarations.find(name)));
  }

  async #require(name: string): Promise<NumberedCollection> {
    const known = await this.#find(name);
    if (known === undefined) throw new Error(`The store has no collection ${JSON.stringify(name)}.`);
    return known;
  }

  async #inPast<T>(
    { collection, id }: Key,
    read: (past: Past, known: NumberedCollection) => Promise<T>,
  ): Promise<T | undefined> {
    const known = await this.#find(collection);
    if (known === undefined || !isKeepable(id)) return undefined;
    const work = (past: Past) => read(past, known);
    return this.#watch(() => retryOnce(() => inPast(this.#parts.connections, work)));
  }

  async #watch<T>(work: () => Promise<T>, how?: { isWrite: boolean }): Promise<T> {
    this.#requireOpen();
    return this.#reachability.watch(work, how);
  }
}
