/** Counts and times the commits of one store, in memory that the thread of a writer can share. */
import { cellsFor, clockSeconds, Histogram } from "../../counters.ts";
import { Problem } from "../../errors.ts";
import type { Outcome } from "./batch.ts";

/** From a tenth of a millisecond, which a fast disk needs for a flush, to the seconds of a disk that fails. */
const seconds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** One commit alone, up to the largest group. */
const commits = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000];

/** The histograms, each with its bounds. */
const bounds = { groups: commits, waits: seconds, flushes: seconds, checkpoints: seconds };

/** What became of commits. `failed`: by a fault of the store, or because its queue was full. */
const results = ["written", "refused", "failed"] as const;

/** The counts of one store. */
export class CommitMeter {
  /** The memory of all counts. Another thread counts in the same memory with `new CommitMeter(memory)`. */
  readonly memory: SharedArrayBuffer;
  /** The commits in each transaction. */
  readonly groups: Histogram;
  /** How long each commit waited for its transaction to start, in seconds. */
  readonly waits: Histogram;
  /** How long the commits of transactions took. Each flushes the log to the disk. In seconds. */
  readonly flushes: Histogram;
  /** How long checkpoints took, in seconds. Only SQLite has them. */
  readonly checkpoints: Histogram;
  readonly #results: Float64Array;

  constructor(memory = new SharedArrayBuffer(bytes)) {
    this.memory = memory;
    let offset = 0;
    const next = (length: number) => {
      const cells = new Float64Array(memory, offset, length);
      offset += cells.byteLength;
      return cells;
    };
    const histogram = (name: keyof typeof bounds) =>
      new Histogram(bounds[name], next(cellsFor(bounds[name])));
    this.groups = histogram("groups");
    this.waits = histogram("waits");
    this.flushes = histogram("flushes");
    this.checkpoints = histogram("checkpoints");
    this.#results = next(results.length);
  }

  /** Counts commits by their outcomes. */
  note(outcomes: readonly Outcome<unknown>[]): void {
    for (const outcome of outcomes) {
      const index = results.indexOf(resultOf(outcome));
      this.#results[index] = (this.#results[index] as number) + 1;
    }
  }

  /** The number of commits with each result. */
  get results(): Readonly<Record<(typeof results)[number], number>> {
    const [written = 0, refused = 0, failed = 0] = this.#results;
    return { written, refused, failed };
  }
}

const bytes =
  Float64Array.BYTES_PER_ELEMENT *
  (results.length + Object.values(bounds).reduce((sum, each) => sum + cellsFor(each), 0));

function resultOf(outcome: Outcome<unknown>): (typeof results)[number] {
  if (!("error" in outcome)) return "written";
  const { error } = outcome;
  return error instanceof Problem && error.status < 500 ? "refused" : "failed";
}

/** Counts a group of commits that arrived at these times (`clockSeconds`). Call it when their transaction starts. */
export function noteGroup(meter: CommitMeter, size: number, since: Iterable<number> = []): void {
  const now = clockSeconds();
  meter.groups.observe(size);
  for (const each of since) meter.waits.observe(now - each);
}
