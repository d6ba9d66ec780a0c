/** What the writer thread does: groups of commits, imports, ids and the catalogue, each in one transaction. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { ProblemCode } from "../../errors.ts";
import type { CollectionRecord, Refused } from "../store.ts";
import { type NumberedCollection, readCatalogue } from "./catalogue.ts";
import { ChangeLog } from "./change-log.ts";
import { describeError, failureOf } from "./failures.ts";
import { Heads } from "./heads.ts";
import { IdBlocks } from "./id-blocks.ts";
import { addKeysTable, KeyTable } from "./key-table.ts";
import { Mistake, migrateCollection } from "./migrate.ts";
import {
  type Cell,
  decodeCommits,
  encodeFate,
  type Fate,
  type WireCommit,
  type WriterAnswer,
  type WriterRequest,
  type WriterSettings,
} from "./protocol.ts";
import { addReceiptTotals, Receipts } from "./receipts.ts";
import { SearchTables } from "./search-tables.ts";
import { Swap } from "./swap.ts";
import { addConstraints } from "./unique.ts";

/** How long another process's short write transaction is waited for. */
const busyTimeoutMs = 5_000;
const logSizeLimit = 64 * 1024 * 1024;
const cacheKibibytes = 16 * 1024;
/** An import would otherwise write the same pages to the log again and again. */
const loadCacheKibibytes = 128 * 1024;
/** Pages in the log after which they are moved into the file. */
const checkpointPages = 1_000;

interface LoadUnderWay {
  collection: NumberedCollection;
  at: number;
  group: number;
  restoreIds(): void;
}

/** The write side of one connection. */
export class Writer {
  readonly #database: DatabaseSync;
  readonly #collections = new Map<number, NumberedCollection>();
  readonly #heads: Heads;
  readonly #ids = new IdBlocks();
  readonly #search: SearchTables;
  readonly #log: ChangeLog;
  readonly #receipts: Receipts;
  readonly #keys: KeyTable;
  readonly #swap: Swap;
  readonly #logState: StatementSync;
  #load: LoadUnderWay | undefined;
  #lastTrimmed: number | undefined;
  #logPagesTried = 0;
  #isCommitting = false;
  /** The transaction under way has changed the catalogue. */
  #isCatalogueOpen = false;
  /** Why nothing more can be written, once that is so. */
  failure: string | undefined;

