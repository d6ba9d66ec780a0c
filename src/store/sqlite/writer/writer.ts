/** Performs the requests to the writer: commits, imports, reservations of ids, declarations and maintenance. */
import type { Refusal } from "../../core/commits/refusals.ts";
import type { ResolvedCommit } from "../../core/commits/resolved-commit.ts";
import {
  type Cell,
  type CommitOutcome,
  type CommitRequest,
  decodeCommits,
  encodeCommitOutcome,
  type WorkRequest,
  type WriterAnswer,
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

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#transactions = parts.transactions;
  }

  /** The reason why the writer has stopped permanently. `undefined` while it works. */
  get failure(): string | undefined {
    return this.#transactions.failure;
  }

  /** Writes the commits of all requests in one transaction. Returns an answer to each request. */
  commit(requests: readonly CommitRequest[]): WriterAnswer[] {
    const find = (number: number) => collectionOf(this.#parts.collections, number);
    const outcomes = this.#writeGroup(
      requests.flatMap(({ cells, count }) => decodeCommits(cells, count, find)),
    );
    let position = 0;
    return requests.map(({ count }) => {
      const cells: Cell[] = [];
      for (const outcome of outcomes.slice(position, position + count)) encodeCommitOutcome(cells, outcome);
      position += count;
      return { kind: "committed", cells };
    });
  }

  /** The numbers of the collections that have changed since the last call. */
  takeChanged(): readonly number[] {
    return this.#transactions.takeChanged();
  }

  /** Performs one request of another kind, in its own transaction if it writes. */
  perform(request: Exclude<WorkRequest, CommitRequest>): WriterAnswer {
    try {
      return this.#perform(request);
    } catch (error) {
      if (!(error instanceof InvalidStateError))
        return { kind: "problem", ...this.#transactions.rollBackAfter(error) };
      if (!this.#transactions.isKeptOpen) this.#transactions.rollBack();
      return { kind: "invalidState", message: error.message };
    }
  }

  /** Makes a checkpoint if the log is long. Call it after the answers are sent, so that no client waits for it. */
  checkpointIfDue(commits?: number): void {
    this.#parts.checkpoints.runIfDue(commits);
  }

  #perform(request: Exclude<WorkRequest, CommitRequest>): WriterAnswer {
    const { declarations, load, upkeep, erasure, plans } = this.#parts;
    switch (request.kind) {
      case "migrate":
        return { kind: "migrated", ...declarations.migrate(request.plan) };
      case "reserve":
        return { kind: "reserved", first: this.#reserve(request.collection, request.n) };
      case "load":
        return { kind: "loading", collection: load.begin(request.into, request) };
      case "add":
        return { kind: "added", refused: load.add(request.cells) };
      case "checkLoad":
        return answerOf(load.check());
      case "finish":
        return answerOf(load.finish());
      case "cancel":
        this.#transactions.rollBack();
        return { kind: "done" };
      case "buildIndex":
        return { kind: "indexBuilt", more: upkeep.buildIndex() };
      case "trim":
        return { kind: "trimmed", more: upkeep.trim(request.now) };
      case "erase":
        return erasure.erase(request.collection, request.id);
      case "finishErasures":
        erasure.finish();
        return { kind: "done" };
      case "key":
        return {
          kind: "keyed",
          isChanged: this.#transactions.run(() => plans.run(keyPlans.change(request.change))),
        };
      case "probe":
        upkeep.probe();
        return { kind: "done" };
      case "restartLog":
        // After a complete checkpoint, the next write starts the log again from its beginning, and SQLite cuts its file.
        this.#parts.checkpoints.run();
        upkeep.probe();
        return { kind: "done" };
      case "close":
        this.#close();
        return { kind: "done" };
    }
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

function answerOf(refusal: Refusal | undefined): WriterAnswer {
  return refusal === undefined ? { kind: "done" } : { kind: "problem", ...refusal };
}

function isDefect(error: unknown): boolean {
  return failureOf(error) === "other" && !(error instanceof InvalidStateError);
}
