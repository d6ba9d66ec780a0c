/** The transactions of the connection that writes: one at a time, short ones and that of an import. */
import type { DatabaseSync } from "node:sqlite";
import type { Refusal } from "../../commits/refusals.ts";
import { describeError, FileGone, failureOf, Mistake, mayBeCommitted } from "../file/failures.ts";
import type { Heads } from "./heads.ts";
import type { SearchTables } from "./search-tables.ts";

/** What transactions work on. */
export interface TransactionsParts {
  database: DatabaseSync;
  heads: Heads;
  search: SearchTables;
  /** Says when a file of the database is no longer the one that is open. */
  findGone(): string | undefined;
}

/** Begins and ends transactions, and knows what has to be taken back beside the file. */
export class Transactions {
  readonly #database: DatabaseSync;
  readonly #heads: Heads;
  readonly #search: SearchTables;
  readonly #findGone: () => string | undefined;
  #undos: (() => void)[] = [];
  #isCommitting = false;
  #isKeptOpen = false;
  /** Why nothing more can be written, once that is so. */
  failure: string | undefined;

  constructor({ database, heads, search, findGone }: TransactionsParts) {
    this.#database = database;
    this.#heads = heads;
    this.#search = search;
    this.#findGone = findGone;
  }

  /** The transaction under way lasts over several requests. */
  get isKeptOpen(): boolean {
    return this.#isKeptOpen;
  }

  /** Runs `write` in a transaction of its own, or in the one that is kept open. */
  run<T>(write: () => T): T {
    if (this.#isKeptOpen) return write();
    this.begin();
    const result = write();
    this.commit();
    return result;
  }

  begin(): void {
    if (this.failure !== undefined) throw new Mistake("The store has failed.");
    // A transaction that reads first and writes later could not wait for another process.
    this.#database.exec("begin immediate");
  }

  /** From now on until it ends, all is written in the transaction under way. */
  keepOpen(): void {
    this.#isKeptOpen = true;
  }

  /** Has something done when the transaction under way is taken back. */
  onRollBack(undo: () => void): void {
    this.#undos.push(undo);
  }

  commit(): void {
    this.#heads.write();
    this.#isCommitting = true;
    this.#database.exec("commit");
    const gone = this.#findGone();
    if (gone !== undefined) throw new FileGone(gone);
    this.#isCommitting = false;
    this.#isKeptOpen = false;
    if (this.#undos.length > 0) this.#undos = [];
    this.#heads.forget();
    this.#search.settle();
  }

  /** Takes back what the transaction under way did, if there is one. */
  rollBack(): void {
    this.#isCommitting = false;
    this.#isKeptOpen = false;
    this.#heads.forget();
    if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec("rollback");
    if (this.#database.isOpen) this.#search.takeBack();
    const undos = this.#undos;
    this.#undos = [];
    if (this.#database.isOpen) for (const undo of undos) undo();
  }

  /** Ends a transaction that an error broke, and says what the error means for those who asked for it. */
  endBroken(error: unknown): Refusal {
    if (error instanceof Mistake) return { code: "UNAVAILABLE", detail: error.message };
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
        return { code: "INTERNAL", detail: describeError(error) };
    }
  }
}
