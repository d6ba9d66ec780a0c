/** The writer: opens its connection and creates its parts, and performs commits, imports, declarations and maintenance. */
import { DatabaseSync } from "node:sqlite";
import type { NumberedCollection } from "../../core/catalogue.ts";
import type { ResolvedCommit } from "../../core/commits/resolved-commit.ts";
import type { StagedChanges } from "../../core/commits/staged-changes.ts";
import { ReceiptPlans } from "../../core/receipt-plans.ts";
import type { CommitMeter } from "../../port/commit-meter.ts";
import { done } from "../../sql/plans.ts";
import {
  type CommitOutcome,
  decodeCommits,
  type Refused,
  type RequestFor,
  type ResultOf,
  resultsOf,
  type Tasks,
  type WriterAnswer,
  type WriterSettings,
  type WriterTasks,
} from "../commit/protocol.ts";
import { failureOf, InvalidStateError } from "../file/failures.ts";
import { flushLog, logSizeLimit } from "../file/log-state.ts";
import { createFileCheck, noteFiles } from "../file/watch.ts";
import { createMarksMemory, Marks } from "../marks.ts";
import { collectionOf, PlanRunner, sqliteDialect, storePlans } from "../sqlite-dialect.ts";
import { Commits, type TaskParts } from "./commits.ts";
import { Declarations } from "./declarations.ts";
import { EntryTables } from "./entry-tables.ts";
import { Erasure } from "./file-erasure.ts";
import { Heads, IntegerIds } from "./heads.ts";
import { createMigrations } from "./migrate.ts";
import { Resources } from "./resources.ts";
import { SearchTables } from "./search-tables.ts";
import { Transactions } from "./transactions.ts";
import { Checkpoints, Upkeep } from "./upkeep.ts";
import { WriterLoad } from "./writer-load.ts";

/** The parts of a writer. */
export interface WriterParts extends TaskParts {
  load: WriterLoad;
  upkeep: Upkeep;
  erasure: Erasure;
  checkpoints: Checkpoints;
}

