/** Batches reads on the HTTP thread. Reads that arrive together share one transaction, unless their texts are large. */
import { Problem } from "../../../errors.ts";
import { Batch, type Outcome } from "../../port/batch.ts";
import { describeError, type Failure, failureOf } from "../file/failures.ts";
import { damagedNumber } from "../file/wide-integers.ts";
import type { Marks } from "../marks.ts";
import type { Health } from "../upkeep/health.ts";
import type { Reader } from "./reader.ts";

/** The text that one turn of the event loop reads, in characters. The last read of a turn can exceed it. */
const maxTextPerTurn = 2_097_152;

interface Read {
  read: (ended: number) => unknown;
  lengthOf: (answer: unknown) => number;
}

/** Runs reads in batches, and turns errors of SQLite into errors for the client. */
export class ReadBatch {
  readonly #readers: { readonly reader: Reader };
  readonly #health: Health;
  readonly #marks: Marks;
  readonly #batch: Batch<Read, unknown>;

  constructor(readers: { readonly reader: Reader }, { health, marks }: { health: Health; marks: Marks }) {
    this.#readers = readers;
    this.#health = health;
    this.#marks = marks;
    this.#batch = new Batch({ perform: (reads) => this.#perform(reads) });
  }

  /**
   * Runs `read` with the next batch and returns its result. `read` receives `Marks.ended` from before its snapshot. If the text of the result can be long, pass `lengthOf`, which
   * returns its length in characters. Throws UNAVAILABLE if the file cannot be read, or the store has stopped.
   */
  run<T>(read: (ended: number) => T, lengthOf: (answer: T) => number = () => 0): Promise<T> {
    this.#health.requireWorking();
    return this.#batch.run({ read, lengthOf: lengthOf as Read["lengthOf"] }) as Promise<T>;
  }

  /** Resolves when every read has its result. */
  drained(): Promise<void> {
    return this.#batch.drained();
  }

  /** The error for the client. `undefined` if the failure is a defect of the program. A damaged file stops the store. */
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

  /** A single read needs no shared transaction. */
  #perform(reads: readonly Read[]): Outcome<unknown>[] {
    const { ended } = this.#marks; // before the snapshot begins
    const perform = () => this.#performInTurn(reads, ended);
    if (reads.length === 1) return perform();
    try {
      return this.#readers.reader.inSnapshot(perform);
    } catch (error) {
      throw this.#toClientError(error); // the snapshot cannot begin or end
    }
  }

  /** Performs as many of the reads as one turn of the event loop allows. The batch performs the others in the next turn. */
  #performInTurn(reads: readonly Read[], ended: number): Outcome<unknown>[] {
    const outcomes: Outcome<unknown>[] = [];
    let length = 0;
    for (const { read, lengthOf } of reads) {
      if (length >= maxTextPerTurn) break;
      const outcome = this.#outcomeOf(read, ended);
      outcomes.push(outcome);
      if ("answer" in outcome) length += lengthOf(outcome.answer);
    }
    return outcomes;
  }

  #outcomeOf(read: Read["read"], ended: number): Outcome<unknown> {
    try {
      return { answer: read(ended) };
    } catch (error) {
      return { error: this.#toClientError(error) };
    }
  }

  #toClientError(error: unknown): unknown {
    return (
      this.problemOf(failureOf(error), describeError(error)) ?? this.#health.damage.seen(damagedNumber(error))
    );
  }
}
