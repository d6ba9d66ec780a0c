/** Reads on the calling thread: those that arrive together are one transaction, unless their texts are large. */
import { Problem } from "../../../errors.ts";
import { type Batch, createBatch, type Outcome } from "../../batch.ts";
import { describeError, type Failure, failureOf } from "../file/failures.ts";
import type { Health } from "../upkeep/health.ts";
import type { Reader } from "./reader.ts";

/** Text that one turn of the event loop reads, in characters: as much as the longest page. The last read may pass it. */
const maxPerTurn = 2_097_152;

interface Read {
  read: () => unknown;
  lengthOf: (answer: unknown) => number;
}

/** Runs reads, and says in our words what SQLite says of those that fail. */
export class ReadBatch {
  readonly #reader: Reader;
  readonly #health: Health;
  readonly #batch: Batch<Read, unknown>;

  constructor(reader: Reader, health: Health) {
    this.#reader = reader;
    this.#health = health;
    this.#batch = createBatch({ perform: (reads) => this.#together(reads) });
  }

  /**
   * Gives what `read` gives, soon. `lengthOf` gives the characters of its text, if it can be long. Rejects with UNAVAILABLE when
   * the file cannot be read. Throws UNAVAILABLE when the store has stopped.
   */
  run<T>(read: () => T, lengthOf: (answer: T) => number = () => 0): Promise<T> {
    this.#health.requireWorking();
    return this.#batch.run({ read, lengthOf: lengthOf as Read["lengthOf"] }) as Promise<T>;
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
  #together(reads: readonly Read[]): Outcome<unknown>[] {
    const perform = () => this.#someOf(reads);
    return reads.length === 1 ? perform() : this.#reader.inSnapshot(perform);
  }

  /** As many reads as one turn has time for. */
  #someOf(reads: readonly Read[]): Outcome<unknown>[] {
    const outcomes: Outcome<unknown>[] = [];
    let length = 0;
    for (const { read, lengthOf } of reads) {
      if (length >= maxPerTurn) break;
      const outcome = this.#outcomeOf(read);
      outcomes.push(outcome);
      if ("answer" in outcome) length += lengthOf(outcome.answer);
    }
    return outcomes;
  }

  #outcomeOf(read: () => unknown): Outcome<unknown> {
    try {
      return { answer: read() };
    } catch (error) {
      return { error: this.problemOf(failureOf(error), describeError(error)) ?? error };
    }
  }
}
