/** Reads on the calling thread: those that arrive together are one transaction. */
import { Problem } from "../../errors.ts";
import { type Batch, createBatch, type Outcome } from "../batch.ts";
import { describeError, type Failure, failureOf } from "./failures.ts";
import type { Health } from "./health.ts";
import type { Reader } from "./reader.ts";

/** Runs reads, and says in our words what SQLite says of those that fail. */
export class ReadBatch {
  readonly #reader: Reader;
  readonly #health: Health;
  readonly #batch: Batch<() => unknown, unknown>;

  constructor(reader: Reader, health: Health) {
    this.#reader = reader;
    this.#health = health;
    this.#batch = createBatch({ perform: (reads) => this.#together(reads) });
  }

  /** Gives what `read` gives, soon. Rejects with UNAVAILABLE when the file cannot be read. */
  run<T>(read: () => T): Promise<T> {
    return this.#batch.run(read) as Promise<T>;
  }

  /** Resolves once no read is under way. */
  drained(): Promise<void> {
    return this.#batch.drained();
  }

  /** What a failed read is answered with; `undefined` when it is a fault of ours. */
  problemOf(failure: Failure, reason: string): Problem | undefined {
    switch (failure) {
      case "broken":
        this.#health.fail(reason);
        return new Problem("UNAVAILABLE", "The store has failed.");
      case "busy":
      case "full":
        return new Problem("UNAVAILABLE", "The store cannot be read now. Try again.");
      case "other":
        return undefined;
    }
  }

  /** A single read is its own transaction. */
  #together(reads: readonly (() => unknown)[]): Outcome<unknown>[] {
    const perform = () => reads.map((read) => this.#outcomeOf(read));
    return reads.length === 1 ? perform() : this.#reader.inSnapshot(perform);
  }

  #outcomeOf(read: () => unknown): Outcome<unknown> {
    try {
      return { answer: read() };
    } catch (error) {
      return { error: this.problemOf(failureOf(error), describeError(error)) ?? error };
    }
  }
}