/** Writes on one connection. `openWriter` creates it. */
export class Writer {
  readonly #parts: WriterParts;
  readonly #transactions: Transactions;
  readonly #tasks: WriterTasks;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    const { declarations, load, upkeep, erasure, plans, transactions, checkpoints } = parts;
    this.#transactions = transactions;
    this.#tasks = {
      migrate: (plan) => declarations.migrate(plan),
      reserve: (collection, n) => this.#reserve(collection, n),
      load: (into, options) => load.begin(into, options),
      add: (cells) => load.add(cells),
      holders: (unique, values) => load.holders(unique, values),
      checkLoad: () => load.check(),
      finish: () => load.finish(),
      cancel: () => transactions.rollBack(),
      buildNext: () => upkeep.buildNext(),
      trim: (now) => upkeep.trim(now),
      erase: (collection, id) => erasure.erase(collection, id),
      finishErasures: () => erasure.finish(),
      changeKey: (change) => transactions.run(() => plans.run(storePlans.keys.change(change))),
      probe: () => upkeep.probe(),
      restartLog: () => {
        // After a complete checkpoint, the next write starts the log again from its beginning, and SQLite cuts its file.
        checkpoints.run();
        upkeep.probe();
      },
      close: () => this.#close(),
    };
  }

  /** The reason why the writer has stopped permanently. `undefined` while it works. */
  get failure(): string | undefined {
    return this.#transactions.failure;
  }

  /** Whether the transaction of an import is open. */
  get isLoading(): boolean {
    return this.#transactions.isKeptOpen;
  }

  /** Writes the commits of all requests in one transaction. Returns an answer to each request. */
  commit(requests: readonly Parameters<Tasks["commit"]>[]): WriterAnswer[] {
    const find = (number: number) => collectionOf(this.#parts.collections, number);
    const outcomes = this.#writeGroup(
      requests.flatMap(([count, cells]) => decodeCommits(cells, count, find)),
    );
    let position = 0;
    return requests.map(([count]) => {
      const own = outcomes.slice(position, position + count);
      position += count;
      return { result: resultsOf(own) };
    });
  }

  /** The numbers of the collections that have changed since the last call. */
  takeChanged(): readonly number[] {
    return this.#transactions.takeChanged();
  }

  /** Performs one request of another kind, in its own transaction if it writes. */
  perform<Name extends keyof WriterTasks>({ name, args }: RequestFor<Name>): WriterAnswer {
    try {
      const task = this.#tasks[name] as (...values: unknown[]) => ResultOf<Name> | Refused | undefined;
      const result = task(...args);
      return isRefused(result) ? result : { result };
    } catch (error) {
      if (!(error instanceof InvalidStateError)) return { refusal: this.#transactions.rollBackAfter(error) };
      if (!this.#transactions.isKeptOpen) this.#transactions.rollBack();
      return { invalidState: error.message };
    }
  }

  /** Makes a checkpoint if the log is long. Call it after the answers are sent, so that no client waits for it. */
  checkpointIfDue(commits?: number): void {
    this.#parts.checkpoints.runIfDue(commits);
  }

  /** Writes commits in one transaction. Each of them is accepted or refused separately. */
  #writeGroup(commits: readonly ResolvedCommit[]): CommitOutcome[] {
    try {
      this.#transactions.begin();
      const outcomes = commits.map((commit) => this.#parts.commits.write(commit));
      if (outcomes.every((outcome) => "refusal" in outcome)) this.#transactions.rollBack();
      else this.#transactions.commit();
      return outcomes;
    } catch (error) {
      // One commit has failed because of a defect. Each commit gets its own transaction, so that the others succeed.
      if (isDefect(error) && commits.length > 1) {
        this.#transactions.rollBack();
        return commits.flatMap((commit) => this.#writeGroup([commit]));
      }
      const refusal = this.#transactions.rollBackAfter(error);
      return commits.map(() => ({ refusal }));
    }
  }

  #reserve(collection: number, n: number): number {
    const { ids, heads } = this.#parts;
    const first = ids.reserve(collection, n, heads.of(collection));
    if (first === undefined) throw new InvalidStateError("The collection has no integer ids left.");
    return first;
  }

  #close(): void {
    try {
      this.#transactions.rollBack();
      // Without its file, the log must stay as it is: with an older copy of the file, it still has the last writes.
      if (this.failure === undefined && this.#transactions.findLostFile() === undefined)
        this.#parts.upkeep.tidyUp();
    } finally {
      this.#parts.database.close();
    }
  }
}

function isRefused(result: unknown): result is Refused {
  return typeof result === "object" && result !== null && "refusal" in result;
}

function isDefect(error: unknown): boolean {
  return failureOf(error) === "other" && !(error instanceof InvalidStateError);
}

/** How long to wait for a write transaction of another process. Such a process only changes API keys. */
const busyTimeoutMs = 5_000;

/** A larger cache makes no write faster, because the system keeps the file in memory anyway. */
const cacheKibibytes = 4 * 1024;

/**
 * Opens a writer, which counts with `meter` if there is one. `prepareFile` must have prepared the file. Throws the error of
 * SQLite if the file cannot be opened.
 */
export function openWriter(settings: WriterSettings, meter?: CommitMeter): Writer {
  const database = openToWrite(settings);
  flushLog(settings.path);
  return createWriter(database, settings, meter);
}

/** A writer on an open connection. `path` is absent if the database is in memory. */
export function createWriter(
  database: DatabaseSync,
  settings: Pick<WriterSettings, "history" | "receipts" | "marks"> & { path?: string },
  meter?: CommitMeter,
): Writer {
  const { path } = settings;
  const collections = new Map<number, NumberedCollection>();
  const heads = new Heads(database);
  const ids = new IntegerIds();
  const entries = new EntryTables(database);
  const search = new SearchTables(database);
  const plans = new PlanRunner(database);
  const isLogged = settings.history !== "none";
  const receipts = new ReceiptPlans(sqliteDialect, settings.receipts);
  const marks = new Marks(settings.marks ?? createMarksMemory());
  const transactions = new Transactions({
    database,
    heads,
    marks,
    findLostFile: path === undefined ? () => undefined : createFileCheck(path),
    meter,
  });
  const migrations = createMigrations(database, heads);
  const declarations = new Declarations({
    database,
    collections,
    migrations,
    plans,
    search,
    marks,
    transactions,
  });
  if (path !== undefined) transactions.run(() => noteFiles(path, database));
  const resources = new Resources({ database, heads, entries, search, isLogged, marks });
  const writing = {
    database,
    collections,
    heads,
    plans,
    receipts,
    isLogged,
    resources,
    catalogue: () => declarations.catalogue,
    lookupsOf: storePlans.lookupsOf,
    write: (staged: StagedChanges) => done(resources.write(staged)),
    noteErasure({ number }: NumberedCollection, by: number) {
      const head = heads.of(number);
      head.sequence += by;
      head.gapsUpTo = head.sequence;
      return done(undefined);
    },
  };
  const shared = {
    ...writing,
    commits: new Commits(writing),
    ids,
    entries,
    search,
    transactions,
    declarations,
    marks,
    migrations,
  };
  return new Writer({
    ...shared,
    load: new WriterLoad(shared),
    upkeep: new Upkeep(shared, settings.history),
    erasure: new Erasure(shared),
    checkpoints: new Checkpoints(database, transactions, meter),
  });
}

function openToWrite({ path, synchronous }: WriterSettings): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs, limits: { attach: 0 } });
  database.exec(`
    pragma synchronous = ${synchronous};
    pragma journal_size_limit = ${logSizeLimit};
    pragma wal_autocheckpoint = 0;
    pragma cache_size = -${cacheKibibytes};
  `);
  return database;
}
