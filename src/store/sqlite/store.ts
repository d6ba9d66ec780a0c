/** The store on SQLite: reads on the calling thread, writes in a thread of their own. */
import type { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { Problem, StartError } from "../../errors.ts";
import { type Batch, createBatch, type Outcome } from "../batch.ts";
import type {
  CollectionRecord,
  Commit,
  Committed,
  Erased,
  KeptReceipt,
  Key,
  ListQuery,
  Load,
  LoggedChange,
  Page,
  ResourceChange,
  Store,
  Stored,
  StoreHealth,
} from "../store.ts";
import { requireSense, textLength } from "./calls.ts";
import { type NumberedCollection, readCatalogue } from "./catalogue.ts";
import { startCheck } from "./check.ts";
import { describeError, type Failure, failureOf } from "./failures.ts";
import { Gathering } from "./gathering.ts";
import { HotPages } from "./hot-pages.ts";
import { HotResources } from "./hot-resources.ts";
import { type KeyChange, KeyTable } from "./key-table.ts";
import { SqliteKeys } from "./keys.ts";
import { SqliteLoad } from "./load.ts";
import type { Lock } from "./lock.ts";
import { Past } from "./past.ts";
import {
  type Cell,
  decodeFates,
  encodeCommit,
  type Fate,
  type WriterAnswer,
  type WriterRequest,
} from "./protocol.ts";
import { QueryThreads } from "./query-threads.ts";
import { Reader } from "./reader.ts";
import { Scans } from "./scan.ts";
import { isQuick } from "./serving.ts";
import { Sweeping } from "./sweeping.ts";
import { watchFiles } from "./watch.ts";
import type { WriterClient } from "./writer-client.ts";

/** What the store is put together from. */
export interface SqliteStoreParts {
  path: string;
  lock: Lock;
  database: DatabaseSync;
  answersPerTurn: () => number;
  groupCommit: boolean;
  queryMs: number;
  sweepMs: number;
  onFailure: (reason: string) => void;
}

/** Text of commits that may wait for the disk, in characters. */
const maxWaitingText = 128 * 1024 * 1024;

const nothing = Promise.resolve(undefined);

const emptyPage: Page = { items: [], more: false, total: 0, sequence: 0 };

/** A store that is open. `openSqliteStore` makes one. */
export class SqliteStore implements Store {
  readonly keys: SqliteKeys;
  readonly #parts: SqliteStoreParts;
  readonly #reader: Reader;
  readonly #scans: Scans;
  readonly #threads: QueryThreads;
  readonly #gathering: Gathering;
  readonly #sweeping: Sweeping;
  readonly #past: Past;
  readonly #hot = new HotResources();
  readonly #reads: Batch<() => unknown, unknown>;
  readonly #commits: Batch<Commit, Committed>;
  readonly #writer: WriterClient;
  readonly #stopWatching: () => void;
  readonly #endCheck: () => Promise<void>;
  #catalogue: Map<string, NumberedCollection>;
  #health: StoreHealth = { kind: "ok" };
  #load: SqliteLoad | undefined;
  #closed: Promise<void> | undefined;

  constructor(parts: SqliteStoreParts, writer: WriterClient) {
    this.#parts = parts;
    this.#reader = new Reader(parts.database, new HotPages());
    this.#scans = new Scans(parts.path);
    this.#threads = new QueryThreads({
      path: parts.path,
      maxMs: parts.queryMs,
      toError: ({ failure, reason }) => this.#readFailure(failure, reason) ?? new Error(reason),
    });
    this.#catalogue = readCatalogue(parts.database);
    this.#writer = writer;
    this.#gathering = new Gathering(parts.database, (request) => this.#ask(request));
    this.#gathering.start();
    this.#sweeping = new Sweeping((request) => this.#ask(request), parts.sweepMs);
    this.#sweeping.start();
    this.#past = new Past(parts.database);
    const keys = new KeyTable(parts.database);
    this.keys = new SqliteKeys({
      read: (read) => this.#readKeys(() => read(keys)),
      write: (change) => this.#changeKey(change),
    });
    this.#reads = createBatch({ perform: (reads) => this.#readTogether(reads) });
    this.#commits = createBatch({
      perform: (commits) => this.#commitTogether(commits),
      maxTogether: parts.groupCommit ? 1_000 : 1,
      answersPerTurn: parts.answersPerTurn,
      maxWeight: maxWaitingText,
      weigh: textLength,
    });
    this.#stopWatching = watchFiles(parts.path, {
      onGone: (reason) => this.fail(reason),
      onTick: () => this.#probe(),
    });
    this.#endCheck = startCheck(parts.path, (reason) => this.fail(reason));
  }

  /** On the path of every request, so without the turns that an async function takes. */
  read({ collection, id }: Key): Promise<Stored | undefined> {
    try {
      const known = this.#known(collection);
      if (known === undefined) return nothing;
      const hot = this.#hot.get(collection, id);
      return hot === undefined ? this.#read(() => this.#readResource(known, id)) : Promise.resolve(hot);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async list({ collection, signal, ...query }: ListQuery): Promise<Page> {
    const known = this.#known(collection);
    if (known === undefined) return emptyPage;
    if (isQuick(query, known.indexes)) {
      const page = await this.#read(() => this.#reader.page(known, query));
      if (page.total !== undefined || query.count !== true) return page;
    }
    return this.#threads.page(known, query, signal?.());
  }

  async count(collection: string): Promise<number> {
    const known = this.#known(collection);
    return known === undefined ? 0 : this.#read(() => this.#reader.head(known).count);
  }

  async changesAfter(collection: string, sequence: number, limit: number): Promise<readonly LoggedChange[]> {
    const known = this.#known(collection);
    return known === undefined ? [] : this.#read(() => this.#reader.changes(known, sequence, limit));
  }

  async changesOf(
    { collection, id }: Key,
    page: { before: number; limit: number },
  ): Promise<readonly ResourceChange[]> {
    return (await this.#readPast(collection, (known) => this.#past.changes(known, id, page))) ?? [];
  }

  version({ collection, id }: Key, version: number): Promise<Stored | undefined> {
    return this.#readPast(collection, (known) => this.#past.version(known, id, version));
  }

  versionAt({ collection, id }: Key, at: number): Promise<Stored | undefined> {
    return this.#readPast(collection, (known) => this.#past.at(known, id, at));
  }

  async erase(key: Key): Promise<Erased> {
    this.#requireWritable();
    const { number } = this.#requireCollection(key.collection);
    const change = { key, expect: "absent", next: undefined } as const;
    this.#hot.forget([change]);
    try {
      const answer = await this.#ask({ kind: "erase", collection: number, id: key.id });
      if (answer.kind !== "erased") throw new Error(`The writer answered an erase with "${answer.kind}".`);
      return { resource: answer.resource, changes: answer.changes };
    } finally {
      this.#gathering.start();
      this.#hot.release([change]);
    }
  }

  async receipt(key: string, now: number): Promise<KeptReceipt | undefined> {
    this.#requireWorking();
    return this.#read(() => this.#reader.receipt(key, now));
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
    this.#requireWorking();
    const isLoading = this.#load?.collection === collection;
    const number = (isLoading ? this.#load?.number : undefined) ?? this.#requireCollection(collection).number;
    const answer = await this.#ask({ kind: "reserve", collection: number, n });
    if (answer.kind === "reserved") return answer.first;
    throw new Problem("UNAVAILABLE", answer.kind === "mistake" ? answer.message : "The store has failed.");
  }

  collections(): ReadonlyMap<string, CollectionRecord> {
    return this.#catalogue;
  }

  async migrate(plan: readonly CollectionRecord[]): Promise<void> {
    this.#requireWritable();
    if (plan.every((record) => isAsIn(this.#catalogue, record))) return;
    const answer = await this.#ask({ kind: "migrate", plan });
    if (answer.kind === "mistake") throw new StartError(answer.message);
    if (answer.kind !== "migrated") return;
    for (const collection of answer.collections) this.#catalogue.set(collection.name, collection);
    this.#gathering.start();
  }

  async load(collection: string | CollectionRecord): Promise<Load> {
    this.#requireWritable();
    const isRecord = typeof collection === "object";
    const into = isRecord ? collection : this.#requireCollection(collection).number;
    const load = new SqliteLoad(isRecord ? collection.name : collection, {
      ask: async (request) => {
        if (request.kind !== "cancel") this.#requireWorking(); // what is written to a lost file is lost
        return this.#ask(request);
      },
      onEnd: () => {
        this.#load = undefined;
        if (isRecord) this.#catalogue = readCatalogue(this.#parts.database);
        this.#gathering.start();
      },
    });
    this.#load = load; // from here on nobody else writes
    try {
      await this.#commits.drained();
      await load.begin(into);
      return load;
    } catch (error) {
      this.#load = undefined;
      throw error;
    }
  }

  async *scan(collection: string): AsyncGenerator<Stored> {
    const known = this.#known(collection);
    if (known !== undefined) yield* this.#scans.scan(known);
  }

  health(): StoreHealth {
    return this.#health;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Stops for good: from now on everything is refused. */
  fail(reason: string): void {
    if (this.#health.kind === "failed" || this.#closed !== undefined) return;
    this.#health = { kind: "failed", reason };
    this.#parts.onFailure(reason);
  }

  async #close(): Promise<void> {
    this.#stopWatching();
    const ended = [
      this.#reads.drained(),
      this.#commits.drained(),
      this.#gathering.stop(),
      this.#sweeping.stop(),
      this.#endCheck(),
    ];
    await Promise.all(ended);
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
    this.#requireWorking();
    return this.#catalogue.get(collection);
  }

  #requireCollection(name: string): NumberedCollection {
    const known = this.#catalogue.get(name);
    if (known === undefined) throw new Error(`The store has no collection ${JSON.stringify(name)}.`);
    return known;
  }

  #requireWorking(): void {
    if (this.#closed !== undefined) throw new Problem("UNAVAILABLE", "The store is closed.");
    if (this.#health.kind === "failed") throw new Problem("UNAVAILABLE", "The store has failed.");
  }

  #requireWritable(): void {
    this.#requireWorking();
    if (this.#load !== undefined) throw new Problem("UNAVAILABLE", "An import is under way. Try again.");
  }

  #readResource(collection: NumberedCollection, id: string): Stored | undefined {
    const resource = this.#reader.resource(collection, id);
    if (resource !== undefined) this.#hot.keep(collection.name, resource);
    return resource;
  }

  async #readKeys<T>(read: () => T): Promise<T> {
    this.#requireWorking();
    return this.#read(read);
  }

  async #changeKey(change: KeyChange): Promise<boolean> {
    this.#requireWritable();
    const answer = await this.#ask({ kind: "key", change });
    if (answer.kind === "keyed") return answer.isChanged;
    throw new Problem("UNAVAILABLE", answer.kind === "mistake" ? answer.message : "The store has failed.");
  }

  async #readPast<T>(collection: string, read: (known: NumberedCollection) => T): Promise<T | undefined> {
    const known = this.#known(collection);
    return known === undefined ? undefined : this.#read(() => this.#reader.inSnapshot(() => read(known)));
  }

  #read<T>(read: () => T): Promise<T> {
    return this.#reads.run(read) as Promise<T>;
  }

  /** A single read is its own transaction. */
  #readTogether(reads: readonly (() => unknown)[]): Outcome<unknown>[] {
    const perform = () => reads.map((read) => this.#outcomeOf(read));
    if (reads.length === 1) return perform();
    return this.#reader.inSnapshot(perform);
  }

  #outcomeOf(read: () => unknown): Outcome<unknown> {
    try {
      return { answer: read() };
    } catch (error) {
      return { error: this.#readError(error) };
    }
  }

  #readError(error: unknown): unknown {
    return this.#readFailure(failureOf(error), describeError(error)) ?? error;
  }

  /** What a failed read is answered with; `undefined` when it is a fault of ours. */
  #readFailure(failure: Failure, reason: string): Problem | undefined {
    switch (failure) {
      case "broken":
        this.fail(reason);
        return new Problem("UNAVAILABLE", "The store has failed.");
      case "busy":
      case "full":
        return new Problem("UNAVAILABLE", "The store cannot be read now. Try again.");
      case "other":
        return undefined;
    }
  }

  async #commitTogether(commits: readonly Commit[]): Promise<Outcome<Committed>[]> {
    const cells: Cell[] = [];
    const numberOf = (collection: string) => this.#catalogue.get(collection)?.number ?? 0;
    for (const commit of commits) encodeCommit(cells, commit, numberOf);
    const answer = await this.#ask({ kind: "commit", calls: commits.length, cells });
    if (answer.kind !== "committed") throw new Error(`The writer answered a commit with "${answer.kind}".`);
    if (answer.followed !== undefined) this.#hot.drop(answer.followed);
    const fates = decodeFates(
      answer.cells,
      commits.map(({ changes }) => changes.length),
    );
    return fates.map((fate, index) => this.#outcomeOfCommit(fate, commits[index] as Commit));
  }

  #outcomeOfCommit(fate: Fate, { changes }: Commit): Outcome<Committed> {
    if ("code" in fate) return { error: this.#problemOf(fate) };
    this.#noteRoom();
    return {
      answer: changes.map(({ expect, after = 0 }, index) => ({
        version: (expect === "absent" ? after : expect) + 1,
        sequence: fate[index] as number,
      })),
    };
  }

  /** Asks the writer; throws the problem that it answers with. */
  async #ask(request: WriterRequest): Promise<Exclude<WriterAnswer, { kind: "problem" }>> {
    const answer = await this.#writer.ask(request);
    if (answer.kind === "problem") throw this.#problemOf(answer);
    if (answer.kind === "done" || answer.kind === "migrated") this.#noteRoom();
    return answer;
  }

  #problemOf({ code, detail, pointer, change }: Exclude<Fate, readonly number[]>): Error {
    if (code === "INTERNAL") return new Error(detail);
    if (code === "STORAGE_FULL" && this.#health.kind === "ok") {
      this.#health = { kind: "degraded", reason: "there is no room left to write" };
    }
    if (pointer === undefined) return new Problem(code, detail, { change });
    const violation =
      code === "UNIQUE_VIOLATION"
        ? ({ in: "body", pointer, code: "unique", detail: "is that of another resource" } as const)
        : ({ in: "body", pointer, code: "reference", detail: "is not the id of a resource" } as const);
    return new Problem(code, detail, { violations: [violation], change });
  }

  /** Something was written, so there is room. */
  #noteRoom(): void {
    if (this.#health.kind === "degraded") this.#health = { kind: "ok" };
  }

  /** Nobody may be writing any more to a service that says it is full, so the store itself looks for room. */
  #probe(): void {
    if (this.#health.kind !== "degraded" || this.#load !== undefined) return;
    this.#ask({ kind: "probe" }).catch(() => {}); // still full
  }
}

function isAsIn(catalogue: ReadonlyMap<string, CollectionRecord>, record: CollectionRecord): boolean {
  const known = catalogue.get(record.name);
  if (known === undefined || known.idKind !== record.idKind || known.schema !== record.schema) return false;
  return isDeepStrictEqual(partsOf(known), partsOf(record));
}

function partsOf({ indexes, search, unique = [], references = [] }: CollectionRecord): unknown[] {
  return [indexes, search, unique, references];
}
