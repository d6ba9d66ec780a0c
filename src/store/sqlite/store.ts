/** The store on SQLite: reads on the calling thread, writes in a thread of their own. */

import type { MessagePort } from "node:worker_threads";
import { Problem, StartError } from "../../errors.ts";
import { type KeyChange, StoredKeys } from "../core/key-plans.ts";
import { type ExpectedEnd, Loads } from "../core/loads.ts";
import type { Erased } from "../port/change-log.ts";
import { type Commit, type Committed, requireValidCommit } from "../port/commit.ts";
import type { Load, LoadOptions } from "../port/load.ts";
import type { ResolvedStoreOptions } from "../port/options.ts";
import { type CollectionRecord, isDeclared } from "../port/record.ts";
import type { Store, StoreAttachment } from "../port/store.ts";
import type { Key } from "../port/stored.ts";
import { Commits } from "./commit/commits.ts";
import { beginLoad } from "./commit/load.ts";
import type { WriterConnection } from "./commit/writer-client.ts";
import { WriterRequests } from "./commit/writer-requests.ts";
import type { NumberedCollection } from "./file/catalogue.ts";
import type { Lock } from "./file/lock.ts";
import { unfinishedErasures } from "./file/unfinished-erasures.ts";
import { SqliteReads, type SqliteReadsParts } from "./read/store-reads.ts";
import { keyPlans } from "./sqlite-dialect.ts";
import { Background } from "./upkeep/background.ts";
import type { Health } from "./upkeep/health.ts";

/** The parts of the store. */
export interface SqliteStoreParts extends ResolvedStoreOptions, SqliteReadsParts {
  /** The memory of `marks`. */
  memory: SharedArrayBuffer;
  /** Absent if another thread has opened the store, and this one has joined. */
  lock: Lock | undefined;
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

/** A store that is open. `openSqliteStore` makes one. */
export class SqliteStore extends SqliteReads implements Store {
  readonly keys: StoredKeys;
  readonly #lock: Lock | undefined;
  readonly #parts: SqliteStoreParts;
  readonly #health: Health;
  readonly #writer: WriterConnection;
  readonly #requests: WriterRequests;
  readonly #commits: Commits;
  readonly #loads: Loads;
  readonly #background: Background;
  #closed: Promise<void> | undefined;

