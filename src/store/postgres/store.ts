/** The store on PostgreSQL. It does not rely on its memory, because other services can write to the same database. */

import { ExpectedEnd, Loads } from "../core/loads.ts";
import { ReceiptPlans } from "../core/receipt-plans.ts";
import { Scheduler } from "../core/scheduler.ts";
import type { Batch } from "../port/batch.ts";
import type { Erased } from "../port/change-log.ts";
import { type Commit, type Committed, createCommitBatch, requireValidCommit } from "../port/commit.ts";
import { noteGroup } from "../port/commit-meter.ts";
import type { Keys } from "../port/keys.ts";
import type { Load, LoadOptions } from "../port/load.ts";
import type { ResolvedStoreOptions } from "../port/options.ts";
import type { CollectionRecord } from "../port/record.ts";
import type { StoreStatistics } from "../port/statistics.ts";
import type { Store, StoreAttachment } from "../port/store.ts";
import type { Key } from "../port/stored.ts";
import { postgresKeys } from "./api-keys.ts";
import { Commits, type CommitsParts } from "./commit/commits.ts";
import { erase } from "./commit/erase.ts";
import { HeldWrites } from "./commit/holds.ts";
import { beginLoad } from "./commit/load.ts";
import { GroupNumbers, IdNumbers } from "./commit/numbers.ts";
import { failureOf } from "./connection/failures.ts";
import { logPlans, postgresDialect, runPlan } from "./postgres-dialect.ts";
import { PostgresReads, type PostgresReadsParts } from "./read/store-reads.ts";
import type { NumberedCollection } from "./tables/catalogue.ts";
import { findRelaxed, findUnchecked } from "./tables/durability.ts";
import { prepareDatabase } from "./tables/prepare.ts";
import { databaseSize } from "./tables/statements.ts";
import { startWork } from "./upkeep/background.ts";

/** The parts of the store. */
export type PostgresStoreParts = ResolvedStoreOptions & PostgresReadsParts;

