/**
 * Numbers that are counted while the program runs. They are in memory that threads can share: one thread counts, and another
 * one reads. A number is never half written, but the numbers of one histogram can be from different moments.
 */

/** How often values occurred, in ranges, and their sum. */
export class Histogram {
  /** The upper bounds of the ranges, ascending. A value on a bound is within it. The last range has no bound. */
  readonly bounds: readonly number[];
  /** The count of each range, and then the sum of all values. */
  readonly #cells: Float64Array<ArrayBufferLike>;

  /** `memory`: where to count, with `cellsFor(bounds)` numbers. @default memory that is not shared */
  constructor(bounds: readonly number[], memory?: Float64Array<ArrayBufferLike>) {
    this.bounds = bounds;
    this.#cells = memory ?? new Float64Array(cellsFor(bounds));
  }

  /** Counts a value. */
  observe(value: number): void {
    const { bounds } = this;
    const cells = this.#cells;
    let range = 0;
    while (range < bounds.length && value > (bounds[range] as number)) range++;
    cells[range] = (cells[range] as number) + 1;
    const last = bounds.length + 1;
    cells[last] = (cells[last] as number) + value;
  }

  /** The count of each range. The last one is of the values above all bounds. */
  get counts(): readonly number[] {
    return [...this.#cells.subarray(0, this.bounds.length + 1)];
  }

  /** The sum of all values. */
  get sum(): number {
    return this.#cells[this.bounds.length + 1] as number;
  }
}

/** How many numbers a histogram with these bounds needs. */
export function cellsFor(bounds: readonly number[]): number {
  return bounds.length + 2;
}

/** A clock for all threads of the process, in seconds. It starts anywhere, and never goes back. */
export function clockSeconds(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds + nanoseconds / 1e9;
}