  constructor(parts: SqliteStoreParts, writer: WriterConnection) {
    super(parts);
    this.#parts = parts;
    const { lock, health } = parts;
    this.#health = health;
    this.#lock = lock;
    this.#writer = writer;
    this.#requests = new WriterRequests(writer, health);
    this.keys = new StoredKeys(keyPlans, {
      read: async (plan) => this.reads.run(() => this.plans.run(plan)),
      write: (change) => this.#changeKey(change),
    });
    this.#commits = new Commits({
      ...parts,
      requests: this.#requests,
      numberOf: (collection) => this.catalogue.get(collection)?.number ?? 0,
    });
    this.#loads = new Loads({
      maxWaitMs: parts.importWaitMs,
      expectedEnd: parts.expectedEnd,
      drained: () => this.#commits.drained(),
      hold: async () => {
        await this.#requests.send({ kind: "hold" });
      },
      release: async () => {
        await this.#requests.send({ kind: "release" }).catch(() => {}); // the writer has ended, so no thread writes
      },
      begin: (into, options) =>
        beginLoad(
          this.#requests,
          typeof into === "object" ? into : this.#requireCollection(into).number,
          options,
        ),
      onEnd: () => this.#background.buildIndexes(),
    });
    this.#background = new Background({
      ...parts,
      hasUpkeep: lock !== undefined,
      requests: this.#requests,
      isLoading: () => this.#loads.isInProgress,
    });
  }

  async commit(commit: Commit): Promise<Committed> {
    while (this.#loads.isInProgress) await this.#loads.untilNone();
    return this.#commitNow(commit);
  }

  async exclusively<T>(
    _collections: readonly string[],
    work: (commit: Store["commit"]) => Promise<T>,
  ): Promise<T> {
    this.#health.requireWorking();
    return this.#loads.exclusively(() => work((commit) => this.#commitNow(commit)));
  }

  async #commitNow(commit: Commit): Promise<Committed> {
    this.#health.requireWorking();
    for (const { key } of commit.changes) this.#requireCollection(key.collection);
    requireValidCommit(commit);
    return this.#commits.run(commit);
  }

  async reserveIds(collection: string, n: number): Promise<number> {
    while (this.#loads.isInProgress) await this.#loads.untilNone();
    const { number } = this.#requireCollection(collection);
    return (await this.#requests.sendFor("reserved", { kind: "reserve", collection: number, n })).first;
  }

  async migrate(plan: readonly CollectionRecord[]): Promise<void> {
    while (this.#loads.isInProgress) await this.#loads.untilNone();
    this.#health.requireWorking();
    if (plan.every((record) => isDeclared(this.catalogue.get(record.name), record))) return;
    const toError = (message: string) => new StartError(message);
    const migrated = await this.#requests.sendFor("migrated", { kind: "migrate", plan }, toError);
    this.shared.add(migrated.collections, migrated.before);
    this.#background.buildIndexes();
  }

  async load(collection: string | CollectionRecord, options: LoadOptions = {}): Promise<Load> {
    this.#health.requireWorking();
    return this.#loads.begin(collection, options);
  }

  async erase(key: Key): Promise<Erased> {
    while (this.#loads.isInProgress) await this.#loads.untilNone();
    this.#health.requireWorking();
    const { number } = this.#requireCollection(key.collection);
    try {
      const request = { kind: "erase", collection: number, id: key.id } as const;
      const { kind: _, ...erased } = await this.#requests.sendFor("erased", request);
      const unfinished = await this.#finishErasures();
      return { ...erased, ...(unfinished !== undefined && { unfinished }) };
    } finally {
      this.#background.buildIndexes();
    }
  }

  /** Finishes erasures that were interrupted, and warns that it did or could not. */
  async resumeErasures(): Promise<void> {
    const { database, onWarning } = this.#parts;
    if (unfinishedErasures(database).length === 0) return;
    const unfinished = await this.#finishErasures();
    onWarning(
      unfinished === undefined
        ? "finished an erase that was interrupted: the files of the store do not have its text any more"
        : `an erase was interrupted, and its text is still in unused parts of the files, because ${unfinished}, and restart the service`,
    );
  }

  async #finishErasures(): Promise<Erased["unfinished"]> {
    try {
      const { kind } = await this.#requests.send({ kind: "finishErasures" });
      return kind === "invalidState" ? "another program reads the store. Wait until it has ended" : undefined;
    } catch (error) {
      if (error instanceof Problem && error.code === "STORAGE_FULL")
        return "the disk is full. Free some space";
      throw error;
    }
  }

  attach(): StoreAttachment | undefined {
    const { path, memory, readOnly } = this.#parts;
    if (readOnly) return undefined; // any thread can open it for reading
    const writer = this.#writer.connect();
    const attachment: SqliteAttachment = { path, marks: memory, writer };
    return { attachment, transfer: [writer] };
  }

  /** Tells the listeners that collections with these numbers may have changed. */
  noteChanged(collections: readonly number[]): void {
    this.listeners.call(() => this.shared.namesOf(collections));
  }

  protected listen(isListening: boolean): void {
    // A commit before the writer knows could have been missed.
    const callAll = () => this.listeners.call(() => this.catalogue.keys());
    this.#writer.send({ kind: "listen", isListening }).then(callAll, () => {}); // the store reports its failure itself
  }

  close(): Promise<void> {
    this.#health.close();
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#background.stop(), this.reads.drained(), this.#commits.drained()]);
    await this.closeReads(); // before the writer, whose connection is then the last one and tidies up
    try {
      await this.#writer.close();
    } finally {
      this.#lock?.release();
    }
  }

  async #changeKey(change: KeyChange): Promise<boolean> {
    while (this.#loads.isInProgress) await this.#loads.untilNone();
    this.#health.requireWorking();
    return (await this.#requests.sendFor("keyed", { kind: "key", change })).isChanged;
  }

  #requireCollection(name: string): NumberedCollection {
    const known = this.catalogue.get(name);
    if (known === undefined) throw new Error(`The store has no collection ${JSON.stringify(name)}.`);
    return known;
  }
}
