/** Removes old changes from the change logs, in small steps, so that writes can happen in between. */

import { bytesOfChange, type History } from "../port/history.ts";
import type { Plan } from "../sql/plans.ts";
import type { ChangeSize, LogPlans, NumberedHead } from "./log-plans.ts";
import { maxOwedMs } from "./owed.ts";

/** The limits of one step. A step can always remove one change, even a larger one. */
export interface StepLimits {
  changes: number;
  bytes: number;
}

const dayMs = 86_400_000;

/** Removes old changes from the logs of one store. */
export class Retention {
  readonly #logs: LogPlans;
  readonly #keepDays: number;
  readonly #keepChanges: number;
  readonly #keepBytes: number;
  readonly #step: StepLimits;
  readonly #sizes = new Map<number, LogSize>();
  /** The number of the collection that the next step begins with. */
  #next = 0;

  constructor(logs: LogPlans, history: History, step: StepLimits) {
    this.#logs = logs;
    const { keepDays, keepChanges, keepBytes = Number.POSITIVE_INFINITY } = limitsOf(history);
    this.#keepDays = keepDays;
    this.#keepChanges = keepChanges;
    this.#keepBytes = keepBytes;
    this.#step = step;
  }

  /** Takes one step. Returns whether more changes can be due now. */
  *step(now: number): Plan<boolean> {
    if (this.#keepDays === Number.POSITIVE_INFINITY && !this.#isMeasured) return false;
    let left = this.#step.changes;
    for (const head of yield* this.#logs.heads()) {
      if (head.number < this.#next) continue;
      this.#next = head.number;
      left -= yield* this.#measure(head, left);
      if (left <= 0) return true;
      const upTo = yield* this.#outdated(head, now);
      if (upTo === undefined) continue;
      yield* this.#logs.remove(head.number, upTo);
      this.#sizes.get(head.number)?.removeUpTo(upTo);
      return true;
    }
    this.#next = 0;
    return false;
  }

  get #isMeasured(): boolean {
    return this.#keepBytes !== Number.POSITIVE_INFINITY;
  }

  /** Adds new changes to the size of their log. Returns how many they are. */
  *#measure({ number, sequence }: NumberedHead, limit: number): Plan<number> {
    if (!this.#isMeasured) return 0;
    const size = this.#sizes.get(number) ?? new LogSize(this.#keepBytes);
    this.#sizes.set(number, size);
    if (size.measuredTo >= sequence) return 0;
    const rows = yield* this.#logs.after(number, size.measuredTo, limit);
    for (const row of rows) size.add(row);
    return rows.length;
  }

  /** The sequence up to which this step removes changes. `undefined` if none is outdated. */
  *#outdated({ number, sequence }: NumberedHead, now: number): Plan<number | undefined> {
    const oldestTime = now - this.#keepDays * dayMs;
    const excess = this.#sizes.get(number)?.excess ?? 0;
    if (Math.max(sequence - this.#keepChanges, excess) <= 0) return undefined;
    const isOutdated = (row: ChangeSize) =>
      row.sequence <= excess || (row.at < oldestTime && row.sequence <= sequence - this.#keepChanges);
    const oldest = (limit: number) => this.#logs.after(number, 0, limit);
    if (!(yield* oldest(1)).every(isOutdated)) return undefined;
    const owed = (yield* this.#logs.owed()).get(number) ?? Number.POSITIVE_INFINITY;
    const isOwed = (row: ChangeSize) =>
      row.sequence > owed && row.sequence > excess && row.at >= now - maxOwedMs;
    let last: number | undefined;
    let bytes = 0;
    for (const row of yield* oldest(this.#step.changes)) {
      if (!isOutdated(row) || isOwed(row) || bytes > this.#step.bytes) break;
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

/** The number of blocks in which a full log is measured. A block is kept or removed as a whole. */
const blocksOfLog = 64;

/** The size of one log. Every instance removes changes only at the beginning of a log. */
class LogSize {
  readonly #keepBytes: number;
  readonly #blocks: { upTo: number; bytes: number }[] = [];
  #bytes = 0;
  /** The sequence of the last change that is measured. */
  measuredTo = 0;
  /** The sequence of the last change that exceeds `keepBytes`. */
  excess = 0;

  constructor(keepBytes: number) {
    this.#keepBytes = keepBytes;
  }

  add({ sequence, bytes: bytesOfText }: ChangeSize): void {
    const bytes = bytesOfText + bytesOfChange;
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.bytes + bytes <= this.#keepBytes / blocksOfLog) {
      last.bytes += bytes;
      last.upTo = sequence;
    } else this.#blocks.push({ upTo: sequence, bytes });
    this.#bytes += bytes;
    this.measuredTo = sequence;
    while (this.#bytes > this.#keepBytes) this.excess = this.#removeFirstBlock();
  }

  /** Removes the changes up to a sequence from the size, because the log no longer contains them. */
  removeUpTo(sequence: number): void {
    while ((this.#blocks[0]?.upTo ?? Number.POSITIVE_INFINITY) <= sequence) this.#removeFirstBlock();
  }

  /** Removes the oldest block from the size. Returns its last sequence. */
  #removeFirstBlock(): number {
    const { upTo = 0, bytes = 0 } = this.#blocks.shift() ?? {};
    this.#bytes -= bytes;
    return upTo;
  }
}
