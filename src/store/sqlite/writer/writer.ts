/** Performs the requests to the writer: commits, imports, reservations of ids, declarations and maintenance. */
import type { ResolvedCommit } from "../../core/commits/resolved-commit.ts";
import {
  type CommitOutcome,
  decodeCommits,
  type Refused,
  type RequestFor,
  type ResultOf,
  resultsOf,
  type Tasks,
  type WriterAnswer,
  type WriterTasks,
} from "../commit/protocol.ts";
import { collectionOf } from "../file/catalogue.ts";
import { failureOf, InvalidStateError } from "../file/failures.ts";
import { keyPlans } from "../sqlite-dialect.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { TaskParts } from "./commits.ts";
import type { Erasure } from "./erasure.ts";
import type { WriterLoad } from "./load.ts";
import type { Transactions } from "./transactions.ts";
import type { Upkeep } from "./upkeep.ts";

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
      checkLoad: () => load.check(),
      finish: () => load.finish(),
      cancel: () => transactions.rollBack(),
      buildIndex: () => upkeep.buildIndex(),
      trim: (now) => upkeep.trim(now),
      erase: (collection, id) => erasure.erase(collection, id),
      finishErasures: () => erasure.finish(),
      changeKey: (change) => transactions.run(() => plans.run(keyPlans.change(change))),
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
