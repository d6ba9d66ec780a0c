/** Which changes are no longer kept, and how they are removed: a little in each step, so that others can write in between. */

import { type Decision, lookUp } from "./decision.ts";
import { bytesOfChange, type History } from "./history.ts";

/** A change of the log, with the bytes of the text that it keeps. */
export interface LoggedSize {
  sequence: number;
  at: number;
  bytes: number;
}

/** What a store looks up of its change logs, and removes from them. Collections have numbers. */
export interface Logs {
  /** The sequence of each collection, in the order of numbers. */
  heads(): readonly Head[] | Promise<readonly Head[]>;
  /** Changes after a sequence, in order. */
  after(
    number: number,
    sequence: number,
    limit: number,
  ): readonly LoggedSize[] | Promise<readonly LoggedSize[]>;
  /** Removes the changes up to a sequence. */
  remove(number: number, upTo: number): void | Promise<void>;
}

interface Head {
  number: number;
  sequence: number;
}

/** What one step does at most; but it always removes one change, however large that is. */
export interface Slice {
  changes: number;
  bytes: number;
}

const dayMs = 86_400_000;

/** Removes what is no longer kept from the logs of one store. */
export class Retention {
  readonly #keepDays: number;
  readonly #keepChanges: number;
  readonly #keepBytes: number;
  readonly #slice: Slice;
  readonly #sizes = new Map<number, LogSize>();
  /** The number of the collection that the next step begins with. */
  #next = 0;

  constructor(history: History, slice: Slice) {
    const { keepDays, keepChanges, keepBytes = Number.POSITIVE_INFINITY } = limitsOf(history);
    this.#keepDays = keepDays;
    this.#keepChanges = keepChanges;
    this.#keepBytes = keepBytes;
    this.#slice = slice;
  }

  /** Takes one step. Gives whether there may be more to do now. */
  *step(now: number): Decision<Logs, boolean> {
    if (this.#keepDays === Number.POSITIVE_INFINITY && !this.#isMeasured) return false;
    let left = this.#slice.changes;
    for (const head of yield* lookUp((logs) => logs.heads())) {
      if (head.number < this.#next) continue;
      this.#next = head.number;
      left -= yield* this.#measure(head, left);
      if (left <= 0) return true;
      const upTo = yield* this.#outdated(head, now);
      if (upTo === undefined) continue;
      yield* lookUp((logs) => logs.remove(head.number, upTo));
      this.#sizes.get(head.number)?.removeUpTo(upTo);
      return true;
    }
    this.#next = 0;
    return false;
  }

  get #isMeasured(): boolean {
    return this.#keepBytes !== Number.POSITIVE_INFINITY;
  }

  /** Adds changes to the size of their log. Gives how many there were. */
  *#measure({ number, sequence }: Head, limit: number): Decision<Logs, number> {
    if (!this.#isMeasured) return 0;
    const size = this.#sizes.get(number) ?? new LogSize(this.#keepBytes);
    this.#sizes.set(number, size);
    if (size.measuredTo >= sequence) return 0;
    const rows = yield* lookUp((logs) => logs.after(number, size.measuredTo, limit));
    for (const row of rows) size.add(row);
    return rows.length;
  }

  /** The sequence up to which a slice of changes is no longer kept. */
  *#outdated({ number, sequence }: Head, now: number): Decision<Logs, number | undefined> {
    const young = now - this.#keepDays * dayMs;
    const excess = this.#sizes.get(number)?.excess ?? 0;
    if (Math.max(sequence - this.#keepChanges, excess) <= 0) return undefined;
    const isOutdated = (row: LoggedSize) =>
      row.sequence <= excess || (row.at < young && row.sequence <= sequence - this.#keepChanges);
    const oldest = (limit: number) => lookUp((logs: Logs) => logs.after(number, 0, limit));
    if (!(yield* oldest(1)).every(isOutdated)) return undefined;
    let last: number | undefined;
    let bytes = 0;
    for (const row of yield* oldest(this.#slice.changes)) {
      if (!isOutdated(row) || bytes > this.#slice.bytes) break;
      last = row.sequence;
      bytes += row.bytes;
    }
    return last;
  }
}

function limitsOf(history: History): Exclude<History, string> {
  if (history === "forever") return { keepDays: Number.POSITIVE_INFINITY, keepChanges: 0 };
  if (history === "none") return { keepDays: Number.NEGATIVE_INFINITY, keepChanges: 0 };
  return history;
}

/** What is kept of a log is counted in about so many blocks, each of which is kept or removed as a whole. */
const blocks = 64;

/** The size of what is kept of one log. Changes are removed from its beginning alone, by whichever instance. */
class LogSize {
  readonly #keepBytes: number;
  readonly #blocks: { upTo: number; bytes: number }[] = [];
  #bytes = 0;
  measuredTo = 0;
  /** The sequence up to which the changes are more than what is kept. */
  excess = 0;

  constructor(keepBytes: number) {
    this.#keepBytes = keepBytes;
  }

  add({ sequence, bytes: bytesOfText }: LoggedSize): void {
    const bytes = bytesOfText + bytesOfChange;
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.bytes + bytes <= this.#keepBytes / blocks) {
      last.bytes += bytes;
      last.upTo = sequence;
    } else this.#blocks.push({ upTo: sequence, bytes });
    this.#bytes += bytes;
    this.measuredTo = sequence;
    while (this.#bytes > this.#keepBytes) this.excess = this.#takeFirst();
  }

  /** These changes were removed for another reason. */
  removeUpTo(sequence: number): void {
    while ((this.#blocks[0]?.upTo ?? Number.POSITIVE_INFINITY) <= sequence) this.#takeFirst();
  }

  /** Counts the oldest block no longer. Gives up to where it went. */
  #takeFirst(): number {
    const { upTo = 0, bytes = 0 } = this.#blocks.shift() ?? {};
    this.#bytes -= bytes;
    return upTo;
  }
}