  constructor({ path, synchronous, history, receipts }: WriterSettings) {
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs, limits: { attach: 0 } });
    database.exec(`
      pragma synchronous = ${synchronous};
      pragma journal_size_limit = ${logSizeLimit};
      pragma wal_autocheckpoint = 0;
      pragma cache_size = -${cacheKibibytes};
    `);
    this.#database = database;
    this.#heads = new Heads(database);
    this.#search = new SearchTables(database);
    this.#log = new ChangeLog(database, history);
    addReceiptTotals(database);
    this.#receipts = new Receipts(database, receipts);
    addKeysTable(database);
    this.#keys = new KeyTable(database);
    this.#swap = new Swap({
      database,
      collections: this.#collections,
      heads: this.#heads,
      ids: this.#ids,
      search: this.#search,
      log: this.#log,
      receipts: this.#receipts,
    });
    this.#logState = database.prepare("pragma wal_checkpoint(noop)");
    addConstraints(database);
    this.#readCollections();
    this.#transact(() => {
      for (const number of this.#collections.keys()) this.#log.fit(number);
    });
  }

  /** Writes the commits of all requests in one transaction and gives an answer to each request. */
  commit(requests: readonly (WriterRequest & { kind: "commit" })[]): WriterAnswer[] {
    const commits = requests.map(({ cells, calls }) => decodeCommits(cells, calls));
    const fates = this.#writeGroup(commits.flat());
    const followed = this.#swap.takeFollowed();
    let position = 0;
    const answers = requests.map(({ calls }) => {
      const cells: Cell[] = [];
      for (const fate of fates.slice(position, position + calls)) encodeFate(cells, fate);
      position += calls;
      return { kind: "committed", cells } as const;
    });
    const [first, ...others] = answers;
    return first === undefined || followed.length === 0 ? answers : [{ ...first, followed }, ...others];
  }

  /** Does what is asked, alone in a transaction where it writes. */
  perform(request: Exclude<WriterRequest, { kind: "commit" }>): WriterAnswer {
    try {
      return this.#perform(request);
    } catch (error) {
      if (!(error instanceof Mistake)) return { kind: "problem", ...this.#endBroken(error) };
      if (this.#load === undefined) this.#rollBack();
      return { kind: "mistake", message: error.message };
    }
  }

  /** Moves the log into the file once it is long. Answers have left by then, so that nobody waits for it. */
  checkpointIfDue(): void {
    if (this.failure !== undefined || this.#load !== undefined) return;
    try {
      const { log, checkpointed } = this.#logState.get() as { log: number; checkpointed: number };
      if (log < this.#logPagesTried) this.#logPagesTried = 0; // the log began anew
      const left = log - Math.max(checkpointed, this.#logPagesTried);
      if (left < checkpointPages) return;
      this.#database.exec("pragma wal_checkpoint(passive)");
      this.#logPagesTried = log;
    } catch (error) {
      // Full: the log holds everything and the next time may do. Anything else means that the disk fails.
      if (failureOf(error) === "broken") this.failure = describeError(error);
    }
  }

  #perform(request: Exclude<WriterRequest, { kind: "commit" }>): WriterAnswer {
    switch (request.kind) {
      case "migrate":
        return { kind: "migrated", collections: this.#migrate(request.plan) };
      case "reserve":
        return { kind: "reserved", first: this.#reserve(request.collection, request.n) };
      case "load":
        return { kind: "loading", collection: this.#beginLoad(request.into, request.at) };
      case "add":
        return { kind: "added", refused: this.#add(request.cells) };
      case "finish":
        return this.#finishLoad();
      case "cancel":
        this.#rollBack();
        return { kind: "done" };
      case "gather":
        return { kind: "gathered", more: this.#gather() };
      case "trim":
        return { kind: "trimmed", more: this.#trim(request.now) };
      case "erase":
        return { kind: "erased", ...this.#erase(request.collection, request.id) };
      case "key":
        return { kind: "keyed", isChanged: this.#transact(() => this.#keys.change(request.change)) };
      case "probe":
        this.#probe();
        return { kind: "done" };
      case "close":
        this.#close();
        return { kind: "done" };
    }
  }

  /** One transaction for all; each commit keeps its own fate. */
  #writeGroup(commits: readonly WireCommit[]): Fate[] {
    try {
      this.#begin();
      const fates = commits.map((commit) => this.#swap.carryOut(commit));
      if (fates.every((fate) => "code" in fate)) this.#rollBack();
      else this.#commit();
      return fates;
    } catch (error) {
      // A fault of one commit must not cost the others theirs.
      if (isFaultOfOne(error) && commits.length > 1) {
        this.#rollBack();
        return commits.flatMap((commit) => this.#writeGroup([commit]));
      }
      const problem = this.#endBroken(error);
      return commits.map(() => problem);
    }
  }

  /** Gives the collections of the plan alone: thousands may be made one by one. */
  #migrate(plan: readonly CollectionRecord[]): readonly NumberedCollection[] {
    const migrated = this.#transact(() => plan.map((record) => this.#migrateOne(record)));
    for (const collection of migrated) this.#collections.set(collection.number, collection);
    this.#swap.refresh();
    return migrated;
  }

  #migrateOne(record: CollectionRecord): NumberedCollection {
    const collection = migrateCollection(this.#database, this.#heads, record);
    this.#search.fit(collection);
    return collection;
  }

  /** Gives whether words are left to be gathered. */
  #gather(): boolean {
    if (this.#load !== undefined) throw new Mistake("An import is under way.");
    return this.#transact(() => this.#search.gather());
  }

  /** Gives whether there is more to be removed. */
  #trim(now: number): boolean {
    if (this.#load !== undefined) throw new Mistake("An import is under way.");
    if (this.#receipts.isDue(now)) {
      this.#transact(() => this.#receipts.trim(now));
      return true;
    }
    const isDue = (number: number) => this.#log.isDue(number, now);
    const last = this.#lastTrimmed;
    // Thousands of collections are not looked through for each slice of one.
    const due = last !== undefined && isDue(last) ? last : [...this.#collections.keys()].find(isDue);
    this.#lastTrimmed = due;
    if (due === undefined) return false;
    this.#transact(() => this.#log.trim(due, now));
    return true;
  }

  /** Afterwards the file is written anew: what was changed earlier may still lie in the gaps between its contents. */
  #erase(collection: number, id: string): { resource: boolean; changes: number } {
    const erased = this.#transact(() => {
      const erased = this.#swap.erase(collection, id);
      this.#receipts.erase(id);
      if (erased.resource || erased.changes > 0) this.#search.rebuild(collection);
      return erased;
    });
    this.#database.limits.attach = 1; // which is how SQLite writes the new file
    try {
      this.#database.exec("vacuum; pragma wal_checkpoint(truncate)");
    } finally {
      this.#database.limits.attach = 0;
    }
    return erased;
  }

  #readCollections(): void {
    this.#collections.clear();
    for (const collection of readCatalogue(this.#database).values()) {
      this.#collections.set(collection.number, collection);
    }
    this.#swap.refresh();
  }

  #reserve(collection: number, n: number): number {
    const taken = this.#ids.take(collection, n);
    if (taken !== undefined) return taken;
    const begin = this.#transact(() => this.#ids.extend(collection, n, this.#heads.of(collection)));
    if (begin === undefined) throw new Mistake("The collection has no integer ids left.");
    begin();
    return this.#reserve(collection, n);
  }

  /** Gives the number of the collection. */
  #beginLoad(into: number | CollectionRecord, at: number): number {
    this.#database.exec(`pragma cache_size = -${loadCacheKibibytes}`);
    this.#begin();
    const restoreIds = this.#ids.remember();
    const collection = typeof into === "number" ? this.#collections.get(into) : this.#takeOver(into);
    if (collection === undefined) throw new Error(`There is no collection ${into}.`);
    this.#load = { collection, at, group: this.#swap.nextGroup(), restoreIds };
    return collection.number;
  }

  /** Makes a collection be as given, in the transaction under way. */
  #takeOver(record: CollectionRecord): NumberedCollection | undefined {
    this.#isCatalogueOpen = true;
    this.#migrateOne(record);
    this.#readCollections();
    return [...this.#collections.values()].find(({ name }) => name === record.name);
  }

  #add(cells: readonly string[]): Refused[] {
    const { collection, ...origin } = this.#requireLoad();
    const all: Refused[] = [];
    for (let position = 0; position * 2 < cells.length; position++) {
      const arrival = { id: cells[position * 2] as string, text: cells[position * 2 + 1] as string };
      const refused = this.#swap.add(collection, arrival, origin);
      if (refused !== undefined) all.push({ position, ...refused });
    }
    return all;
  }

  #finishLoad(): WriterAnswer {
    const lost = this.#swap.danglingWithin(this.#requireLoad().collection);
    if (lost !== undefined) {
      this.#rollBack();
      const detail = `The resource ${JSON.stringify(lost)} refers to one of its collection that is not there.`;
      return { kind: "problem", code: "REFERENCE_NOT_FOUND", detail };
    }
    this.#commit();
    this.#endLoad();
    return { kind: "done" };
  }

  #requireLoad(): LoadUnderWay {
    if (this.#load === undefined) throw new Mistake("No import is under way.");
    return this.#load;
  }

  #endLoad(): void {
    this.#load = undefined;
    this.#database.exec(`pragma cache_size = -${cacheKibibytes}`);
  }

  #probe(): void {
    this.#transact(() => this.#database.exec("update meta set value = value where name = 'groups'"));
  }

  #close(): void {
    try {
      this.#rollBack();
      if (this.failure === undefined) this.#tidyUp();
    } finally {
      this.#database.close();
    }
  }

  /** An orderly end leaves no gap in integer ids and no log beside the file. */
  #tidyUp(): void {
    this.#transact(() => {
      for (const collection of this.#ids.unfinished()) {
        this.#ids.giveBack(collection, this.#heads.of(collection));
      }
    });
    this.#database.exec("pragma wal_checkpoint(truncate)");
  }

  /** Runs `write` in a transaction of its own, or in that of the import under way. */
  #transact<T>(write: () => T): T {
    if (this.#load !== undefined) return write();
    this.#begin();
    const result = write();
    this.#commit();
    return result;
  }

  #begin(): void {
    if (this.failure !== undefined) throw new Mistake("The store has failed.");
    // A transaction that reads first and writes later could not wait for another process.
    this.#database.exec("begin immediate");
  }

  #commit(): void {
    this.#heads.write();
    this.#isCommitting = true;
    this.#database.exec("commit");
    this.#isCommitting = false;
    this.#isCatalogueOpen = false;
    this.#heads.forget();
    this.#search.settle();
  }

  /** Takes back what the transaction under way did, if there is one. */
  #rollBack(): void {
    this.#isCommitting = false;
    this.#heads.forget();
    if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec("rollback");
    if (this.#database.isOpen) this.#search.takeBack();
    if (this.#isCatalogueOpen && this.#database.isOpen) this.#readCollections();
    this.#isCatalogueOpen = false;
    if (this.#load === undefined) return;
    this.#load.restoreIds();
    this.#endLoad();
  }

  /** Ends a transaction that an error broke, and says what the error means for those who asked for it. */
  #endBroken(error: unknown): { code: ProblemCode; detail: string } {
    if (error instanceof Mistake) return { code: "UNAVAILABLE", detail: error.message };
    const wasCommitting = this.#isCommitting;
    const failure = failureOf(error);
    if (failure === "broken") this.failure ??= describeError(error);
    try {
      this.#rollBack();
    } catch (inner) {
      this.failure ??= describeError(inner);
    }
    switch (failure) {
      case "full":
        return { code: "STORAGE_FULL", detail: "There is no room left to write." };
      case "busy":
        return { code: "UNAVAILABLE", detail: "Another program holds the store for too long. Try again." };
      case "broken":
        return wasCommitting
          ? { code: "OUTCOME_UNKNOWN", detail: "The disk failed while the write was being made durable." }
          : { code: "UNAVAILABLE", detail: "The disk failed; nothing was written." };
      case "other":
        return { code: "INTERNAL", detail: describeError(error) };
    }
  }
}

function isFaultOfOne(error: unknown): boolean {
  return failureOf(error) === "other" && !(error instanceof Mistake);
}
