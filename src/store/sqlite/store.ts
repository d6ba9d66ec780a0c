/** The store on SQLite: reads on the calling thread, writes in a thread of their own. */
import type { DatabaseSync } from "node:sqlite";
import { StartError } from "../../errors.ts";
import {
  type Erased,
  emptySlice,
  type LoggedKey,
  type LogHead,
  type LogSlice,
  type ResourceChange,
} from "../change-log.ts";
import { type Commit, type Committed, type KeptReceipt, requireSense } from "../commit.ts";
import { type CommitListener, CommitListeners } from "../commit-listeners.ts";
import type { Load } from "../load.ts";
import { Loads } from "../loads.ts";
import type { ResolvedStoreOptions } from "../options.ts";
import { emptyPage, type ListQuery, lengthOf, type Page } from "../page.ts";
import type { CollectionRecord } from "../record.ts";
import { isDeclared } from "../record.ts";
import { secretBytes } from "../secret.ts";
import { isQuick } from "../serving.ts";
import type { Store, StoreHealth } from "../store.ts";
import type { Key, Stored } from "../stored.ts";
import { Commits } from "./commit/commits.ts";
import { beginLoad } from "./commit/load.ts";
import type { Writer } from "./commit/writer-client.ts";
import { WriterRequests } from "./commit/writer-requests.ts";
import { type NumberedCollection, readCatalogue } from "./file/catalogue.ts";
import type { Lock } from "./file/lock.ts";
import { readSecret } from "./file/secret.ts";
import { type KeyChange, KeyTable } from "./key-table.ts";
import { SqliteKeys } from "./keys.ts";
import { HotPages } from "./list/hot-pages.ts";
import { QueryThreads } from "./list/query-threads.ts";
import { followersOf, HotResources } from "./read/hot-resources.ts";
import { Past } from "./read/past.ts";
import { ReadBatch } from "./read/read-batch.ts";
import { Reader } from "./read/reader.ts";
import { Scans } from "./read/scan.ts";
import { Background } from "./upkeep/background.ts";
import { Health } from "./upkeep/health.ts";

/** What the store is made of. */
export interface SqliteStoreParts extends ResolvedStoreOptions {
  path: string;
  lock: Lock;
  database: DatabaseSync;
}

/** A store that is open. `openSqliteStore` makes one. */
export class SqliteStore implements Store {
  readonly keys: SqliteKeys;
  readonly #parts: SqliteStoreParts;
  readonly #reader: Reader;
  readonly #scans: Scans;
  readonly #threads: QueryThreads;
  readonly #background: Background;
  readonly #past: Past;
  readonly #hot = new HotResources((collection) => followersOf(this.#catalogue, collection));
  readonly #listeners = new CommitListeners();
  readonly #health: Health;
  readonly #requests: WriterRequests;
  readonly #reads: ReadBatch;
  readonly #commits: Commits;
  readonly #loads: Loads;
  readonly #writer: Writer;
  #catalogue: Map<string, NumberedCollection>;
  #closed: Promise<void> | undefined;

