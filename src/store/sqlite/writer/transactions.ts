/** The transactions on the writer's connection. Most are short. That of an import takes several requests. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { clockSeconds } from "../../../counters.ts";
import { Problem } from "../../../errors.ts";
import type { Refusal } from "../../core/commits/refusals.ts";
import type { CommitMeter } from "../../port/commit-meter.ts";
import { describeError, FileGone, failureOf, InvalidStateError, mayBeCommitted } from "../file/failures.ts";
import { damagedNumber } from "../file/wide-integers.ts";
import type { Marks } from "../marks.ts";
import type { TaskParts } from "./commits.ts";
import type { Heads } from "./heads.ts";

/** The parts of the writer that transactions use. */
interface TransactionsParts extends Pick<TaskParts, "database" | "heads" | "marks"> {
  findLostFile(): string | undefined;
  meter: CommitMeter | undefined;
}

/** Begins, commits and rolls back transactions. A rollback also restores the state of the writer in memory. */
export class Transactions {
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #heads: Heads;
  readonly #marks: Marks;
  /** Returns the reason if a file of the store was removed, replaced or emptied. */
  readonly findLostFile: () => string | undefined;
  readonly #meter: CommitMeter | undefined;
  #undos: (() => void)[] = [];
  #isCommitting = false;
  #isKeptOpen = false;
  #hasDeclared = false;
  /** The reason why the writer has stopped permanently. `undefined` while it works. */
  failure: string | undefined;

  constructor({ database, heads, marks, findLostFile, meter }: TransactionsParts) {
    this.#meter = meter;
    this.#database = database;
    // A transaction that reads first could not wait for the lock of another process when it writes.
    this.#begin = database.prepare("begin immediate");
    this.#commit = database.prepare("commit");
    this.#heads = heads;
    this.#marks = marks;
    this.findLostFile = findLostFile;
  }

  /** Whether the open transaction continues after the present request. */
  get isKeptOpen(): boolean {
    return this.#isKeptOpen;
  }

  /** Runs `write` in a new transaction, or in the transaction that is kept open. */
  run<T>(write: () => T): T {
    if (this.#isKeptOpen) return write();
    this.begin();
    const result = write();
    this.commit();
    return result;
  }

  begin(): void {
    if (this.failure !== undefined) throw new InvalidStateError("The store has failed.");
    this.#begin.run();
    this.#marks.begin();
  }

  /** Keeps the open transaction open for the next requests. All writes belong to it until it ends. */
  keepOpen(): void {
    this.#isKeptOpen = true;
  }

  /** The open transaction changes declarations. */
  noteDeclared(): void {
    this.#hasDeclared = true;
  }

  /** The numbers of the collections whose resources have changed since the last call. */
  takeChanged(): readonly number[] {
    const { changed } = this.#heads;
    if (changed.size === 0) return [];
    const numbers = [...changed];
    changed.clear();
    return numbers;
  }

  /** Adds a function that is called if the open transaction is rolled back. */
  onRollBack(undo: () => void): void {
    this.#undos.push(undo);
  }

  commit(): void {
    this.#heads.write();
    const start = this.#meter === undefined ? 0 : clockSeconds();
    this.#isCommitting = true;
    this.#commit.run();
    this.#marks.end();
    if (this.#hasDeclared) this.#marks.noteCatalogue();
    this.#hasDeclared = false;
    this.#meter?.flushes.observe(clockSeconds() - start);
    const gone = this.findLostFile();
    if (gone !== undefined) throw new FileGone(gone);
    this.#isCommitting = false;
    this.#isKeptOpen = false;
    if (this.#undos.length > 0) this.#undos = [];
    this.#heads.afterCommit();
  }

  /** Rolls the open transaction back, if there is one. */
  rollBack(): void {
    this.#isCommitting = false;
    this.#hasDeclared = false;
    this.#isKeptOpen = false;
    this.#heads.afterRollback();
    if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec("rollback");
    this.#marks.end();
    const undos = this.#undos;
    this.#undos = [];
    if (this.#database.isOpen) for (const undo of undos) undo();
  }

  /** Rolls the transaction back after an error. Returns the refusal for the client. */
  rollBackAfter(thrown: unknown): Refusal {
    const error = damagedNumber(thrown);
    if (error instanceof InvalidStateError) return { code: "UNAVAILABLE", detail: error.message };
    const wasCommitting = this.#isCommitting;
    const failure = failureOf(error);
    if (failure === "broken") this.failure ??= describeError(error);
    try {
      this.rollBack();
    } catch (inner) {
      this.failure ??= describeError(inner);
    }
    switch (failure) {
      case "full":
        if (wasCommitting && mayBeCommitted(error))
          return {
            code: "OUTCOME_UNKNOWN",
            detail:
              "The disk became full while the service saved the write. Read the resource before you repeat the write.",
          };
        return { code: "STORAGE_FULL", detail: "The disk of the store is full." };
      case "busy":
        return { code: "UNAVAILABLE", detail: "Another program locked the store for too long. Try again." };
      case "broken":
        return wasCommitting
          ? {
              code: "OUTCOME_UNKNOWN",
              detail:
                "The disk failed while the service saved the write. Read the resource before you repeat the write.",
            }
          : { code: "UNAVAILABLE", detail: "The disk failed. Nothing was written." };
      case "other":
        if (error instanceof Problem) return { code: error.code, detail: error.message };
        return { code: "INTERNAL", detail: describeError(error) };
    }
  }
}