/** A store that is open. `openPostgresStore` makes one. */
export class PostgresStore extends PostgresReads implements Store {
  readonly keys: Keys;
  readonly #parts: PostgresStoreParts;
  readonly #ids: IdNumbers;
  readonly #writing: CommitsParts;
  readonly #writer: Commits;
  readonly #commits: Batch<Commit, Committed>;
  readonly #loads: Loads;
  readonly #held: HeldWrites;
  /** Whether the last import declares a collection. Until it ends, it locks the catalogue. */
  #isDeclaring = false;
  readonly #scheduler = new Scheduler();
  /** Looks for search indexes to build at once. */
  #buildIndexesNow = () => {};
  #reached: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(parts: PostgresStoreParts) {
    super(parts);
    const { connections, long, maxBatchSize, history } = parts;
    this.#parts = parts;
    this.keys = postgresKeys((statement) => this.watch(() => connections.run(statement)));
    this.#ids = new IdNumbers(connections, maxBatchSize);
    const expectedEnd = new ExpectedEnd();
    this.#held = new HeldWrites(connections, parts.importWaitMs, (waitedMs) =>
      expectedEnd.secondsLeft(waitedMs),
    );
    this.#writing = {
      connections,
      catalogue: () => this.declarations.catalogue,
      reload: () => this.declarations.reload(),
      groups: new GroupNumbers(connections),
      ids: this.#ids,
      isLogged: history !== "none",
      receipts: new ReceiptPlans(postgresDialect, parts.receipts),
      meter: parts.meter,
    };
    this.#writer = new Commits(this.#writing);
    const perform = (group: readonly Commit[], since: readonly number[] | undefined) => {
      if (parts.meter !== undefined) noteGroup(parts.meter, group.length, since);
      return this.#writer.perform(group);
    };
    this.#commits = createCommitBatch(parts, { perform, maxConcurrent: 1 });
    this.#loads = new Loads({
      maxWaitMs: parts.importWaitMs,
      expectedEnd,
      begin: async (into, options) => {
        this.#isDeclaring = typeof into === "object";
        if (typeof into === "string") await this.#require(into);
        return beginLoad({ ...this.#writing, connections: long }, into, options);
      },
      onEnd: async () => {
        await this.declarations.reload().catch(() => {}); // a later use finds that it is not up to date
        this.#buildIndexesNow();
        this.listeners.call(() => [...this.declarations.catalogue.byName.keys()]);
      },
    });
  }

  /** Connects to the database and prepares it. Calls at the same time share one attempt. */
  reach(): Promise<void> {
    this.#reached ??= this.#reach().catch((error: unknown) => {
      this.#reached = undefined;
      const answer = this.reachability.noteFailure(error);
      throw ["denied", "refused", "worker"].includes(failureOf(error)) ? error : answer; // waiting does not help
    });
    return this.#reached;
  }

  /** Creates the tables if they do not exist, reads the catalogue, and starts the background work. */
  async #reach(): Promise<void> {
    const { connections, readOnly, history, onWarning } = this.#parts;
    await prepareDatabase(connections, { mustExist: readOnly });
    const [relaxed, unchecked] = await Promise.all([findRelaxed(connections), findUnchecked(connections)]);
    for (const warning of [relaxed, unchecked]) if (warning !== undefined) onWarning(warning);
    await this.declarations.reload();
    this.reachability.noteReached({ isRelaxed: relaxed !== undefined });
    if (readOnly) return;
    if (history !== "none")
      await runPlan(logPlans.noteGapsAtEnd(), (statement) => connections.run(statement));
    const catalogue = () => this.declarations.catalogue;
    const isFirst = this.#parts.attachment === undefined;
    this.#buildIndexesNow = startWork(this.#scheduler, { ...this.#parts, catalogue, isFirst });
  }

  async commit(commit: Commit): Promise<Committed> {
    this.requireOpen();
    for (const { key } of commit.changes) {
      if (!this.declarations.catalogue.byName.has(key.collection)) await this.#require(key.collection);
    }
    requireValidCommit(commit);
    const numbers = commit.changes.flatMap(
      ({ key }) => this.declarations.catalogue.byName.get(key.collection)?.number ?? [],
    );
    const committed = await this.#held.whenFree(numbers, () =>
      this.watch(() => this.#commits.run(commit), { isWrite: true }),
    );
    this.listeners.call(() => commit.changes.map(({ key }) => key.collection));
    return committed;
  }

  async exclusively<T>(
    collections: readonly string[],
    work: (commit: Store["commit"]) => Promise<T>,
  ): Promise<T> {
    this.requireOpen();
    return this.#loads.exclusively(() =>
      this.#writer.exclusively(this.#parts.long, collections, (commitNow) =>
        work((commit) => {
          requireValidCommit(commit);
          return this.watch(() => commitNow(commit), { isWrite: true }).finally(() =>
            this.listeners.call(() => commit.changes.map(({ key }) => key.collection)),
          );
        }),
      ),
    );
  }

  async reserveIds(collection: string, n: number): Promise<number> {
    this.requireOpen();
    const { number } = await this.#require(collection);
    return this.#held.whenFree([number], () => this.watch(() => this.#ids.reserve(number, n)));
  }

  async migrate(plan: readonly CollectionRecord[]): Promise<void> {
    while (this.#isDeclaring && this.#loads.isInProgress) await this.#loads.untilNone();
    this.requireOpen();
    await this.watch(() => this.declarations.migrate(plan));
    this.#buildIndexesNow();
  }

  async load(collection: string | CollectionRecord, options: LoadOptions = {}): Promise<Load> {
    this.requireOpen();
    return this.#loads.begin(collection, options);
  }

  async erase({ collection, id }: Key): Promise<Erased> {
    this.requireOpen();
    const known = await this.#require(collection);
    const parts = { ...this.#writing, connections: this.#parts.long };
    return this.#held.whenFree([known.number], () => this.watch(() => erase(parts, known, id)));
  }

  attach(): StoreAttachment {
    return { attachment: this.reachability.damage.cell, transfer: [] };
  }

  async statistics(): Promise<StoreStatistics> {
    const { connections, slow, long } = this.#parts;
    const { rows } = await this.watch(() => connections.run(databaseSize));
    const pools = { main: connections.statistics, slow: slow.statistics, long: long.statistics };
    return { bytes: Number(rows[0]?.[0]), pools };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { connections, slow, long } = this.#parts;
    await Promise.all([
      this.endReads(),
      this.reachability.close(),
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
}