  constructor(parts: SqliteStoreParts, writer: Writer) {
    this.#parts = parts;
    this.#writer = writer;
    this.#health = new Health(parts.onFailure);
    this.#requests = new WriterRequests(writer, this.#health);
    this.#reader = new Reader(parts.database, new HotPages());
    this.#reads = new ReadBatch(this.#reader, this.#health);
    this.#scans = new Scans(parts.path);
    this.#threads = new QueryThreads({
      path: parts.path,
      maxMs: parts.queryMs,
      toError: ({ failure, reason }) => this.#reads.problemOf(failure, reason) ?? new Error(reason),
    });
    this.#catalogue = readCatalogue(parts.database);
    this.#past = new Past(parts.database);
    const keys = new KeyTable(parts.database);
    this.keys = new SqliteKeys({
      read: async (read) => this.#reads.run(() => read(keys)),
      write: (change) => this.#changeKey(change),
    });
    this.#commits = new Commits({
      ...parts,
      requests: this.#requests,
      health: this.#health,
      numberOf: (collection) => this.#catalogue.get(collection)?.number ?? 0,
      onFollowed: (followed) => this.#hot.drop(followed),
      listeners: this.#listeners,
    });
    this.#loads = new Loads({
      drained: () => this.#commits.drained(),
      begin: (into, among) =>
        beginLoad(
          this.#requests,
          typeof into === "object" ? into : this.#requireCollection(into).number,
          among,
        ),
      onEnd: () => {
        this.#catalogue = readCatalogue(parts.database);
        this.#background.gather();
      },
    });
    this.#background = new Background({
      ...parts,
      requests: this.#requests,
      health: this.#health,
      isLoading: () => this.#loads.isInProgress,
    });
  }

  /** On the path of every request, so without the turns that an async function takes. */
  read({ collection, id }: Key): Stored | undefined | Promise<Stored | undefined> {
    const known = this.#known(collection);
    if (known === undefined) return undefined;
    return this.#hot.get(collection, id) ?? this.#reads.run(() => this.#readResource(known, id), textLength);
  }

  async list({ collection, signal, ...query }: ListQuery): Promise<Page> {
    const known = this.#known(collection);
    if (known === undefined) return emptyPage;
    if (isQuick(query, known.indexes)) {
      const page = await this.#reads.run(() => this.#reader.page(known, query), lengthOf);
      if (page.total !== undefined || query.count !== true) return page;
    }
    return this.#threads.page(known, query, signal?.());
  }

  async count(collection: string): Promise<number> {
    const known = this.#known(collection);
    return known === undefined ? 0 : this.#reads.run(() => this.#reader.head(known).count);
  }

  async changesAfter(collection: string, sequence: number, limit: number): Promise<LogSlice> {
    const read = (known: NumberedCollection) => ({
      changes: this.#past.changesAfter(known, sequence, limit),
      ...this.#logHead(known),
    });
    return (await this.#readPast(collection, read, sliceLength)) ?? emptySlice;
  }

  changeAt(collection: string, sequence: number): Promise<LoggedKey | undefined> {
    return this.#readPast(
      collection,
      (known) => this.#past.changeAt(known, sequence),
      () => 0,
    );
  }

  async logHeads(collections: readonly string[]): Promise<ReadonlyMap<string, LogHead>> {
    const known = collections.map((name) => this.#known(name)).filter((each) => each !== undefined);
    const read = () => new Map(known.map((each) => [each.name, this.#logHead(each)]));
    return this.#reads.run(() => this.#reader.inSnapshot(read));
  }

  onCommit(listener: CommitListener): () => void {
    return this.#listeners.add(listener);
  }

  async changesOf(
    { collection, id }: Key,
    page: { before: number; limit: number },
  ): Promise<readonly ResourceChange[]> {
    const read = (known: NumberedCollection) => this.#past.changes(known, id, page);
    return (await this.#readPast(collection, read, () => 0)) ?? [];
  }

  version({ collection, id }: Key, version: number): Promise<Stored | undefined> {
    return this.#readPast(collection, (known) => this.#past.version(known, id, version), textLength);
  }

  versionAt({ collection, id }: Key, at: number): Promise<Stored | undefined> {
    return this.#readPast(collection, (known) => this.#past.at(known, id, at), textLength);
  }

  async erase(key: Key): Promise<Erased> {
    this.#requireWritable();
    const { number } = this.#requireCollection(key.collection);
    const own = [{ key, expect: "absent", next: undefined }] as const;
    this.#hot.forget(own);
    try {
      const request = { kind: "erase", collection: number, id: key.id } as const;
      const { resource, changes, followed } = await this.#requests.sendFor("erased", request);
      this.#hot.drop(followed);
      return { resource, changes, followed };
    } finally {
      this.#background.gather();
      this.#hot.release(own);
      this.#listeners.call(() => [...this.#catalogue.keys()]); // resources of others may have changed too
    }
  }

  async receipt(key: string, now: number): Promise<KeptReceipt | undefined> {
    return this.#reads.run(() => this.#reader.receipt(key, now));
  }

  async commit(commit: Commit): Promise<Committed> {
    this.#requireWritable();
    for (const { key } of commit.changes) this.#requireCollection(key.collection);
    requireSense(commit);
    this.#hot.forget(commit.changes);
    try {
      return await this.#commits.run(commit);
    } finally {
      this.#hot.release(commit.changes);
    }
  }

  async reserveIds(collection: string, n: number): Promise<number> {
    const load = this.#loads.into(collection);
    if (load !== undefined) return load.reserve(n);
    const { number } = this.#requireCollection(collection);
    return (await this.#requests.sendFor("reserved", { kind: "reserve", collection: number, n })).first;
  }

  collections(): ReadonlyMap<string, CollectionRecord> {
    return this.#catalogue;
  }

  async collectionNames(): Promise<readonly string[]> {
    return [...this.#catalogue.keys()];
  }

  async migrate(plan: readonly CollectionRecord[]): Promise<void> {
    this.#requireWritable();
    if (plan.every((record) => isDeclared(this.#catalogue.get(record.name), record))) return;
    const toError = (message: string) => new StartError(message);
    const migrated = await this.#requests.sendFor("migrated", { kind: "migrate", plan }, toError);
    for (const collection of migrated.collections) this.#catalogue.set(collection.name, collection);
    this.#background.gather();
  }

  async load(collection: string | CollectionRecord, among: readonly string[] = []): Promise<Load> {
    this.#requireWritable();
    return this.#loads.begin(collection, among);
  }

  async *scan(collection: string): AsyncGenerator<Stored> {
    const known = this.#known(collection);
    if (known !== undefined) yield* this.#scans.scan(known);
  }

  async secret(): Promise<Buffer> {
    return this.#reads.run(() => secretBytes(readSecret(this.#parts.database)));
  }

  health(): StoreHealth {
    return this.#health.now;
  }

  close(): Promise<void> {
    this.#health.close();
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Stops for good: from now on everything is refused. */
  fail(reason: string): void {
    this.#health.fail(reason);
  }

  async #close(): Promise<void> {
    await Promise.all([this.#background.stop(), this.#reads.drained(), this.#commits.drained()]);
    this.#scans.close();
    await this.#threads.close();
    this.#parts.database.close(); // before the writer, so that the last to leave tidies up
    try {
      await this.#writer.close();
    } finally {
      this.#parts.lock.release();
    }
  }

  #known(collection: string): NumberedCollection | undefined {
    this.#health.requireWorking();
    return this.#catalogue.get(collection);
  }

  #requireCollection(name: string): NumberedCollection {
    const known = this.#catalogue.get(name);
    if (known === undefined) throw new Error(`The store has no collection ${JSON.stringify(name)}.`);
    return known;
  }

  #requireWritable(): void {
    this.#health.requireWorking();
    this.#loads.requireNone();
  }

  #logHead(known: NumberedCollection): LogHead {
    return { sequence: this.#reader.head(known).sequence, gapsUpTo: this.#past.gapsUpTo(known) };
  }

  #readResource(collection: NumberedCollection, id: string): Stored | undefined {
    const resource = this.#reader.resource(collection, id);
    if (resource !== undefined) this.#hot.keep(collection.name, resource);
    return resource;
  }

  async #changeKey(change: KeyChange): Promise<boolean> {
    this.#requireWritable();
    return (await this.#requests.sendFor("keyed", { kind: "key", change })).isChanged;
  }

  async #readPast<T>(
    collection: string,
    read: (known: NumberedCollection) => T,
    length: (answer: T) => number,
  ): Promise<T | undefined> {
    const known = this.#known(collection);
    if (known === undefined) return undefined;
    return this.#reads.run(() => this.#reader.inSnapshot(() => read(known)), length);
  }
}

function sliceLength({ changes }: LogSlice): number {
  return changes.reduce((sum, { text = "" }) => sum + text.length, 0);
}

function textLength(resource: Stored | undefined): number {
  return resource?.text.length ?? 0;
}
